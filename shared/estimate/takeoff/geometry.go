package takeoff

import (
	"encoding/json"
	"fmt"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/formula"
)

// defaultHeight of a room whose drawing gives none, feet.
const defaultHeight = 8

// deductFrom is the size in sf from which an opening is taken off wall finishes
// (estimating practice §3).
const deductFrom = 16

// geometry is what the drawing says, in feet and square feet. A zero is not
// known. Walls is net of large openings; both sides of a partition between two
// measured rooms count.
type geometry struct {
	known       bool // a scale was found and rooms or an area were measured
	floor       float64
	perimeter   float64
	walls       float64
	height      float64
	doorWidths  float64
	doors       int
	windows     int
	openings    int
	baseCabinet float64 // lf
	wallCabinet float64 // lf
	counter     float64 // sf
	splash      float64 // sf
	toilets     int
	tubs        int
	showers     int
	lavatories  int
	bath        bool // a bathroom block is there, so zero fixtures is a statement

	sqft    float64 // the treated area the brief states
	project *catalog.ProjectType
}

func measure(c *estimate.Clarification, project *catalog.ProjectType) *geometry {
	g := &geometry{height: defaultHeight, sqft: c.Brief.Summary.Sqft, project: project}
	space := &c.CAD.Space
	tallest := 0.0
	for i := range space.Rooms {
		r := &space.Rooms[i]
		if outdoor(r) {
			g.floor += area(r)
			continue
		}
		g.floor += area(r)
		p := 2 * (r.Dimensions.Length + r.Dimensions.Width)
		h := r.Dimensions.Height
		if h <= 0 {
			h = defaultHeight
		}
		tallest = max(tallest, h)
		g.perimeter += p
		g.walls += p * h
	}
	if g.floor == 0 {
		g.floor = space.Sqft
	}
	if tallest > 0 {
		g.height = tallest
	}
	g.known = space.Scale.Detected && g.floor > 0
	for i := range space.Openings {
		g.open(&space.Openings[i])
	}
	g.walls = max(0, g.walls)
	g.kitchen(c.CAD.Kitchen)
	g.bathroom(c.CAD.Bathroom)
	return g
}

func area(r *estimate.Room) float64 {
	if r.Sqft > 0 {
		return r.Sqft
	}
	return r.Dimensions.Length * r.Dimensions.Width
}

// outdoor reports whether a room has no walls to finish.
func outdoor(r *estimate.Room) bool {
	t := strings.ToLower(r.Type + " " + r.Name)
	for _, w := range []string{"deck", "patio", "stair", "porch", "landing", "yard"} {
		if strings.Contains(t, w) {
			return true
		}
	}
	return false
}

func (g *geometry) open(o *estimate.Opening) {
	if size := o.Width * o.Height; size > deductFrom {
		g.walls -= size
	}
	g.openings++
	switch o.Type {
	case "door":
		g.doors++
		g.doorWidths += o.Width
	case "window":
		g.windows++
	default: // archways and pass-throughs to the floor have no base trim either
		if o.Height >= 6 {
			g.doorWidths += o.Width
		}
	}
}

// kitchen reads what the kitchen block measures. The block is free-form: what
// cannot be read is not known.
func (g *geometry) kitchen(raw json.RawMessage) {
	var k struct {
		Cabinets struct {
			Upper struct {
				LinearFeet float64 `json:"linearFeet"`
			} `json:"upperCabinets"`
			Lower struct {
				LinearFeet float64 `json:"linearFeet"`
			} `json:"lowerCabinets"`
		} `json:"cabinets"`
		Countertops struct {
			Sqft   float64 `json:"totalSqft"`
			Length float64 `json:"backsplashLinearFeet"`
			Height float64 `json:"backsplashHeight"` // inches
		} `json:"countertops"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &k) != nil {
		return
	}
	g.baseCabinet, g.wallCabinet = k.Cabinets.Lower.LinearFeet, k.Cabinets.Upper.LinearFeet
	g.counter, g.splash = k.Countertops.Sqft, k.Countertops.Length*k.Countertops.Height/12
}

// bathroom counts the fixtures the bathroom block names.
func (g *geometry) bathroom(raw json.RawMessage) {
	var b struct {
		Fixtures *struct {
			Toilet *struct{ Present bool }
			Vanity *struct {
				SinkCount int `json:"sinkCount"`
			}
			Shower *struct{ Present bool }
			Tub    *struct{ Present bool }
		} `json:"fixtures"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &b) != nil || b.Fixtures == nil {
		return
	}
	g.bath = true
	f := b.Fixtures
	if f.Toilet != nil && f.Toilet.Present {
		g.toilets = 1
	}
	if f.Tub != nil && f.Tub.Present {
		g.tubs = 1
	}
	if f.Shower != nil && f.Shower.Present {
		g.showers = 1
	}
	if f.Vanity != nil {
		g.lavatories = max(1, f.Vanity.SinkCount)
	}
}

// driver is what is known of this job about a driver of the project type, in
// place of its default; 0 when nothing is.
func (g *geometry) driver(name string) float64 {
	switch name {
	case "A":
		return max(g.sqft, 0)
	case "H":
		if g.known {
			return g.height
		}
	case "P":
		if g.known {
			return g.perimeter
		}
	case "base_lf", "cab_lf":
		return g.baseCabinet
	case "wall_lf":
		return g.wallCabinet
	}
	return 0
}

// typical returns how much of an item the kind of project usually has at its
// size, and why; 0 when the catalogue does not say.
func (g *geometry) typical(it *catalog.Item) (quantity float64, why string) {
	if strings.Contains(it.Name, "per sf floor") && g.sqft > 0 {
		return g.sqft, "the treated floor area of the brief"
	}
	if g.project == nil {
		return 0, ""
	}
	drivers, err := catalog.Drivers(g.project, g.driver)
	if err != nil {
		return 0, ""
	}
	for _, line := range catalog.AssemblyLines() {
		if line.ProjectKey != g.project.Key || line.ItemCode != it.Code {
			continue
		}
		if q, err := formula.Eval(line.Formula, drivers); err == nil {
			quantity += q
		}
	}
	return quantity, fmt.Sprintf("usual for %s of %s sf", strings.ReplaceAll(g.project.Key, "_", " "), number(drivers["A"]))
}
