package takeoff

import (
	"math"
	"regexp"
	"strings"
	"sync"

	"truecost.dev/shared/estimate/catalog"
)

// phrases are rewritten before the words are taken apart, longest meaning first.
var phrases = strings.NewReplacer(
	"french door refrigerator", "refrigerator", "french-door refrigerator", "refrigerator",
	"range hood", "rangehood", "vent hood", "rangehood", "hood termination", "rangehood cap", "duct run", "ductrun",
	"garbage disposal", "disposer", "waste disposal", "disposer", "food-waste disposer", "disposer", "food waste disposer", "disposer",
	"house wrap", "housewrap", "sub-floor", "subfloor", "clean-up", "clean", "cleanup", "clean", "back splash", "backsplash",
	"water heater", "waterheater", "water closet", "toilet", "lavatory sink", "lavatory", "bathroom sink", "lavatory",
	"luxury vinyl plank", "lvp", "luxury vinyl", "lvp", "vinyl plank", "lvp", "lvt", "lvp", "tear-off", "remove", "tear off", "remove", "tear out", "remove",
	"cut out", "remove", "rough-in", "roughin", "rough in", "roughin", "under-cabinet", "undercabinet", "under cabinet", "undercabinet",
	"cubic yards", "cy", "cubic yard", "cy", " yard dumpster", "cy dumpster", "pressure treated", "treated", "pressure-treated", "treated",
	"dish washer", "dishwasher", "cieling", "ceiling", "base board", "baseboard", "counter top", "countertop", "dry wall", "drywall",
	"three-way", "3way", "take off", "remove", "half bath", "bathroom", "rim joist", "rimjoist", "pull-out", "pullout", "pull out", "pullout",
	"smoke detector", "smoke alarm", "co detector", "co alarm", "exhaust fan", "bath fan", "ventilation fan", "bath fan",
	"carbon monoxide", "co", "medicine cabinet", "medicinecabinet", "toe kick", "toekick", "toe-kick", "toekick", "i-joist", "ijoist", "sub panel", "subpanel", "sub-panel", "subpanel",
	"gas line", "gasline", "gas piping", "gasline", "base cabinetry", "basecabinet", "wall cabinetry", "wallcabinet", "upper cabinetry", "wallcabinet",
	"base cabinet", "basecabinet", "wall cabinet", "wallcabinet", "upper cabinet", "wallcabinet", "lower cabinet", "basecabinet",
)

// synonyms brings words of one meaning to one spelling, after stemming.
var synonyms = map[string]string{
	"demo": "remove", "demolition": "remove", "demolish": "remove", "remov": "remove", "removal": "remove", "dispos": "haul",
	"gut":       "strip",
	"cabinetry": "cabinet", "sheetrock": "drywall", "gypsum": "drywall", "gyp": "drywall", "gwb": "drywall", "wallboard": "drywall",
	"outlet": "receptacle", "downlight": "recess", "can": "recess", "lav": "lavatory", "bath": "bathroom", "commode": "toilet",
	"fridge": "refrigerator", "stov": "rang", "wrb": "housewrap", "tyvek": "housewrap", "baseboard": "base", "mould": "mold",
	"gfi": "gfci", "splash": "backsplash", "luminaire": "light", "handrail": "rail", "guardrail": "rail",
	"railing": "rail", "balustrade": "rail", "worktop": "countertop", "counter": "countertop",
	"garbage": "trash", "supervision": "superintendent", "supervisor": "superintendent", "foreman": "superintendent", "caulk": "sealant", "caulking": "sealant",
	"tape": "tap", "sonotube": "pier", "paver": "pav", "ac": "conditioner", "a/c": "conditioner", "lamp": "light",
	"shutoff": "stop", "sconc": "sconce", "wc": "toilet",
	"fibercement": "fiber", "pt": "treat", "hardi": "fiber",
}

// stop words say nothing about which item is meant.
var stop = words(`a an the of for to in at on and or with without per by from new existing incl including include included install installation
	installed supply furnish provide all as is are be into both each one two three unit type style standard size approx approximately about under over
	material materials labor only complete system allowance lump sum basic full per sf lf ea not no will old near next side sides around via up down out
	kitchen perimeter area zone room rooms house home existing ft inch wide deep high long thick desk end back path north south east west main level owner selected selection`)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

var token = regexp.MustCompile(`[a-z0-9][a-z0-9./]*`)

// sizes are spelled with their unit in one word: 200 amp, 20 cy, R-21, 16 x 7.
var (
	rating = regexp.MustCompile(`\br-?(\d+)\b`)
	amps   = regexp.MustCompile(`\b(\d+)[ -]?(?:a|amp|amps)\b`)
	yards  = regexp.MustCompile(`\b(\d+)[ -]?(?:cy|yd|yard|cubic[ -]yard)s?\b`)
	volts  = regexp.MustCompile(`\b(\d+)[ -]?(?:v|volt|volts)\b`)
	by     = regexp.MustCompile(`\b(\d+) ?[x×] ?(\d+)\b`)
)

// tokens returns the meaningful words of a text in canonical spelling, each once.
func tokens(text string) []string {
	text = strings.ToLower(text)
	if strings.ContainsAny(text, "0123456789") {
		text = rating.ReplaceAllString(text, " r$1 ")
		text = yards.ReplaceAllString(text, " ${1}cy ")
		text = amps.ReplaceAllString(text, " ${1}amp ")
		text = volts.ReplaceAllString(text, " ${1}volt ")
		text = by.ReplaceAllString(text, " ${1}x$2 ")
	}
	text = phrases.Replace(text)
	var out []string
	seen := map[string]bool{}
	for _, w := range token.FindAllString(text, -1) {
		w = strings.Trim(w, "./")
		if stop[w] || w == "" {
			continue
		}
		w = canonical(w)
		if !stop[w] && !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}

func canonical(w string) string {
	if s, ok := synonyms[w]; ok {
		return s
	}
	w = stem(w)
	if s, ok := synonyms[w]; ok {
		return s
	}
	return w
}

// kept words lose their meaning when they lose their ending.
var kept = words("siding ceiling decking molding opening plumbing grating vanity pantry laundry assembly tubing dumpster shower transformer sprinkler water")

// shortened words are kept ones that lose an ending all the same.
var shortened = map[string]string{"flooring": "floor", "railing": "rail", "lighting": "light", "wiring": "wir"}

// stem strips plural and verb endings: a rough cut, the same on both sides.
func stem(w string) string {
	w = singular(w)
	if s, ok := shortened[w]; ok {
		return s
	}
	if kept[w] {
		return w
	}
	for _, end := range []string{"ing", "ed"} {
		if strings.HasSuffix(w, end) && len(w) > len(end)+3 {
			w = w[:len(w)-len(end)]
			break
		}
	}
	if len(w) > 4 && strings.HasSuffix(w, "e") {
		w = w[:len(w)-1]
	}
	return w
}

func singular(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 3 && strings.HasSuffix(w, "es") && strings.ContainsAny(w[len(w)-3:len(w)-2], "xhs"):
		return w[:len(w)-2]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		return w[:len(w)-1]
	}
	return w
}

// lexicon holds every word of every name of every item, by number.
type lexicon struct {
	ids      map[string]int
	weight   []float64 // by word
	names    [][]name  // by item, its own name first
	sections []string  // by item, six digits
}

// name is a set of words.
type name struct {
	words []int
	whole float64 // of the weights
}

// vocabulary is built once from the catalogue. A word weighs the more, the fewer
// items use it (inverse document frequency).
var vocabulary = sync.OnceValue(func() *lexicon {
	items := catalog.Items()
	l := &lexicon{ids: map[string]int{}, names: make([][]name, len(items)), sections: make([]string, len(items))}
	var uses, last []int // by word: how many items use it, and the last that did
	for i := range items {
		l.sections[i] = digits(items[i].Section)
		for _, text := range catalog.NamesOf(&items[i]) {
			var n name
			for _, w := range tokens(text) {
				id, known := l.ids[w]
				if !known {
					id = len(l.ids)
					l.ids[w] = id
					uses, last = append(uses, 0), append(last, -1)
				}
				if last[id] != i {
					last[id] = i
					uses[id]++
				}
				n.words = append(n.words, id)
			}
			l.names[i] = append(l.names[i], n)
		}
	}
	l.weight = make([]float64, len(uses))
	for w, id := range l.ids {
		l.weight[id] = math.Log(1+float64(len(items))/float64(uses[id])) * sizeWeight(w)
	}
	for i := range l.names {
		for j := range l.names[i] {
			for _, id := range l.names[i][j].words {
				l.names[i][j].whole += l.weight[id]
			}
		}
	}
	return l
})

// sizeWeight lowers sizes, which tell variants of a thing apart, not things: a
// bare number most, one with its unit less.
func sizeWeight(w string) float64 {
	switch last := w[len(w)-1]; {
	case w[0] < '0' || w[0] > '9':
		return 1
	case last >= '0' && last <= '9' && !strings.ContainsAny(w, "x"):
		return 0.25
	default:
		return 0.6
	}
}

// unknownWeight is the weight of a word no item has: it tells little, or the
// line would have to be about nothing in the catalogue.
const unknownWeight = 1.5
