package accuracy

import (
	"fmt"
	"slices"
	"time"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/intake"
	"truecost.dev/shared/estimate/locality"
	"truecost.dev/shared/estimate/montecarlo"
	"truecost.dev/shared/estimate/pricing"
	"truecost.dev/shared/estimate/schedule"
	"truecost.dev/shared/estimate/synthesis"
	"truecost.dev/shared/estimate/takeoff"
)

// Finishes are the finish levels of the input contract, cheapest first.
var Finishes = []string{"budget", "mid_range", "high_end", "luxury"}

// Job returns the order of a job of a project type, in the words of its usual
// bill: at a finish level, of size times the usual size. A formula that cannot
// be evaluated is a defect of the catalogue and an error.
func Job(p *catalog.ProjectType, finish string, size float64) (*estimate.Clarification, error) {
	usual, area, err := catalog.UsualBill(p, 0)
	if err != nil {
		return nil, fmt.Errorf("take the usual bill: %w", err)
	}
	bill, rest := usual, size // a job that is counted, not measured, is so many times the usual one
	if area > 0 {
		if bill, area, err = catalog.UsualBill(p, area*size); err != nil {
			return nil, fmt.Errorf("take the usual bill of %v sf: %w", area*size, err)
		}
		rest = 1
	}
	c := &estimate.Clarification{
		EstimateID: "est-" + p.Key, Timestamp: time.Date(2026, 1, 15, 0, 0, 0, 0, time.UTC), Scope: map[string]estimate.ScopeDivision{},
		Brief: estimate.Brief{
			ProjectType: p.SchemaType, Location: estimate.Address{Zip: "80202", City: "Denver", State: "CO"},
			Summary: estimate.Summary{Description: p.Description, Sqft: area, Finish: finish, Complexity: "moderate"},
		},
	}
	if !slices.Contains(intake.ProjectTypes(), p.SchemaType) {
		c.Brief.ProjectType = "other"
	}
	for _, d := range catalog.Divisions() {
		c.Scope[d.Key] = division(d, bill, rest)
	}
	return c, nil
}

// division is what the bill has in a division.
func division(d catalog.Division, bill []catalog.Portion, times float64) estimate.ScopeDivision {
	s := estimate.ScopeDivision{Code: d.Code, Name: d.Name, Status: estimate.NotApplicable}
	for _, p := range bill {
		if p.Item.Division != d.Code {
			continue
		}
		s.Status = estimate.Included
		s.Items = append(s.Items, estimate.ScopeItem{
			ID: fmt.Sprintf("%s-%03d", d.Code, len(s.Items)+1), Item: p.Item.Name, Subdivision: p.Item.Section,
			Quantity: p.Quantity * times, Unit: estimate.Unit(p.Item.Unit), Confidence: 0.9, Source: "user_input",
		})
	}
	return s
}

// Price takes an order to its cost: place, take-off, price.
func Price(c *estimate.Clarification) (estimate.Context, error) {
	ctx := estimate.Context{EstimateID: c.EstimateID, Now: c.Timestamp, Clarification: c}
	place := locality.Locate(c.Brief.Location, takeoff.ProjectType(c).PermitClass, locality.Auto)
	scope := takeoff.Take(c, nil)
	ctx.Location, ctx.Scope = &place, &scope
	cost, err := pricing.Price(ctx)
	if err != nil {
		return ctx, fmt.Errorf("price: %w", err)
	}
	ctx.Cost = &cost
	return ctx, nil
}

// Estimate takes an order through the whole pipeline in memory.
func Estimate(c *estimate.Clarification, opt montecarlo.Options) (estimate.Context, estimate.Final, error) {
	ctx, err := Price(c)
	if err != nil {
		return ctx, estimate.Final{}, err
	}
	risk, err := montecarlo.Simulate(ctx, intake.Stream(c, "risk"), opt)
	if err != nil {
		return ctx, estimate.Final{}, fmt.Errorf("simulate the cost: %w", err)
	}
	ctx.Risk = &risk
	plan, err := schedule.Plan(ctx, intake.Stream(c, "timeline"))
	if err != nil {
		return ctx, estimate.Final{}, fmt.Errorf("plan: %w", err)
	}
	ctx.Timeline = &plan
	f, err := synthesis.Final(ctx)
	if err != nil {
		return ctx, f, fmt.Errorf("conclude: %w", err)
	}
	return ctx, f, nil
}
