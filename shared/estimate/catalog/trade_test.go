package catalog

import "testing"

func TestTradeNames(t *testing.T) {
	t.Parallel()
	tests := []struct{ key, name string }{
		{"laborer", "general_labor"},
		{"tile", "tile_setter"},
		{"concrete", "concrete_finisher"},
		{"drywall", "drywall_installer"},
		{"cabinet", "cabinet_installer"},
		{"countertop", "countertop_installer"},
		{"flooring", "flooring_installer"},
		{"appliance", "appliance_installer"},
		{"electrician", "electrician"},
		{"plumber", "plumber"},
		{"hvac", "hvac"},
	}
	for _, tt := range tests {
		if got := TradeName(tt.key); got != tt.name {
			t.Errorf("TradeName(%q) = %q, want %q", tt.key, got, tt.name)
		}
	}
	if got := TradeByName("demolition"); got == nil || got.Key != "laborer" {
		t.Errorf("TradeByName(demolition) = %v, want laborer", got)
	}
	if got := TradeByName("wizard"); got != nil {
		t.Errorf("TradeByName(wizard) = %v, want nil", got)
	}
}

func TestTradeNamesRoundTrip(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, trade := range Trades() {
		name := TradeName(trade.Key)
		if got := TradeByName(name); got == nil || got.Key != trade.Key {
			t.Errorf("TradeByName(TradeName(%q)) = %v, want the same trade", trade.Key, got)
		}
		if other, dup := seen[name]; dup {
			t.Errorf("trades %s and %s are both called %s", other, trade.Key, name)
		}
		seen[name] = trade.Key
	}
}
