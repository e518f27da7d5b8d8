package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"text/tabwriter"
	"time"

	"truecost.dev/shared/estimate/montecarlo"
	"truecost.dev/shared/estimate/stat"
)

// script is the same simulation in NumPy.
//
//go:embed testdata/simulation.py
var script []byte

// What is simulated, and how long it may take.
const (
	simulatedLines      = 200
	simulatedIterations = 10_000
	simulatedTrades     = 11
	simulationAim       = 50 * time.Millisecond
)

// simulation measures a bill of 200 lines with two events, 10,000 times drawn,
// beside a NumPy script of the same model where there is NumPy.
func simulation(ctx context.Context, t *tabwriter.Writer) error {
	m, described := bill()
	took := make([]time.Duration, rounds)
	var r *montecarlo.Result
	for i := range took {
		began := time.Now()
		r = m.Run([32]byte{byte(i)}, simulatedIterations)
		took[i] = time.Since(began)
	}
	ours := median(took)
	name := fmt.Sprintf("simulation, %d × %d lines", simulatedIterations, simulatedLines)
	fmt.Fprintf(t, "%s\t%s\taim %s\t%.2f\n", name, milliseconds(ours), milliseconds(simulationAim), ours.Seconds()/simulationAim.Seconds())
	theirs, err := numpy(ctx, described)
	if errors.Is(err, errNoNumPy) {
		fmt.Fprintf(t, "%s\t%s\tNumPy is not installed\t\n", name, milliseconds(ours))
		return nil
	}
	if err != nil {
		return err
	}
	if p80 := stat.Percentile(r.Totals, 0.8); math.Abs(theirs.P80/p80-1) > 0.01 {
		return fmt.Errorf("the two simulations are not of one model: P80 %.0f and %.0f", p80, theirs.P80)
	}
	fmt.Fprintf(t, "%s\t%s\tNumPy %.0f ms\t%.2f\n", name, milliseconds(ours), 1000*theirs.Seconds, ours.Seconds()/theirs.Seconds)
	return nil
}

// spread is a factor: its lognormal spreads below and above 1, by line.
type spread struct {
	Below []float64 `json:"below"`
	Above []float64 `json:"above"`
}

type event struct {
	Threshold float64 `json:"threshold"`
	Impact    float64 `json:"impact"`
	Below     float64 `json:"below"`
	Above     float64 `json:"above"`
}

// description is the bill as the script reads it.
type description struct {
	Iterations int       `json:"iterations"`
	Rounds     int       `json:"rounds"`
	Scale      float64   `json:"scale"`
	Trades     int       `json:"trades"`
	Trade      []int     `json:"trade"`
	Material   []float64 `json:"material"`
	Labor      []float64 `json:"labor"`
	Spread     [3]spread `json:"spread"` // of material, labor and quantity
	Events     []event   `json:"events"`
	Load       struct {
		Market [3][3]float64 `json:"market"`
		Trade  float64       `json:"trade"`
		Own    [3]float64    `json:"own"`
	} `json:"load"`
}

// z90 is the normal quantile of 0.90.
const z90 = 1.2815515655446004

// bill returns the model and its description. The loadings of the description
// are those of the usual correlations, worked out by hand: 0.30 between any two
// lines, 0.60 in a trade, 0.20 across kinds.
func bill() (*montecarlo.Model, *description) {
	m := &montecarlo.Model{Scale: 1.42, Correlation: montecarlo.Usual}
	d := &description{Iterations: simulatedIterations, Rounds: rounds, Scale: m.Scale, Trades: simulatedTrades}
	for i := range simulatedLines {
		wide := 0.001 * float64(i%40)
		material, labor := 100+float64(i*37%900), 50+float64(i*53%600)
		l := montecarlo.Line{
			Name: fmt.Sprint("line ", i), Group: fmt.Sprint("division ", i%9), Trade: fmt.Sprintf("trade %02d", i%simulatedTrades),
			Material: material, Labor: labor,
		}
		for k, p := range [3][2]float64{{0.85, 1.2 + wide}, {0.80, 1.3}, {0.95, 1.05}} {
			dist := stat.Median(p[0], 1, p[1])
			switch k {
			case 0:
				l.MaterialFactor = dist
			case 1:
				l.LaborFactor = dist
			default:
				l.QuantityFactor = dist
			}
			d.Spread[k].Below = append(d.Spread[k].Below, -math.Log(p[0])/z90)
			d.Spread[k].Above = append(d.Spread[k].Above, math.Log(p[1])/z90)
		}
		m.Lines = append(m.Lines, l)
		d.Trade, d.Material, d.Labor = append(d.Trade, i%simulatedTrades), append(d.Material, material), append(d.Labor, labor)
	}
	for i, p := range []float64{0.30, 0.12} {
		m.Events = append(m.Events, montecarlo.Event{
			ID: fmt.Sprint(i), Name: fmt.Sprint("event ", i), Probability: p, Base: montecarlo.Direct, Impact: stat.Median(0.02, 0.04, 0.1),
		})
		d.Events = append(d.Events, event{stat.NormalQuantile(p), 0.04, math.Log(2) / z90, math.Log(2.5) / z90})
	}
	anyTwo, trade, across := montecarlo.Usual.Any, montecarlo.Usual.Trade, montecarlo.Usual.Cross/montecarlo.Usual.Any
	lower, _ := stat.Cholesky([][]float64{{1}, {across, 1}, {across, across, 1}})
	for i := range lower {
		for j := range lower {
			d.Load.Market[i][j] = math.Sqrt(anyTwo) * lower[i][j]
		}
	}
	d.Load.Trade = math.Sqrt(trade - anyTwo)
	d.Load.Own = [3]float64{math.Sqrt(1 - trade), math.Sqrt(1 - trade), math.Sqrt(1 - anyTwo)}
	return m, d
}

var errNoNumPy = errors.New("no NumPy")

type outcome struct {
	Seconds float64 `json:"seconds"`
	P80     float64 `json:"p80"`
}

// numpy runs the script by the first Python that has NumPy.
func numpy(ctx context.Context, d *description) (outcome, error) {
	var o outcome
	input, err := json.Marshal(d)
	if err != nil {
		return o, fmt.Errorf("describe the bill: %w", err)
	}
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(ctx, python, "-c", "import numpy").Run() != nil {
			continue
		}
		c := exec.CommandContext(ctx, python, "-c", string(script))
		c.Stdin = bytes.NewReader(input)
		raw, err := c.Output()
		if err != nil {
			return o, fmt.Errorf("run the script: %w", err)
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			return o, fmt.Errorf("read what the script said: %w", err)
		}
		return o, nil
	}
	return o, errNoNumPy
}
