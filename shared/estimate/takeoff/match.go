package takeoff

import (
	"math"
	"slices"
	"strings"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
)

// Sources of a cost code.
const (
	BySection = "subdivision" // words within the section the line names
	ByWords   = "words"
	ByDefault = "default"
)

// match is the item chosen for a line.
type match struct {
	item       *catalog.Item
	source     string
	confidence float64 // 0–1
	note       string
}

// What evidence beside the words is worth, on the scale of a word score (0–1).
const (
	sameSection   = 0.30
	sameGroup     = 0.20 // the first four digits
	sameDivision  = 0.12
	titleBonus    = 0.02 // the catalogue's own name, before another name of the same score
	detailWeight  = 0.35 // a word of the specification against one of the name
	wrongVerb     = 0.15 // factor, when one removes and the other installs
	leastSection  = 0.20 // the least word score to be believed, by relation
	leastDivision = 0.34
	leastAnywhere = 0.50
	widerBy       = 0.6 // of the least scores, on a second look
)

// find returns the item that the line means, among those c does not rule out.
func find(line *estimate.ScopeItem, division string, g *geometry, c Correction) match {
	q := ask(line, division)
	best, bestTotal := match{}, math.Inf(-1)
	var tempting *catalog.Item // the best by words alone, whatever its unit
	temptingTotal := math.Inf(-1)
	items := catalog.Items()
	for i := range items {
		it := &items[i]
		words := q.score(i, it)
		if words == 0 {
			continue
		}
		bonus, least, source := q.relation(i, it)
		if c.Wider {
			least *= widerBy
		}
		if words < least || slices.Contains(c.Avoid, it.Code) {
			continue
		}
		total := words + bonus
		if total > temptingTotal {
			tempting, temptingTotal = it, total
		}
		if total > bestTotal && convertible(line, it, g) {
			best, bestTotal = match{item: it, source: source, confidence: confidence(words, source)}, total
		}
	}
	switch {
	case best.item == nil:
		return byDefault(line, division, tempting)
	case tempting != best.item && temptingTotal-bestTotal > 0.35:
		// The words say something else so clearly that the unit must be wrong.
		return byDefault(line, division, tempting)
	case tempting != best.item:
		best.note = "reads like " + tempting.Name + ", which is sold by " + tempting.Unit + "; matched by unit"
	}
	return best
}

func byDefault(line *estimate.ScopeItem, division string, tempting *catalog.Item) match {
	unit := string(line.Unit)
	if line.Unit.Dimension() == "" || line.Unit == estimate.Allowance {
		unit = string(estimate.LumpSum)
	}
	m := match{item: catalog.DefaultItem(division, unit), source: ByDefault, confidence: 0.3, note: "no catalogue item reads like this line; default of the division"}
	if tempting != nil {
		m.note = "reads like " + tempting.Name + ", but " + string(line.Unit) + " cannot be brought to " + tempting.Unit + "; default of the division"
	}
	return m
}

// confidence that the item is the one meant, from the word score.
func confidence(words float64, source string) float64 {
	c := 0.45 + 0.5*min(1, words)
	if source == BySection {
		c += 0.08
	}
	return math.Round(min(0.98, c)*100) / 100
}

// query is a line as the matcher sees it.
type query struct {
	words    []float64 // by word of the vocabulary: how much it counts in the line, 0–1
	total    float64   // of the weights of the words of the title
	remove   bool
	section  string // six digits, or empty
	division string
}

// Words that open an aside in the title, and what the words after them count:
// "Blocking for wall cabinets" is blocking.
var (
	asides      = []string{": ", " for ", " at ", " over ", " behind ", " in ", " to ", " from ", " with ", " of ", ", ", " above ", " under ", " - ", " ("}
	asideWeight = map[string]float64{", ": 0.75, " of ": 0.8, " with ": 0.6, " (": 0.5}
)

const otherAside = 0.45

func ask(line *estimate.ScopeItem, division string) query {
	v := vocabulary()
	q := query{words: make([]float64, len(v.weight)), division: division, section: digits(line.Subdivision)}
	seen := map[string]bool{}
	add := func(text string, weight float64, title bool) {
		for _, w := range tokens(text) {
			if seen[w] {
				continue
			}
			seen[w] = true
			id, ok := v.ids[w]
			if !ok {
				if id, ok = v.nearest(w); ok {
					q.words[id] = max(q.words[id], weight*spelled)
				}
			} else {
				q.words[id] = weight
			}
			switch {
			case title && ok:
				q.total += weight * v.weight[id]
			case title:
				q.total += weight * unknownWeight * sizeWeight(w)
			}
		}
	}
	for _, part := range split(line.Item) {
		add(part.text, part.weight, true)
	}
	add(line.Specifications, detailWeight, false)
	q.remove = division == "02" || takesAway(line.Item)
	return q
}

// takesAway reports whether a line outside division 02 removes something, and
// puts nothing in its place.
func takesAway(title string) bool {
	lower := strings.ToLower(title)
	for _, puts := range []string{"replac", "install", "refinish", "paint", "new "} {
		if strings.Contains(lower, puts) {
			return false
		}
	}
	about := mainWords(title)
	first := len(about) > 0 && (about[0] == "disconnect" || about[0] == "abat") // a disconnect is a thing, too
	return first || slices.Contains(about, "remove")
}

type part struct {
	text   string
	weight float64
}

// split takes a title apart at its asides.
func split(title string) []part {
	rest, weight := strings.ToLower(title), 1.0
	var parts []part
	for {
		at, by := len(rest), ""
		for _, a := range asides {
			if i := strings.Index(rest, a); i >= 0 && i < at {
				at, by = i, a
			}
		}
		parts = append(parts, part{rest[:at], weight})
		if by == "" {
			return parts
		}
		w, ok := asideWeight[by]
		if !ok {
			w = otherAside
		}
		// An opening aside ("For the bath: tile") leaves the main thing to come.
		if len(tokens(parts[len(parts)-1].text)) > 0 {
			weight = min(weight, w)
		}
		rest = rest[at+len(by):]
	}
}

// score compares the words of the line with the best fitting name of an item:
// the harmonic mean of how much of the name the line covers and how much of the
// line the name covers, words by their weight. 1 is the same words.
func (q *query) score(i int, it *catalog.Item) float64 {
	v := vocabulary()
	best := 0.0
	for n, name := range v.names[i] {
		common := 0.0
		for _, id := range name.words {
			common += v.weight[id] * q.words[id]
		}
		if common == 0 || q.total == 0 {
			continue
		}
		ofName, ofLine := common/name.whole, min(1, common/q.total)
		s := 2 * ofName * ofLine / (ofName + ofLine)
		if n == 0 {
			s += titleBonus
		}
		best = max(best, s)
	}
	if taking := removal(it); q.remove != taking && (taking || it.Division != "01") {
		best *= wrongVerb // what division 01 has (dumpsters, protection) goes with both
	}
	return best
}

// relation says what the codes of the line are worth for an item, and how well
// the words must fit.
func (q *query) relation(i int, it *catalog.Item) (bonus, least float64, source string) {
	section := vocabulary().sections[i]
	switch {
	case q.section != "" && section == q.section:
		return sameSection, leastSection, BySection
	case q.section != "" && section[:4] == q.section[:4]:
		return sameGroup, leastSection, BySection
	case it.Division == q.division:
		return sameDivision, leastDivision, ByWords
	default:
		return 0, leastAnywhere, ByWords
	}
}

// removal reports whether an item takes something away.
func removal(it *catalog.Item) bool { return it.Division == "02" }

// digits returns the six digits of a section code, "09 30 13" or "093013.10";
// empty when there are fewer.
func digits(code string) string {
	var b strings.Builder
	for _, r := range code {
		if r >= '0' && r <= '9' {
			b.WriteRune(r)
		}
	}
	if b.Len() < 6 {
		return ""
	}
	return b.String()[:6]
}
