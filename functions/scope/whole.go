package scope

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"truecost.dev/shared/agent"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/catalog"
	"truecost.dev/shared/estimate/takeoff"
)

var verdicts = []string{takeoff.Validated, takeoff.Estimated, takeoff.NeedsVerification, takeoff.Discrepancy}

// validation checks that each quantity has a verdict, that the doubtful ones say
// why, that flags of the clarifier were heard, and how many stand.
func validation(in estimate.Context, out *output) agent.Grade {
	const why = "Who reads the price must know which quantities stand."
	var off, doubt []agent.Finding
	lines := 0
	each(out, func(d, i int, l *estimate.ScopeLine) {
		lines++
		switch {
		case !slices.Contains(verdicts, l.Validation):
			off = append(off, wrong(at(d, i, "quantityValidation"), "The verdict is unknown.", why, l.Validation, strings.Join(verdicts, ", ")))
		case (l.Validation == takeoff.Discrepancy || l.Validation == takeoff.NeedsVerification) && l.ValidationNote == "":
			off = append(off, wrong(at(d, i, "quantityValidationNote"), "A doubtful quantity does not say why.", why, "no note", "both figures, or the reason"))
		case l.Validation == takeoff.Discrepancy || l.Validation == takeoff.NeedsVerification:
			doubt = append(doubt, ask(at(d, i, "quantity"), fmt.Sprintf("%s: %s.", l.Item, l.ValidationNote), why, "Ask for, or measure, the quantity of "+l.ID+".", l.Validation, takeoff.Validated))
		}
	})
	off = append(append(off, unheard(in, out)...), misjudged(in, out)...)
	if len(off) > 0 {
		return agent.Gate(off...)
	}
	return agent.Partial(100*math.Max(0, 1-1.5*math.Max(0, float64(len(doubt))/math.Max(1, float64(lines))-0.05)), doubt...)
}

// unheard finds lines the clarifier flagged that do not say so.
func unheard(in estimate.Context, out *output) []agent.Finding {
	if in.Clarification == nil {
		return nil
	}
	flagged := map[string]bool{}
	for _, f := range in.Clarification.Flags.LowConfidence {
		for _, d := range catalog.Divisions() {
			for i, it := range in.Clarification.Scope[d.Key].Items {
				if f.Field == fmt.Sprintf("csiScope.%s.items[%d]", d.Key, i) {
					flagged[it.ID] = true
				}
			}
		}
	}
	var off []agent.Finding
	each(out, func(d, i int, l *estimate.ScopeLine) {
		if flagged[l.ID] && l.Validation != takeoff.NeedsVerification && l.Validation != takeoff.Discrepancy {
			off = append(off, wrong(at(d, i, "quantityValidation"), "The clarifier flagged the line and the scope does not.", "A flag widens the range of the line.", l.Validation, takeoff.NeedsVerification))
		}
	})
	return off
}

// leastDivisions and leastLines are the usual minima of each kind of project.
var (
	leastDivisions = map[string]int{
		"kitchen_remodel": 5, "bathroom_remodel": 4, "bedroom_remodel": 3, "living_room_remodel": 3, "basement_finish": 5,
		"attic_conversion": 5, "whole_house_remodel": 8, "addition": 7, "deck_patio": 3, "garage": 4, "other": 1,
	}
	leastLines = map[string]int{
		"kitchen_remodel": 15, "bathroom_remodel": 10, "bedroom_remodel": 8, "living_room_remodel": 8, "basement_finish": 15,
		"attic_conversion": 15, "whole_house_remodel": 30, "addition": 25, "deck_patio": 8, "garage": 10, "other": 3,
	}
)

// divisionCoverage checks that enough divisions are included and those usual for
// the project were decided about.
func divisionCoverage(in estimate.Context, out *output) agent.Grade {
	const why = "A forgotten division is a forgotten cost."
	if in.Clarification != nil && out.ProjectType != in.Clarification.Brief.ProjectType {
		return agent.Gate(wrong("projectType", "The project type is not that of the brief.", "It decides what is expected.", out.ProjectType, in.Clarification.Brief.ProjectType))
	}
	if off := anotherJob(in, out); len(off) > 0 {
		return agent.Gate(off...)
	}
	if catalog.ProjectTypeByKey(out.ProjectKey) == nil {
		return agent.Gate(wrong("projectKey", "The project type of the catalogue is unknown.", "It decides markup, permits and risks.", out.ProjectKey, "a key of the catalogue"))
	}
	included := 0
	var open []agent.Finding
	for i := range out.Divisions {
		d := &out.Divisions[i]
		if d.Status == estimate.Included {
			included++
		}
		if d.Status == estimate.NotApplicable && slices.Contains(takeoff.Expected(out.ProjectType), d.Code) {
			open = append(open, ask(fmt.Sprintf("divisions[%d].status", i), fmt.Sprintf("Division %s is usual for a %s and is marked not applicable.", d.Code, out.ProjectType), why, "Ask whether the work is really not there.", d.Status, "a decision"))
		}
	}
	if out.IncludedDivisions != included {
		return agent.Gate(wrong("totalIncludedDivisions", "The count of included divisions is wrong.", why, out.IncludedDivisions, included))
	}
	if least := leastDivisions[out.ProjectType]; included < least {
		open = append(open, ask("totalIncludedDivisions", "Fewer divisions are included than such a project has.", why, "Ask what else is part of the work.", included, least))
		return agent.Partial(40, open...)
	}
	return agent.Deduct(12, open)
}

// anotherJob finds what the output says of the job otherwise than the brief:
// size and finish, by which prices are compared, and exclusions.
func anotherJob(in estimate.Context, out *output) []agent.Finding {
	if in.Clarification == nil {
		return nil
	}
	const why = "The price is made and compared for the job of the brief."
	brief := &in.Clarification.Brief
	var off []agent.Finding
	if s := brief.Summary; s.Finish != "" && out.Finish != s.Finish {
		off = append(off, wrong("finishLevel", "The finish is not that of the brief.", why, out.Finish, s.Finish))
	}
	if s := brief.Summary; s.Sqft > 0 && out.Sqft != s.Sqft {
		off = append(off, wrong("totalSqft", "The area is not that of the brief.", why, out.Sqft, s.Sqft))
	}
	for _, e := range brief.Exclusions {
		if !slices.Contains(out.Exclusions, e) {
			off = append(off, wrong("exclusions", "An exclusion of the brief is lost.", "Exclusions bind the estimate.", "without "+e, e))
		}
	}
	return off
}

// lineCount compares the number of lines with what such a project has (S11) and
// asks about work that belongs to the lines that are there (S9).
func lineCount(_ estimate.Context, out *output) agent.Grade {
	const why = "Few lines hide work."
	var open []agent.Finding
	for i, m := range out.Completeness.Missing {
		open = append(open, ask(fmt.Sprintf("completeness.missingItems[%d]", i), "The scope has no "+m+".", "What is forgotten is paid for later.", "Ask whether "+m+" is part of the work.", "no line", m))
	}
	score := math.Max(40, 100-10*float64(len(open)))
	if least := leastLines[out.ProjectType]; out.TotalItems < least {
		score *= float64(out.TotalItems) / float64(least)
		open = append(open, ask("totalLineItems", "Fewer lines than such a project has.", why, "Ask for the lines that are missing.", out.TotalItems, fmt.Sprint("at least ", least)))
	}
	return agent.Partial(score, open...)
}

// duplicates finds the same item under the same words twice (S12).
func duplicates(_ estimate.Context, out *output) agent.Grade {
	var off []agent.Finding
	first := map[string]string{}
	each(out, func(d, i int, l *estimate.ScopeLine) {
		key := l.CostCode + "|" + strings.ToLower(l.Item)
		if id, twice := first[key]; twice {
			off = append(off, ask(at(d, i, "item"), fmt.Sprintf("%s and %s are the same work.", id, l.ID), "It would be paid for twice.", "Ask whether both are meant.", l.Item, "once"))
			return
		}
		first[key] = l.ID
	})
	return agent.Deduct(40, off)
}

// reasonable compares the hours with those of the usual project of the kind,
// scaled to its size with the exponent 0.75 of estimating practice §11.
func reasonable(_ estimate.Context, out *output) agent.Grade {
	p := catalog.ProjectTypeByKey(out.ProjectKey)
	usual := takeoff.UsualArea(p)
	if p == nil || usual == 0 || !(out.Sqft > 0) || p.HoursCheck == 0 {
		return agent.Full()
	}
	expected := p.HoursCheck * math.Pow(out.Sqft/usual, 0.75)
	ratio := out.LaborHours / expected
	f := ask("preliminaryLaborHours", "The hours are far from those of such a project of this size.", "Either lines are missing or a quantity is wrong by a factor.",
		"Ask whether the scope is partial.", fmt.Sprintf("%.0f h", out.LaborHours), fmt.Sprintf("about %.0f h, 0.3 to 3 times", expected))
	switch {
	case within(ratio, 0.3, 3):
		return agent.Full()
	case within(ratio, 0.03, 12):
		return agent.Partial(40, f)
	default:
		return agent.Gate(f)
	}
}

// overstated finds a class that the input does not support: ranges narrow with
// it, so a better class than the definition of the job is false precision.
func overstated(in estimate.Context, out *output) (agent.Finding, bool) {
	if in.Clarification == nil || out.Class < 1 {
		return agent.Finding{}, false
	}
	best := takeoff.Take(in.Clarification, nil)
	return wrong("estimateClass", "The class is better than the input supports.", "Accuracy is claimed by the class.", out.Class, fmt.Sprintf("%d: %s", best.Class, best.ClassReason)), out.Class < best.Class
}

// analysed checks class and prose.
func analysed(in estimate.Context, out *output) agent.Grade {
	const why = "A reader must know what the price stands on."
	if f, ok := overstated(in, out); ok {
		return agent.Gate(f)
	}
	var off []agent.Finding
	if out.Class < 1 || out.Class > 5 || out.ClassReason == "" {
		return agent.Gate(wrong("estimateClass", "The class, or the reason for it, is missing.", why, out.Class, "1 to 5, with the reason"))
	}
	if out.Summary == "" || out.Analysis.Summary == "" {
		off = append(off, wrong("summary", "There is no summary.", why, "none", "a sentence with the figures"))
	} else if !strings.Contains(out.Summary, fmt.Sprint(out.TotalItems)) {
		return agent.Gate(wrong("summary", "The summary does not speak of this output.", why, out.Summary, fmt.Sprint(out.TotalItems, " lines")))
	}
	if len(out.Analysis.Observations) < 2 {
		off = append(off, wrong("analysis.keyObservations", "There are fewer than two observations.", why, len(out.Analysis.Observations), 2))
	}
	if !within(out.Confidence, 0.05, 1) {
		return agent.Gate(wrong("confidence", "The confidence is not a fraction.", why, out.Confidence, "0.05 to 1"))
	}
	return agent.Deduct(30, off)
}
