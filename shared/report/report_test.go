package report_test

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"truecost.dev/internal/sample"
	"truecost.dev/shared/estimate"
	"truecost.dev/shared/estimate/money"
	"truecost.dev/shared/fault"
	"truecost.dev/shared/report"
)

var (
	streams = regexp.MustCompile(`<<([^>]*/Length (\d+)[^>]*)>>\s*stream\r?\n`)
	shown   = regexp.MustCompile(`(?s)\(((?:[^()\\]|\\.)*)\) ?Tj`)
)

// text reads what a PDF shows, a line a text, from the streams of its pages. It
// needs nothing but the standard library, so that it holds on every machine.
func text(tb testing.TB, pdf []byte) string {
	tb.Helper()
	var out strings.Builder
	for _, at := range streams.FindAllSubmatchIndex(pdf, -1) {
		length, err := strconv.Atoi(string(pdf[at[4]:at[5]]))
		if err != nil {
			tb.Fatal(err)
		}
		content := pdf[at[1] : at[1]+length]
		if bytes.Contains(pdf[at[2]:at[3]], []byte("FlateDecode")) {
			r, err := zlib.NewReader(bytes.NewReader(content))
			if err == nil {
				content, err = io.ReadAll(r)
			}
			if err != nil {
				tb.Fatal(err)
			}
		}
		for _, s := range shown.FindAllSubmatch(content, -1) {
			out.WriteString(utf16BE(unescape(s[1])))
			out.WriteByte('\n')
		}
	}
	if out.Len() == 0 {
		tb.Fatal("no text found in the PDF")
	}
	return out.String()
}

func unescape(b []byte) []byte {
	var out []byte
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+1 < len(b) {
			i++
			if b[i] == 'r' {
				out = append(out, '\r')
				continue
			}
		}
		out = append(out, b[i])
	}
	return out
}

func utf16BE(b []byte) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = uint16(b[2*i])<<8 | uint16(b[2*i+1])
	}
	return string(utf16.Decode(units))
}

func pdf(tb testing.TB, d *report.Document, o report.Options) report.File {
	tb.Helper()
	f, err := report.PDF(d, o)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// house is every sample's scope in one large job.
func house(tb testing.TB) *report.Document {
	tb.Helper()
	return document(tb, "addition", func(c *estimate.Clarification) {
		c.Brief.ProjectName = "Whole house"
		c.Brief.Summary.Sqft = 2600
		for _, name := range []string{"kitchen", "bathroom", "deck", "kitchen", "bathroom", "kitchen"} {
			other := sample.Clarified(tb, name).Clarification
			for key, division := range other.Scope {
				own := c.Scope[key]
				if own.Status == estimate.Included && division.Status == estimate.Included {
					for _, item := range division.Items {
						item.ID = own.Code + "-" + string(rune('a'+len(own.Items)%26)) + item.ID + name
						own.Items = append(own.Items, item)
					}
					c.Scope[key] = own
				}
			}
		}
	})
}

// jobs are the samples, priced once for all tests.
var jobs struct {
	sync.Mutex

	documents map[string]*report.Document
}

func samples(tb testing.TB) map[string]*report.Document {
	tb.Helper()
	jobs.Lock()
	defer jobs.Unlock()
	if jobs.documents == nil {
		all := map[string]*report.Document{"house": house(tb)}
		for _, name := range sample.Names() {
			all[name] = document(tb, name)
		}
		jobs.documents = all
	}
	return jobs.documents
}

// secrets never appear in a client's report (domain §14 and R21).
var secrets = regexp.MustCompile(`(?i)monte carlo|\bP(10|50|80|90)\b|iteration|overhead|profit|markup|burden|wage|contingenc|percentile|labor rate|simulat|general conditions|seed|\bfactor|csiScope|/ ?h\b`)

func TestClientSeesNoInternalFigure(t *testing.T) {
	t.Parallel()
	for name, d := range samples(t) {
		shown := text(t, pdf(t, d, report.Options{Client: true}).Bytes)
		if found := secrets.FindAllString(strings.ReplaceAll(shown, "\n", " "), -1); found != nil {
			t.Errorf("the client's report of %s says %q", name, found)
		}
		if strings.Contains(shown, d.ID) {
			t.Errorf("the client's report of %s shows the id %s", name, d.ID)
		}
		b := d.Breakdown
		for what, c := range map[string]money.Cents{
			"profit": b.Profit, "overhead": b.Overhead, "contingency": b.Contingency, "labor": b.Labor, "P90": *d.P90,
			"direct cost": d.Bill.Subtotal, "base": b.Total - b.Contingency,
		} {
			for _, form := range []string{c.String(), c.Whole()} {
				if c > 0 && slices.Contains(strings.Fields(shown), form) {
					t.Errorf("the client's report of %s shows the %s, %s", name, what, form)
				}
			}
		}
		for _, trade := range d.Labor.Trades {
			if rate := money.FromFloat(trade.Rate.Float()).String(); slices.Contains(strings.Fields(shown), rate) {
				t.Errorf("the client's report of %s shows the rate of %s, %s", name, trade.Name, rate)
			}
		}
	}
}

func TestTotalsAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	for name, d := range samples(t) {
		total := *d.Total()
		client, contractor := text(t, pdf(t, d, report.Options{Client: true}).Bytes), text(t, pdf(t, d, report.Options{}).Bytes)
		if got, want := after(client, "Total project estimate\n"), total.Whole(); got != want {
			t.Errorf("%s: the client's total is %s, want %s", name, got, want)
		}
		if got, want := after(contractor, "Grand total\n"), total.Whole(); got != want {
			t.Errorf("%s: the contractor's total is %s, want %s", name, got, want)
		}
		b := d.Breakdown
		for what, c := range map[string]money.Cents{
			"grand total": total, "subtotal": d.Bill.Subtotal, "overhead": b.Overhead, "profit": b.Profit, "permits": b.Permits, "tax": b.Tax,
			"contingency": b.Contingency, "labor": d.Labor.Total, "base wages": d.Labor.Base,
		} {
			if !strings.Contains(contractor, "\n"+c.String()+"\n") {
				t.Errorf("%s: the contractor's report does not show the %s, %s", name, what, c)
			}
		}
		for i := range d.Bill.Items {
			if v := &d.Bill.Items[i]; !strings.Contains(contractor, "\n"+v.Total.String()+"\n") {
				t.Errorf("%s: the contractor's report does not show line %d, %s", name, v.Number, v.Total)
			}
		}
		exported, err := report.JSON(d)
		if err != nil {
			t.Fatal(err)
		}
		var out struct {
			Total money.Cents `json:"totalCost"`
			Lines []struct {
				Total money.Cents `json:"total"`
			} `json:"lines"`
			Divisions []struct {
				Total money.Cents `json:"total"`
			} `json:"divisions"`
		}
		if err := json.Unmarshal(exported, &out); err != nil {
			t.Fatal(err)
		}
		lines, divisions := money.Cents(0), money.Cents(0)
		for _, l := range out.Lines {
			lines += l.Total
		}
		for _, v := range out.Divisions {
			divisions += v.Total
		}
		if out.Total != total || lines != d.Bill.Subtotal || divisions != d.Bill.Subtotal {
			t.Errorf("%s: the export has total %s, lines %s, divisions %s, want %s and twice %s", name, out.Total, lines, divisions, total, d.Bill.Subtotal)
		}
	}
}

// after returns the line that follows the first mark.
func after(s, mark string) string {
	_, rest, _ := strings.Cut(s, mark)
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

func TestClientCategoriesAddUp(t *testing.T) {
	t.Parallel()
	amounts := regexp.MustCompile(`^\$([0-9,]+)$`)
	for name, d := range samples(t) {
		shown := text(t, pdf(t, d, report.Options{Client: true, Sections: []report.Section{report.Breakdown}}).Bytes)
		_, rest, _ := strings.Cut(shown, "Category\nShare\nAmount\n")
		sum, total := 0, 0
		for line := range strings.SplitSeq(rest, "\n") {
			if line == "Total project estimate" {
				total = 1
			}
			m := amounts.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			n := 0
			for _, r := range strings.ReplaceAll(m[1], ",", "") {
				n = 10*n + int(r-'0')
			}
			if total == 1 {
				total = n
				break
			}
			sum += n
		}
		if want := int((*d.Total() + 50) / 100); sum != total || total != want {
			t.Errorf("%s: the categories add up to $%d below a total of $%d, want $%d", name, sum, total, want)
		}
	}
}

// Also without a date of its own: the library would take the clock's.
func TestSameDocumentSameBytes(t *testing.T) {
	t.Parallel()
	empty, err := report.Read([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []report.Options{{}, {Client: true}} {
		first := pdf(t, samples(t)["kitchen"], o)
		if again := pdf(t, document(t, "kitchen"), o); !bytes.Equal(first.Bytes, again.Bytes) {
			t.Errorf("two PDFs of one document differ with %+v", o)
		}
		if first.Pages != bytes.Count(first.Bytes, []byte("/Type /Page\n")) {
			t.Errorf("PDF says it has %d pages with %+v", first.Pages, o)
		}
		if f := pdf(t, empty, o); !bytes.Contains(f.Bytes, []byte("(D:19700101000000")) {
			t.Errorf("the PDF of an estimate without a date has another than the fixed one with %+v", o)
		}
	}
}

// What is not in the document is not available: no row is made up.
func TestMissingIsSaid(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{}`,
		`{"projectName":"Old","p80":100,"schedule":{"total_weeks":"3 weeks","tasks":[{"number":"1","name":"Demolition","duration":"1 week","start":"Week 2","end":"TBD"}]}}`,
		`{"projectName":7,"totalCost":"much","costOutput":[],"finalOutput":{"truncated":true,"document":"agentOutputs/final"},"cost_breakdown":{},"bill_of_quantities":{"items":null},"riskOutput":{},"timelineOutput":{}}`,
	} {
		d, err := report.Read([]byte(raw))
		if err != nil {
			t.Fatalf("Read(%s): %v", raw, err)
		}
		for _, client := range []bool{false, true} {
			f := pdf(t, d, report.Options{Client: client})
			shown := text(t, f.Bytes)
			if !strings.Contains(strings.ToLower(shown), "not available") {
				t.Errorf("the report of %s says nothing is missing", raw)
			}
			for _, invented := range regexp.MustCompile(`\$[0-9,]+`).FindAllString(shown, -1) {
				if invented != "$100" && invented != "$0" {
					t.Errorf("the report of %s shows %s", raw, invented)
				}
			}
		}
	}
	if _, err := report.Read([]byte(`[]`)); fault.KindOf(err) != fault.Invalid {
		t.Errorf("Read([]) = %v, want %s", err, fault.Invalid)
	}
}

// What was too large for the root of the document is made again from the
// outputs.
func TestTruncatedRoot(t *testing.T) {
	t.Parallel()
	doc := stored(t, sample.Planned(t, "bathroom"))
	want := pdf(t, read(t, doc), report.Options{})
	for _, name := range []string{"cost_breakdown", "bill_of_quantities", "laborAnalysis"} {
		doc[name] = map[string]any{"truncated": true}
	}
	if got := pdf(t, read(t, doc), report.Options{}); !bytes.Equal(got.Bytes, want.Bytes) {
		t.Error("the report is another when the bill is not on the root")
	}
}

// A legacy schedule keeps its words.
func TestLegacySchedule(t *testing.T) {
	t.Parallel()
	d, err := report.Read([]byte(`{"p80":100,"schedule":{"tasks":[{"number":"1a","name":"Demolition","duration":"1 week","start":"Week 2","end":"TBD"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	shown := text(t, pdf(t, d, report.Options{Sections: []report.Section{report.Schedule}}).Bytes)
	for _, want := range []string{"1a", "Demolition", "1 week", "Week 2", "TBD", "$100"} {
		if !strings.Contains(shown, "\n"+want+"\n") {
			t.Errorf("the report does not show %q:\n%s", want, shown)
		}
	}
}

func TestTotalOfAnyGeneration(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`{"clientTotal":3,"p80":2,"totalCost":1}`: "$3", `{"p80":2,"totalCost":1}`: "$2", `{"totalCost":1}`: "$1", `{}`: "not available",
	}
	for raw, want := range tests {
		d, err := report.Read([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		if got := after(text(t, pdf(t, d, report.Options{}).Bytes), "Grand total\n"); got != want {
			t.Errorf("total of %s = %s, want %s", raw, got, want)
		}
	}
}

func TestOddTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Wärmeschutzverglasung", 400)
	d := document(t, "bathroom", func(c *estimate.Clarification) {
		c.Brief.ProjectName = "Łódź – Ὀδύσσεια 東京 👍🏽 (a\\b) \x00\u202e" + strings.Repeat("x", 500)
		c.Brief.Location.Full = "Straße 1\n\t(rear), Kraków"
		for key, division := range c.Scope {
			for i := range division.Items {
				division.Items[i].Item = long
			}
			c.Scope[key] = division
		}
	})
	for _, o := range []report.Options{{}, {Client: true}} {
		shown := text(t, pdf(t, d, o).Bytes)
		for _, want := range []string{"Łódź", "(a\\b)", "Straße 1 (rear), Kraków"} {
			if !strings.Contains(shown, want) {
				t.Errorf("the report does not show %q with %+v", want, o)
			}
		}
		if !o.Client && strings.Count(strings.ReplaceAll(shown, "\n", ""), "schutzverglasung") < 400 {
			t.Error("the report cuts a long description")
		}
	}
}

// The hours of all weeks are the hours of all activities.
func TestCrewLoading(t *testing.T) {
	t.Parallel()
	d, err := report.Read([]byte(`{"p80":1,"timelineOutput":{"criticalPath":["a","b"],"tasks":[
		{"id":"a","number":1,"name":"Frame","start":"2026-05-07","end":"2026-05-12","laborHours":64},
		{"id":"b","number":2,"name":"Roof","start":"2026-05-13","end":"2026-05-13","laborHours":16},
		{"id":"c","number":3,"name":"Cure","start":"2026-05-16","end":"2026-05-17","laborHours":0}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	shown := text(t, pdf(t, d, report.Options{Sections: []report.Section{report.Schedule}}).Bytes)
	for _, want := range []string{"May 4, 2026\n32\n0.8\n", "May 11, 2026\n48\n1.2\n", "\n1 Frame – 2 Roof\n"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the schedule does not show %q:\n%s", want, shown)
		}
	}
}

func TestSections(t *testing.T) {
	t.Parallel()
	d := samples(t)["deck"]
	tests := []struct {
		options  report.Options
		has, not string
	}{
		{report.Options{Sections: []report.Section{report.Labor}}, "Base wages", "Executive summary"},
		{report.Options{Sections: []report.Section{report.Assumptions, report.Executive}}, "Executive summary", "Bill of quantities"},
		{report.Options{Client: true, Sections: []report.Section{report.Breakdown, report.Labor}}, "Cost breakdown", "Base wages"},
	}
	for _, tt := range tests {
		shown := text(t, pdf(t, d, tt.options).Bytes)
		if !strings.Contains(shown, tt.has) || strings.Contains(shown, tt.not) {
			t.Errorf("%+v: wanted %q and no %q", tt.options, tt.has, tt.not)
		}
	}
	for _, o := range []report.Options{{Sections: []report.Section{"profit"}}, {Client: true, Sections: []report.Section{report.Labor}}} {
		if _, err := report.PDF(d, o); fault.KindOf(err) != fault.Invalid {
			t.Errorf("PDF(%+v) = %v, want %s", o, err, fault.Invalid)
		}
	}
}

// A table that goes on repeats its head, and every page has its number.
func TestPages(t *testing.T) {
	t.Parallel()
	d := samples(t)["house"]
	f := pdf(t, d, report.Options{})
	shown := text(t, f.Bytes)
	if heads := strings.Count(shown, "\nUnit cost\n"); heads < 5 {
		t.Errorf("the bill of %d lines has %d heads, want one on each of its pages", len(d.Bill.Items), heads)
	}
	if pages := len(regexp.MustCompile(`Page \d+ of `).FindAllString(shown, -1)); pages != f.Pages {
		t.Errorf("%d pages of %d have a number", pages, f.Pages)
	}
	for _, name := range []string{"Executive summary", "Bill of quantities", "Risk analysis", "Schedule"} {
		if !bytes.Contains(f.Bytes, bookmark(name)) {
			t.Errorf("there is no bookmark %q", name)
		}
	}
}

// bookmark is a title as an outline holds it.
func bookmark(s string) []byte {
	out := []byte("\xfe\xff")
	for _, r := range s {
		out = append(out, 0, byte(r))
	}
	return out
}

func BenchmarkPDF(b *testing.B) {
	d := samples(b)["house"]
	for b.Loop() {
		pdf(b, d, report.Options{})
	}
}

func TestUnderTwoSeconds(t *testing.T) {
	if took := time.Duration(testing.Benchmark(BenchmarkPDF).NsPerOp()); took > 2*time.Second {
		t.Errorf("the report of a whole house takes %s, want 2 s at most", took)
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	d, err := report.Read([]byte(`{"bill_of_quantities":{"items":[{"line_number":1,"csi_division":"09","description":"=1+1, \"tile\"","quantity":2.5,"unit":"sf","unit_cost":1.2345,"material_cost":2,"labor_cost":1.09,"equipment_cost":0,"total":3.09}]},
		"cost_breakdown":{"divisions":[{"code":"09","name":"Finishes","total":3.09,"material_subtotal":2,"labor_subtotal":1.09,"percentage":100}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := report.LinesCSV(d)
	if err != nil {
		t.Fatal(err)
	}
	if want := "line_number,csi_division,description,quantity,unit,unit_cost,material_cost,labor_cost,equipment_cost,total\n1,09,\"'=1+1, \"\"tile\"\"\",2.5,sf,1.2345,2.00,1.09,0.00,3.09\n"; string(lines) != want {
		t.Errorf("LinesCSV = %s, want %s", lines, want)
	}
	divisions, err := report.DivisionsCSV(d)
	if err != nil {
		t.Fatal(err)
	}
	if want := "code,name,material,labor,equipment,total,percentage\n09,Finishes,2.00,1.09,0.00,3.09,100\n"; string(divisions) != want {
		t.Errorf("DivisionsCSV = %s, want %s", divisions, want)
	}
}
