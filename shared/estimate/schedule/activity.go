package schedule

import (
	"strings"

	"truecost.dev/shared/estimate/catalog"
)

// Activities of the network by their number in the catalogue.
const (
	design = iota + 1
	permit
	order
	mobilize
	abatement
	demolition
	excavation
	footings
	cure
	backfill
	framing
	roofing
	openings
	cladding
	plumbingRough
	hvacRough
	electricalRough
	roughInspection
	insulation
	drywall
	firstPaint
	tile
	hardFloor
	cabinets
	template
	countertops
	trim
	plumbingTrim
	electricalTrim
	hvacTrim
	appliances
	finalPaint
	carpet
	sitework
	finalInspection
	punchList
)

// none is the activity of work that runs through the whole job and drives
// nothing: supervision, daily clean-up.
const none = 0

// part is a share of a line's hours that goes to an activity.
type part struct {
	activity int
	share    float64
}

// placement sends the codes that begin with a prefix to activities.
type placement struct {
	prefix string
	parts  []part
}

func whole(activity int) []part { return []part{{activity, 1}} }

func split(rough, finish int) []part { return []part{{rough, 0.6}, {finish, 0.4}} }

// placements of the catalogue's codes; the longest prefix that fits holds.
var placements = []placement{
	{"013100.20", whole(design)},
	{"0131", whole(none)},
	{"017400.10", whole(none)},
	{"017400.20", whole(punchList)},
	{"0174", whole(demolition)},
	{"01", whole(mobilize)},
	{"0282", whole(abatement)},
	{"0283", whole(abatement)},
	{"0287", whole(abatement)},
	{"02", whole(demolition)},
	{"033053.60", whole(sitework)},
	{"033053.61", whole(sitework)},
	{"0335", whole(hardFloor)},
	{"0354", whole(hardFloor)},
	{"03", whole(footings)},
	{"0422", whole(footings)},
	{"04", whole(cladding)},
	{"0573", whole(trim)},
	{"05", whole(framing)},
	{"061533.10", whole(framing)},
	{"0615", whole(cladding)},
	{"061", whole(framing)},
	{"062013", whole(cladding)},
	{"0641", whole(cabinets)},
	{"06", whole(trim)},
	{"071", whole(backfill)},
	{"0725", whole(cladding)},
	{"072", whole(insulation)},
	{"0746", whole(cladding)},
	{"0771", whole(cladding)},
	{"0792", whole(trim)},
	{"0784", whole(insulation)},
	{"07", whole(roofing)},
	{"0814", whole(trim)},
	{"0811", whole(trim)},
	{"087100.11", whole(openings)},
	{"087100.20", whole(cabinets)},
	{"0871", whole(trim)},
	{"088", whole(appliances)},
	{"08", whole(openings)},
	{"0922", whole(framing)},
	{"092900.13", whole(tile)},
	{"092", whole(drywall)},
	{"0930", whole(tile)},
	{"0968", whole(carpet)},
	{"0951", whole(trim)},
	{"096", whole(hardFloor)},
	{"0991", split(firstPaint, finalPaint)},
	{"099113", whole(cladding)},
	{"097", whole(finalPaint)},
	{"1031", whole(trim)},
	{"1073", whole(cladding)},
	{"1236", whole(countertops)},
	{"13", whole(trim)},
	{"14", whole(trim)},
	{"10", whole(appliances)},
	{"11", whole(appliances)},
	{"12", whole(appliances)},
	{"21", whole(plumbingRough)},
	{"221119", whole(plumbingTrim)},
	{"221116.40", whole(plumbingTrim)},
	{"221316.30", whole(plumbingTrim)},
	{"221", whole(plumbingRough)},
	{"224119.10", whole(plumbingRough)},
	{"22", whole(plumbingTrim)},
	{"2331", whole(hvacRough)},
	{"233423", whole(electricalRough)},
	{"238126.20", whole(hvacRough)},
	{"2390", split(hvacRough, hvacTrim)},
	{"23", whole(hvacTrim)},
	{"2627", split(electricalRough, electricalTrim)},
	{"262726.17", whole(electricalTrim)},
	{"260519", split(electricalRough, electricalTrim)},
	{"265", whole(electricalTrim)},
	{"26", whole(electricalRough)},
	{"25", whole(electricalTrim)},
	{"27", whole(electricalTrim)},
	{"28", whole(electricalTrim)},
	{"312323.20", whole(backfill)},
	{"3122", whole(sitework)},
	{"312323.10", whole(footings)},
	{"31", whole(excavation)},
	{"32", whole(sitework)},
	{"33", whole(excavation)},
	{"3341", whole(backfill)},
}

// place returns the activities of a line by its code; a code the catalogue
// lacks (GEN-09-001) goes by its trade and its division.
func place(code, division, trade string) []part {
	if key := tradeKey(trade); strings.HasPrefix(code, "GEN-") || code == "" {
		if a, ok := byTrade[key]; ok {
			return a
		}
		code = division
	}
	code = strings.ReplaceAll(code, " ", "")
	best := -1
	for i, p := range placements {
		if strings.HasPrefix(code, p.prefix) && (best < 0 || len(p.prefix) > len(placements[best].prefix)) {
			best = i
		}
	}
	if best < 0 {
		return whole(trim)
	}
	return placements[best].parts
}

// byTrade places work that only its trade describes.
var byTrade = map[string][]part{
	"concrete": whole(footings), "mason": whole(cladding), "ironworker": whole(framing), "roofer": whole(roofing),
	"drywall": whole(drywall), "insulation": whole(insulation), "painter": split(firstPaint, finalPaint), "tile": whole(tile),
	"flooring": whole(hardFloor), "countertop": whole(countertops), "cabinet": whole(cabinets), "appliance": whole(appliances),
	"plumber": split(plumbingRough, plumbingTrim), "hvac": split(hvacRough, hvacTrim),
	"electrician": split(electricalRough, electricalTrim), "operator": whole(excavation), "landscape": whole(sitework),
	"glazier": whole(appliances), "supervisor": whole(none),
}

func tradeKey(name string) string {
	if t := catalog.TradeByName(name); t != nil {
		return t.Key
	}
	return name
}

// phases by activity number, in the words of the published documents.
var phases = [...]string{
	design: "preconstruction", permit: "preconstruction", order: "preconstruction", mobilize: "site_prep", abatement: "demolition",
	demolition: "demolition", excavation: "site_prep", footings: "foundation", cure: "foundation", backfill: "foundation",
	framing: "framing", roofing: "framing", openings: "framing", cladding: "finish", plumbingRough: "rough_in", hvacRough: "rough_in",
	electricalRough: "rough_in", roughInspection: "rough_in", insulation: "insulation", drywall: "drywall", firstPaint: "finish",
	tile: "finish", hardFloor: "finish", cabinets: "finish", template: "finish", countertops: "finish", trim: "finish",
	plumbingTrim: "fixtures", electricalTrim: "fixtures", hvacTrim: "fixtures", appliances: "fixtures", finalPaint: "finish",
	carpet: "finish", sitework: "finish", finalInspection: "final_inspection", punchList: "punch_list",
}

// Phases are the twelve words for the phase of a task.
func Phases() []string {
	return []string{
		"preconstruction", "demolition", "site_prep", "foundation", "framing", "rough_in", "insulation", "drywall", "finish",
		"fixtures", "punch_list", "final_inspection",
	}
}
