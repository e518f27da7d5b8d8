package schedule

import (
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/stat"
)

// Iterations of the simulation of a schedule.
const Iterations = 10_000

// sameTrade is the correlation of the durations of two activities of one trade.
const sameTrade = 0.30

// trials are simulated schedules.
type trials struct {
	ends      []float64 // sorted
	critical  []int     // in how many trials each node had no float
	lostP80   float64   // weather days
	share     []float64 // of the variance of the end, by node; they sum to 1
	durations int       // how many trials
}

// trial fills in a simulated duration for node i that starts at es.
type trial func(i int, es float64) float64

// run simulates the network n times. Before each trial, begin draws what its
// nodes share; then draw is asked for the duration of each.
func (net *network) run(nodes, n int, begin func(), draw trial) *trials {
	tr := &trials{ends: make([]float64, n), critical: make([]int, nodes), share: make([]float64, nodes), durations: n}
	times := make([]Times, nodes)
	adds := make([]float64, nodes) // days each node added to the end of this trial
	sum, cross := make([]float64, nodes), make([]float64, nodes)
	for k := range n {
		begin()
		end := net.forward(times, draw)
		net.backward(times, end)
		tr.ends[k] = end
		clear(adds)
		net.driving(times, func(i int, days float64) { adds[i] = days })
		for i := range times {
			if times[i].Float < 1e-9 {
				tr.critical[i]++
			}
			sum[i] += adds[i]
			cross[i] += adds[i] * end
		}
	}
	mean, sd := stat.Moments(tr.ends)
	variance := sd * sd * float64(n-1) / float64(n)
	for i := range tr.share {
		if variance > 0 {
			tr.share[i] = (cross[i]/float64(n) - sum[i]/float64(n)*mean) / variance
		}
	}
	slices.Sort(tr.ends)
	return tr
}

func (t *trials) criticality(i int) float64 { return float64(t.critical[i]) / float64(t.durations) }

// sampler draws the durations of the activities of a plan.
type sampler struct {
	p      *plan
	rng    *rand.Rand
	tables []*stat.Table // factor on the work, or on the wait
	trade  []int
	scores []float64 // of the trades in this trial
	events [][]delay
	months []int     // of each working day, grown as needed
	lost   []float64 // weather days of each trial
}

// delay is what a risk adds to an activity.
type delay struct {
	probability float64
	days        *stat.Table
}

func (p *plan) simulate(seed [32]byte, n int) *trials {
	s := &sampler{p: p, rng: stat.NewRand(seed, 0), events: p.delays(), lost: make([]float64, 0, n)}
	trades := map[string]int{}
	for _, a := range p.list {
		s.tables = append(s.tables, stat.Tabulate(a.factor))
		k, ok := trades[a.trade]
		if !ok {
			k = len(trades)
			trades[a.trade] = k
		}
		s.trade = append(s.trade, k)
	}
	s.scores = make([]float64, len(trades))
	tr := p.net.run(len(p.list), n, func() {
		s.lost = append(s.lost, 0)
		for k := range s.scores {
			s.scores[k] = s.rng.NormFloat64()
		}
	}, s.duration)
	slices.Sort(s.lost)
	tr.lostP80 = stat.Percentile(s.lost, 0.8)
	return tr
}

// duration draws the days of node i. Waits and work take whole days, as in the
// plan itself; weather is drawn day by day for the months the work falls into.
func (s *sampler) duration(i int, es float64) float64 {
	a := s.p.list[i]
	z := s.rng.NormFloat64()
	if a.trade != "none" {
		z = math.Sqrt(sameTrade)*s.scores[s.trade[i]] + math.Sqrt(1-sameTrade)*z
	}
	f := s.tables[i].At(z)
	var days float64
	if a.wait != nil {
		days = math.Round(f * (s.p.times[i].EF - s.p.times[i].ES))
	} else {
		days = a.days(f)
	}
	for _, e := range s.events[i] {
		if s.rng.Float64() < e.probability {
			days += math.Round(math.Max(0, e.days.At(s.rng.NormFloat64())))
		}
	}
	if a.exterior {
		days += s.weather(int(es), int(days))
	}
	return days
}

// weather draws the lost days of work that needs so many good ones.
func (s *sampler) weather(from, days int) float64 {
	lost := 0
	for good := 0; good < days && from+good+lost < maxDays; {
		if s.rng.Float64() < s.p.rain[s.month(from+good+lost)] {
			lost++
		} else {
			good++
		}
	}
	s.lost[len(s.lost)-1] += float64(lost)
	return float64(lost)
}

func (s *sampler) month(day int) int {
	for len(s.months) <= day {
		s.months = append(s.months, int(s.p.cal.day(len(s.months)).Month())-1)
	}
	return s.months[day]
}

// bins of the histogram of durations.
const bins = 20

func (t *trials) summary(p *plan, seed [32]byte) estimate.ScheduleSim {
	mean, sd := stat.Moments(t.ends)
	at := func(q float64) float64 { return math.Ceil(stat.Percentile(t.ends, q)) }
	s := estimate.ScheduleSim{
		Iterations: len(t.ends), Seed: hex.EncodeToString(seed[:]), P10: at(0.1), P50: at(0.5), P80: at(0.8), P90: at(0.9),
		Mean: round(mean, 2), StdDev: round(sd, 2), Min: t.ends[0], Max: t.ends[len(t.ends)-1], Variance: round(sd*sd, 2),
		RiskIndex: round(math.Min(1, sd/math.Max(1, mean)/0.3), 4), Histogram: t.histogram(),
	}
	s.P50Finish, s.P80Finish = p.last(s.P50), p.last(s.P80)
	for i, a := range p.list {
		s.Sensitivities = append(s.Sensitivities, estimate.TaskSensitivity{
			TaskID: a.id, TaskName: a.name, Share: round(t.share[i], 6), Critical: p.times[i].Float < 1e-9,
		})
	}
	slices.SortStableFunc(s.Sensitivities, func(a, b estimate.TaskSensitivity) int {
		switch {
		case a.Share > b.Share:
			return -1
		case a.Share < b.Share:
			return 1
		}
		return 0
	})
	return s
}

// histogram counts the durations in bins of whole days, at most twenty.
func (t *trials) histogram() []estimate.DayBin {
	low, high := t.ends[0], t.ends[len(t.ends)-1]
	width := math.Max(1, math.Ceil((high-low+1)/bins))
	var list []estimate.DayBin
	for b := low; b <= high; b += width {
		list = append(list, estimate.DayBin{Low: b, High: b + width})
	}
	for _, e := range t.ends {
		list[int((e-low)/width)].Count++
	}
	for i := range list {
		list[i].Percentage = round(100*float64(list[i].Count)/float64(len(t.ends)), 4)
	}
	return list
}

// within returns the share of trials that end by a day.
func (t *trials) within(days float64) float64 {
	n, _ := slices.BinarySearch(t.ends, days+0.5)
	return float64(n) / float64(len(t.ends))
}
