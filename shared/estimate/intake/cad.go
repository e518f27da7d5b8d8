package intake

import (
	"strings"
	"unicode/utf8"

	"truecost.dev/shared/estimate"
)

var (
	fileTypes = choice{
		of:   []string{"dwg", "dxf", "pdf", "png", "jpg"},
		code: InvalidFileType, fallback: "pdf", also: map[string]string{"jpeg": "jpg"},
	}
	methods = choice{
		of:   []string{"ezdxf", "vision", "annotation"},
		code: InvalidMethod, fallback: "vision",
	}
)

// noFile is what a client sends in the place of a drawing it does not have.
const noFile = "placeholder:"

// shortNarrative is the length in characters below which a narrative says too
// little.
const shortNarrative = 200

func (c cursor) cad() estimate.CAD {
	d := c.at("cadData")
	if !d.object(MissingCAD) {
		return estimate.CAD{}
	}
	url := d.at("fileUrl")
	cad := estimate.CAD{FileURL: url.text(MissingCADFile)}
	if strings.HasPrefix(cad.FileURL, noFile) {
		url.fail(MissingCADFile, "where the drawing is", "no drawing was uploaded")
	}
	cad.FileType = d.at("fileType").pick(fileTypes)
	cad.Method = d.at("extractionMethod").pick(methods)
	cad.Confidence, _ = d.at("extractionConfidence").number(MissingField, fraction)
	cad.Space = d.at("spaceModel").space(cad.Confidence)
	cad.Relations = d.at("spatialRelationships").relations()
	cad.Kitchen = d.at("kitchenSpecific").block()
	cad.Bathroom = d.at("bathroomSpecific").block()
	cad.Bedroom = d.at("bedroomSpecific").block()
	cad.LivingArea = d.at("livingAreaSpecific").block()
	return cad
}

// block returns a free-form object as it is.
func (c cursor) block() []byte {
	if !c.object("") {
		return nil
	}
	return c.opaque()
}

// space reads the geometry and turns its lengths into feet: those of the box
// from the box's units, all others from the units of the scale.
func (c cursor) space(confidence float64) estimate.SpaceModel {
	if !c.object(MissingField) {
		return estimate.SpaceModel{}
	}
	box, scale := c.at("boundingBox"), c.at("scale")
	box.object("")
	scale.object("")
	g := geometry{confidence: confidence, feet: 1}
	boxFeet := box.at("units").feet(1)
	g.feet = scale.at("units").feet(boxFeet)
	m := estimate.SpaceModel{
		Box: estimate.Box{
			Length: box.at("length").measure() * boxFeet,
			Width:  box.at("width").measure() * boxFeet,
			Height: box.at("height").measure() * boxFeet,
			Units:  "feet",
		},
		Scale: estimate.Scale{Detected: scale.at("detected").flag(), Ratio: scale.at("ratio").ratio(), Units: "feet"},
		Rooms: []estimate.Room{}, Walls: []estimate.Wall{}, Openings: []estimate.Opening{},
	}
	m.Sqft, _ = c.at("totalSqft").number(MissingField, measure)
	if !m.Scale.Detected {
		scale.warn(ScaleNotDetected, "", "no scale was found: measures from the drawing are guesses")
	}
	for _, e := range c.at("rooms").each() {
		if e.object(MissingField) {
			m.Rooms = append(m.Rooms, g.room(e))
		}
	}
	for _, e := range c.at("walls").each() {
		if e.object(MissingField) {
			m.Walls = append(m.Walls, g.wall(e))
		}
	}
	for _, e := range c.at("openings").each() {
		if e.object(MissingField) {
			m.Openings = append(m.Openings, g.opening(e))
		}
	}
	return m
}

// ratio of a scale is a number, or 1:48 or 1/4"=1' in words, which nobody needs.
func (c cursor) ratio() float64 {
	f, ok := parse(c.v)
	if !ok || f < 0 || f > measure.max {
		return 0
	}
	return f
}

// feet returns how many feet one drawing unit is; otherwise when c is absent.
func (c cursor) feet(otherwise float64) float64 {
	switch s := squash(c.optional()); s {
	case "":
		return otherwise
	case "feet", "ft", "foot":
		return 1
	case "inches", "inch", "in":
		return 1.0 / 12
	case "meters", "meter", "metres", "m":
		return 1 / 0.3048
	default:
		c.warn(UnknownDrawingUnits, "feet, inches or meters", "%q is unknown, taken as feet", s)
		return 1
	}
}

// geometry reads parts of a drawing whose unit is so many feet. A part without
// a confidence of its own has that of the extraction.
type geometry struct{ feet, confidence float64 }

func (g geometry) length(c cursor) float64 { return c.measure() * g.feet }

func (g geometry) sure(c cursor) float64 {
	if c.absent() {
		return g.confidence
	}
	f, _ := c.number("", fraction)
	return f
}

func (g geometry) room(c cursor) estimate.Room {
	size := c.at("dimensions")
	size.object("")
	return estimate.Room{
		ID:   c.at("id").optional(),
		Name: c.at("name").optional(),
		Type: c.at("type").optional(),
		Sqft: c.at("sqft").measure(),
		Dimensions: estimate.Dimensions{
			Length: g.length(size.at("length")),
			Width:  g.length(size.at("width")),
			Height: g.length(size.at("height")),
		},
		Confidence:   g.sure(c.at("confidence")),
		Verification: c.at("needsVerification").flag(),
	}
}

func (g geometry) wall(c cursor) estimate.Wall {
	return estimate.Wall{
		ID:         c.at("id").optional(),
		Length:     g.length(c.at("length")),
		Height:     g.length(c.at("height")),
		Thickness:  g.length(c.at("thickness")),
		Type:       c.at("type").word(),
		Material:   c.at("material").optional(),
		Confidence: g.sure(c.at("confidence")),
	}
}

func (g geometry) opening(c cursor) estimate.Opening {
	return estimate.Opening{
		ID:         c.at("id").optional(),
		Type:       c.at("type").word(),
		Width:      g.length(c.at("width")),
		Height:     g.length(c.at("height")),
		InWall:     c.at("inWall").optional(),
		Confidence: g.sure(c.at("confidence")),
	}
}

// word returns a word of an open set in the spelling of enums.
func (c cursor) word() string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(c.optional()))
}

func (c cursor) relations() estimate.Relations {
	if !c.object(MissingField) {
		return estimate.Relations{}
	}
	narrative := c.at("layoutNarrative")
	r := estimate.Relations{
		Narrative:   narrative.text(MissingField),
		Adjacencies: c.at("roomAdjacencies").opaques(),
		Entries:     c.at("entryPoints").opaques(),
	}
	if n := utf8.RuneCountInString(r.Narrative); n > 0 && n < shortNarrative {
		narrative.warn(ShortNarrative, "200 characters or more", "has %d characters", n)
	}
	return r
}
