package coverage

import (
	"fmt"
	"io"
	"math/rand/v2"
	"text/tabwriter"

	"truecost.dev/internal/accuracy"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/estimate/montecarlo"
)

// The share of truths that the band from P10 to P90 may hold.
const (
	Least = 0.75
	Most  = 0.85
)

// A Count is how many truths fell where.
type Count struct {
	Name                                  string
	Truths, Inside, Below50, Below80, Out int // Out is below P10
}

// Share is that of the truths between P10 and P90.
func (c *Count) Share() float64 { return part(c.Inside, c.Truths) }

// Holds reports whether the band holds as many truths as it claims.
func (c *Count) Holds() bool { return c.Share() >= Least && c.Share() <= Most }

func part(n, of int) float64 { return float64(n) / float64(max(1, of)) }

func (c *Count) add(p estimate.Percentiles, truth float64) {
	c.Truths++
	switch {
	case truth < p.P10.Float():
		c.Out++
	case truth <= p.P90.Float():
		c.Inside++
	}
	if truth <= p.P50.Float() {
		c.Below50++
	}
	if truth <= p.P80.Float() {
		c.Below80++
	}
}

func (c *Count) join(o Count) {
	c.Truths += o.Truths
	c.Inside += o.Inside
	c.Below50 += o.Below50
	c.Below80 += o.Below80
	c.Out += o.Out
}

// places where the jobs stand.
var places = []estimate.Address{
	{Zip: "80206", City: "Denver", State: "CO"},
	{Zip: "10025", City: "New York", State: "NY"},
	{Zip: "30309", City: "Atlanta", State: "GA"},
	{Zip: "77008", City: "Houston", State: "TX"},
	{Zip: "60614", City: "Chicago", State: "IL"},
	{Zip: "98115", City: "Seattle", State: "WA"},
}

// Run estimates jobs of every project type, each with its finish, size, age and
// place drawn from the seed, and asks a new world of each for truths costs. The
// first count is of all, the others by project type.
func Run(seed uint64, jobs, truths int) ([]Count, error) {
	all := []Count{{Name: "all"}}
	for i := range catalog.ProjectTypes() {
		p := &catalog.ProjectTypes()[i]
		of := Count{Name: p.Key}
		for n := range jobs {
			rng := rand.New(rand.NewPCG(seed, uint64(i*1000+n))) //nolint:gosec // G404, G115: synthetic jobs must repeat
			if err := one(rng, p, truths, &of); err != nil {
				return nil, fmt.Errorf("%s, job %d: %w", p.Key, n, err)
			}
		}
		all[0].join(of)
		all = append(all, of)
	}
	return all, nil
}

// one estimates a job and compares it with what it cost in a world.
func one(rng *rand.Rand, p *catalog.ProjectType, truths int, count *Count) error {
	job, err := accuracy.Job(p, accuracy.Finishes[rng.IntN(len(accuracy.Finishes))], 0.6+rng.Float64())
	if err != nil {
		return err
	}
	job.Brief.Location = places[rng.IntN(len(places))]
	job.Brief.YearBuilt = 1930 + rng.IntN(90)
	ctx, err := accuracy.Price(job)
	if err != nil {
		return err
	}
	r, err := montecarlo.Simulate(ctx, intake.Stream(job, "risk"), montecarlo.Options{})
	if err != nil {
		return fmt.Errorf("simulate: %w", err)
	}
	for range truths {
		count.add(r.MonteCarlo.Percentiles, newWorld(rng).truth(ctx.Cost, r.AllRisks))
	}
	return nil
}

// Print writes the counts as a table.
func Print(out io.Writer, counts []Count) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight) // keeps all until Flush, which returns the error
	_, _ = fmt.Fprintln(t, "\ttruths\tP10 to P90\tbelow P10\tbelow P50\tbelow P80\t")
	for i := range counts {
		c := &counts[i]
		pct := func(n int) string { return fmt.Sprintf("%.1f %%", 100*part(n, c.Truths)) }
		_, _ = fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t\n", c.Name, c.Truths, pct(c.Inside), pct(c.Out), pct(c.Below50), pct(c.Below80))
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("print the coverage: %w", err)
	}
	return nil
}
