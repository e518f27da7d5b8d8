package final

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
)

// pageLength is about how many characters fit on a page (F14).
const pageLength = 3000

var amount = regexp.MustCompile(`\$[0-9]{1,3}(,[0-9]{3})*(\.[0-9]{2})?`)

// words reads every amount of money in the summary and looks for it among the
// figures of the estimate (F1).
func words(in estimate.Context, f *output) agent.Grade {
	var found []agent.Finding
	if !strings.Contains(f.Summary, f.Executive.TotalCost.Whole()) {
		found = append(found, wrong("summary", "The summary does not state the total.", "Words and figures must be the same estimate.", first(f.Summary), f.Executive.TotalCost.Whole()))
	}
	if in.Cost != nil {
		known := figures(in, f)
		for _, text := range amount.FindAllString(f.Summary, -1) {
			if !known[text] {
				found = append(found, wrong("summary", "The summary names an amount that no figure has.", "A number without an origin is an invention.", text, "an amount of the breakdown, the range, a division or a risk"))
			}
		}
	}
	if len(found) > 0 {
		return agent.Gate(found...)
	}
	for _, internal := range []string{"profit", "overhead", "markup"} {
		if strings.Contains(strings.ToLower(f.Summary), internal) {
			found = append(found, wrong("summary", "The summary names an internal figure.", "The owner reads it (F6).", internal, "no markups"))
		}
	}
	if len(found) > 0 {
		return agent.Gate(found...)
	}
	if len(f.Summary) > pageLength {
		found = append(found, wrong("summary", "The summary is longer than a page.", "It must be read.", fmt.Sprintf("%d characters", len(f.Summary)), fmt.Sprintf("at most %d", pageLength)))
	}
	return agent.Deduct(50, found)
}

func first(text string) string {
	return text[:min(len(text), 80)]
}

// figures are the amounts that words may name, as they are written.
func figures(in estimate.Context, f *output) map[string]bool {
	known := map[string]bool{}
	add := func(amounts ...money.Cents) {
		for _, a := range amounts {
			known[a.Whole()], known[a.String()] = true, true
		}
	}
	b, e := &f.Breakdown, &f.Executive
	add(b.Total, b.BeforeContingency, b.Contingency, b.Direct, e.CostPerSqft, e.Range.P10, e.Range.P50, e.Range.P80, e.Range.P90)
	for i := range in.Cost.Divisions {
		add(in.Cost.Divisions[i].Total.Low)
	}
	if in.Risk != nil {
		add(in.Risk.Base)
		for _, r := range in.Risk.AllRisks {
			add(r.CostLow, r.CostMode, r.CostHigh)
		}
		for _, r := range in.Risk.TopRisks {
			add(r.CostLow, r.CostMode, r.CostHigh)
		}
	}
	for _, reason := range f.ReviewReasons { // a reason may be quoted
		for _, text := range amount.FindAllString(reason, -1) {
			known[text] = true
		}
	}
	return known
}

// risks holds the words about risk against the register (F10).
func risks(in estimate.Context, f *output) agent.Grade {
	var found []agent.Finding
	if f.Risk.Rationale == "" {
		found = append(found, wrong("riskSummary.contingencyRationale", "The contingency has no reason.", "Money that is held back must be explained.", "none", "why this much"))
	}
	if in.Risk == nil && f.Risk.Level != "not available" && !slices.Contains(levels, f.Risk.Level) {
		return agent.Gate(wrong("riskSummary.riskLevel", "The level of risk is none of the published ones.", "The owner decides by it.", f.Risk.Level, "Low, Medium, High or not available"))
	}
	r := in.Risk
	if r == nil {
		return agent.Deduct(50, found)
	}
	if f.Risk.Level != r.Level {
		found = append(found, wrong("riskSummary.riskLevel", "The level of risk is not that of the analysis.", "The owner decides by it.", f.Risk.Level, r.Level))
	}
	if len(f.Risk.TopRisks) < min(3, len(r.TopRisks)) {
		found = append(found, wrong("riskSummary.topRisks", "The largest risks are not named.", "What is not named is not managed.", len(f.Risk.TopRisks), len(r.TopRisks)))
	}
	for i, text := range f.Risk.TopRisks {
		if !slices.ContainsFunc(r.TopRisks, func(item estimate.RiskItem) bool { return strings.HasPrefix(text, item.Item) }) {
			found = append(found, wrong(fmt.Sprintf("riskSummary.topRisks[%d]", i), "A risk is named that the register does not have.", "Risks are analysed, not invented.", text, "a risk of the register"))
		}
	}
	return gateIf(found)
}

func sources(in estimate.Context, f *output) agent.Grade {
	var found []agent.Finding
	if len(f.Assumptions) < 3 {
		found = append(found, wrong("assumptions", "The assumptions are thin.", "A price holds under its assumptions.", len(f.Assumptions), "date, place, markups and class at least"))
	}
	if len(f.Disclaimers) == 0 {
		found = append(found, wrong("disclaimers", "No disclaimer is given.", "An estimate is not an offer.", 0, "at least one"))
	}
	if len(f.Sources) == 0 {
		found = append(found, wrong("sources", "No source is given.", "Every figure has an origin (R19).", 0, "catalogue, place, scope"))
	}
	for i, s := range f.Sources {
		if s.Source == "" || s.What == "" {
			found = append(found, wrong(fmt.Sprintf("sources[%d]", i), "A source is not named.", "Every figure has an origin (R19).", s, "what and whence"))
		}
	}
	if in.Cost != nil {
		for _, a := range in.Cost.Summary.Assumptions {
			if !slices.Contains(f.Assumptions, a) {
				found = append(found, wrong("assumptions", "An assumption of the cost is not carried forward.", "The price rests on it.", "without it", a))
			}
		}
	}
	return gateIf(found)
}

// warnings looks whether what earlier agents warned of is still said (F13).
func warnings(in estimate.Context, f *output) agent.Grade {
	var all []string
	if in.Location != nil {
		all = append(all, in.Location.Warnings...)
	}
	if in.Scope != nil {
		all = append(all, in.Scope.Completeness.Warnings...)
	}
	if in.Cost != nil {
		all = append(all, in.Cost.Warnings...)
	}
	if in.Risk != nil {
		all = append(all, in.Risk.Warnings...)
	}
	if in.Timeline != nil {
		all = append(all, in.Timeline.Warnings...)
	}
	var found []agent.Finding
	for _, w := range all {
		if w != "" && !slices.ContainsFunc(f.ReviewReasons, func(r string) bool { return strings.HasSuffix(r, w) }) {
			found = append(found, wrong("reviewReasons", "A warning of an earlier agent is lost.", "A warning that nobody reads was given in vain.", "without it", w))
		}
	}
	if (len(all) > 0 || len(f.ReviewReasons) > 0) && !f.NeedsReview {
		found = append(found, wrong("needsReview", "The estimate does not ask for the review it needs.", "Someone would send it out unread.", false, true))
	}
	return gateIf(found)
}

func recommendations(_ estimate.Context, f *output) agent.Grade {
	const short, most = 20, 6
	var found []agent.Finding
	if n := len(f.Recommendations); n < 2 || n > most {
		found = append(found, wrong("recommendations", "There are too few or too many recommendations.", "Two to six are acted on.", n, "2 to 6"))
	}
	for i, r := range f.Recommendations {
		if r.Title == "" || len(r.Description) < short {
			found = append(found, wrong(fmt.Sprintf("recommendations[%d]", i), "A recommendation says nothing.", "It must be possible to act on it.", r.Title, "what to do and why"))
		}
	}
	return agent.Deduct(40, found)
}

// items looks whether the documents of the lines are counted and sampled.
func items(in estimate.Context, f *output) agent.Grade {
	g := &f.CostItems
	var found []agent.Finding
	if len(g.Sample) > 25 || g.Truncated != (g.Count > len(g.Sample)) {
		found = append(found, wrong("granularCostItems.sample", "The sample does not say truly what it leaves out.", "Readers page by it.", len(g.Sample), "at most 25, marked when more"))
	}
	const categories = 3 // material, labor, equipment
	if in.Cost != nil && (g.Count < in.Cost.LineCount-unpriced(in.Cost) || g.Count > categories*in.Cost.LineCount) {
		return agent.Gate(wrong("granularCostItems.count", "Lines have no documents.", "Every priced line has at least one.", g.Count, in.Cost.LineCount))
	}
	return agent.Deduct(50, found)
}

func unpriced(c *estimate.Cost) int {
	n := 0
	for _, l := range c.Lines {
		if l.TotalCost.High == 0 {
			n++
		}
	}
	return n
}
