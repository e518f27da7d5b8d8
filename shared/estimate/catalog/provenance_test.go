package catalog_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"truecost.dev/shared/estimate/catalog"
)

// keys are numbers that name a row and say nothing about the world.
var keys = map[string]bool{
	"aace_classes.class": true, "assemblies.line": true, "schedule_logic.seq": true, "schedule_logic.predecessor_seqs": true,
	"escalation.year": true, "wages.year": true, "zip3.zip3": true, "metros.zip3": true, "materials.price_year": true, "materials.division": true,
	"materials.code": true, "materials.section": true, "assemblies.item_code": true, "item_words.code": true,
	"csi_divisions.division": true, "division_defaults.division": true,
	"trades.self_performed_by_remodeler": true, "markups.sub_op_applies": true, "materials.finish_sensitive": true,
	"materials.used_in_assemblies": true, "schedule_logic.weather_sensitive": true, "labor_burden.mandatory": true,
}

// formulas are figures, too.
var formulas = map[string]bool{"assemblies.qty_formula": true, "project_types.driver_defaults": true}

// table is a CSV file as it stands.
type table struct {
	name string
	head []string
	rows [][]string
}

func tables(t *testing.T) []table {
	t.Helper()
	files, err := filepath.Glob("data/*.csv")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d tables, %v", len(files), err)
	}
	var all []table
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		records, err := csv.NewReader(f).ReadAll()
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err != nil || len(records) < 2 {
			t.Fatalf("%s: %d records, %v", name, len(records), err)
		}
		all = append(all, table{strings.TrimSuffix(filepath.Base(name), ".csv"), records[0], records[1:]})
	}
	return all
}

// figures reports whether a column holds numbers.
func (x table) figures(column int) bool {
	numbers := 0
	for _, r := range x.rows {
		if r[column] == "" {
			continue
		}
		if _, err := strconv.ParseFloat(r[column], 64); err != nil {
			return false
		}
		numbers++
	}
	return numbers > 0
}

// filled counts the cells of a column that hold something.
func (x table) filled(column int) int {
	n := 0
	for _, r := range x.rows {
		if r[column] != "" {
			n++
		}
	}
	return n
}

func TestEveryFigureHasProvenance(t *testing.T) {
	t.Parallel()
	used := map[*catalog.Provenance]bool{}
	figures := 0
	for _, x := range tables(t) {
		if x.name == "provenance" {
			continue
		}
		for i, column := range x.head {
			full := x.name + "." + column
			p := catalog.ProvenanceOf(x.name, column)
			switch {
			case keys[full], !formulas[full] && !x.figures(i):
				if p != nil {
					t.Errorf("%s is no figure and has a provenance", full)
				}
			case p == nil:
				t.Errorf("%s has no provenance", full)
			default:
				used[p] = true
				figures += x.filled(i)
			}
		}
	}
	date := regexp.MustCompile(`^20\d\d(-\d\d(-\d\d)?)?$`)
	words := []string{"verified", "reported", "computed", "general_knowledge", "assumed"}
	for i := range catalog.Provenances() {
		p := &catalog.Provenances()[i]
		if !used[p] {
			t.Errorf("provenance of %s.%s is of no column", p.Table, p.Column)
		}
		if p.Meaning == "" || p.Source == "" || !date.MatchString(p.Date) || !slices.Contains(words, p.Confidence) {
			t.Errorf("provenance %+v lacks meaning, source, date or a known word of confidence", *p)
		}
	}
	t.Logf("%d figures have source, date and confidence", figures)
}

// Every table that says how far to trust a row says it of all rows.
func TestEveryRowSaysHowFarToTrustIt(t *testing.T) {
	t.Parallel()
	for _, x := range tables(t) {
		for _, column := range []string{"confidence", "status"} {
			i := slices.Index(x.head, column)
			for n, r := range x.rows {
				if i >= 0 && r[i] == "" {
					t.Errorf("%s line %d: no %s", x.name, n+2, column)
				}
			}
		}
	}
}

// What the columns of a kind must keep, in every table: low ≤ typical ≤ high,
// percents and probabilities within bounds, nothing negative that costs.
func TestRangesAreOrdered(t *testing.T) {
	t.Parallel()
	triples := map[string][3]string{
		"materials":    {"mat_low", "mat_typ", "mat_high"},
		"productivity": {"hours_multiplier_low", "hours_multiplier_typ", "hours_multiplier_high"},
		"labor_burden": {"pct_of_wage_low", "pct_of_wage_typ", "pct_of_wage_high"},
		"risk_factors": {"cost_low_pct", "cost_mode_pct", "cost_high_pct"},
	}
	checked := 0
	for _, x := range tables(t) {
		columns, ok := triples[x.name]
		if !ok {
			continue
		}
		for n, r := range x.rows {
			var v [3]float64
			for k, column := range columns {
				f, err := strconv.ParseFloat(r[slices.Index(x.head, column)], 64)
				if err != nil {
					t.Fatalf("%s line %d: %v", x.name, n+2, err)
				}
				v[k] = f
			}
			if v[0] > v[1] || v[1] > v[2] {
				t.Errorf("%s line %d: %v ≤ %v ≤ %v does not hold", x.name, n+2, v[0], v[1], v[2])
			}
			checked++
		}
	}
	if checked < 400 {
		t.Errorf("%d ranges were checked, want those of four tables", checked)
	}
}
