package pricing

import (
	"math"
	"sync"

	"truecost.dev/shared/estimate/catalog"
)

// bathroom is the schema type whose labor factor fades with the work, and
// smallBath the profile of its small jobs.
const (
	bathroom  = "bathroom_remodel"
	smallBath = "remodel_small_bath"
)

// fading is a labor factor that falls as a job grows: minimum charges, repeated
// trips and the crowd in one small room are spread over more work. Up to from
// hours at new-work pace it is small, from to on it is large; between them the
// charge falls evenly. Hours times the factor never fall.
type fading struct{ small, large, from, to float64 }

func (f fading) at(hours float64) float64 {
	switch {
	case hours <= f.from:
		return f.small
	case hours >= f.to:
		return f.large
	}
	left := (f.to - hours) / (f.to - f.from)
	return f.large + (f.small-f.large)*f.from*left/hours
}

// bathFading reads the two ends from the usual bathrooms of the catalogue: the
// largest one under the small profile, the least under another. A bath is small
// by its work, whatever its finish: a better finish must not be cheaper for
// being of another profile.
var bathFading = sync.OnceValue(func() fading {
	f := fading{small: catalog.MarkupByProfile(smallBath).LaborFactor, large: math.Inf(1), to: math.Inf(1)}
	for i := range catalog.ProjectTypes() {
		p := &catalog.ProjectTypes()[i]
		if p.SchemaType != bathroom {
			continue
		}
		hours := 0.0
		bill, _, err := catalog.UsualBill(p, 0)
		if err != nil {
			continue // a defect of the catalogue, which a test would find
		}
		for _, portion := range bill {
			hours += portion.Quantity * portion.Item.HoursTyp
		}
		if p.MarkupProfile == smallBath {
			f.from = max(f.from, hours)
			continue
		}
		f.to, f.large = min(f.to, hours), min(f.large, catalog.MarkupByProfile(p.MarkupProfile).LaborFactor)
	}
	return f
})

// fadeBath gives a bathroom the labor factor of its amount of work, in place of
// that of its profile.
func (t *terms) fadeBath(lines []*priced) {
	if t.project.SchemaType != bathroom {
		return
	}
	work := sum(each(lines, func(p *priced) float64 {
		if p.condition == 0 {
			return 0 // an allowance
		}
		return p.hours / p.condition
	}))
	was := t.profile.LaborFactor
	t.profile.LaborFactor = bathFading().at(work)
	for _, p := range lines {
		if p.condition == 0 {
			continue
		}
		within := min(maxProductivity, max(minProductivity, p.condition*t.profile.LaborFactor/was))
		p.work.hours *= within / p.condition
		p.hours *= within / p.condition
		p.condition = within
	}
}
