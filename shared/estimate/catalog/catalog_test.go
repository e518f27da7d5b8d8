package catalog

import "testing"

func TestEveryTableDecodes(t *testing.T) {
	t.Parallel()
	counts := map[string]int{
		"materials": len(Items()), "trades": len(Trades()), "markups": len(Markups()), "permit_fees": len(PermitFees()),
		"states": len(States()), "metros": len(Metros()), "zip3": len(Prefixes()), "wages": len(Wages()),
		"project_types": len(ProjectTypes()), "assemblies": len(AssemblyLines()), "risk_factors": len(Risks()),
		"schedule_logic": len(Activities()), "productivity": len(Productivities()), "escalation": len(Escalations()),
		"aace_classes": len(Classes()), "csi_divisions": len(Divisions()),
		"index": len(itemIndex()) + len(tradeIndex()) + len(markupIndex()) + len(permitIndex()) + len(stateIndex()) +
			len(metroIndex()) + len(prefixIndex()) + len(projectIndex()),
	}
	for name, n := range counts {
		if n == 0 {
			t.Errorf("table %s is empty", name)
		}
	}
	if got := counts["csi_divisions"]; got != 24 {
		t.Errorf("divisions = %d, want 24", got)
	}
}
