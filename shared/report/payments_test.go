package report_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"truecost.dev/shared/estimate"
	"truecost.dev/shared/report"
)

// The payments that a client is asked for add up to the total that he is shown,
// whatever milestones there are; without a start and an end there are none.
func TestPaymentsAddUp(t *testing.T) {
	t.Parallel()
	dollars := regexp.MustCompile(`(?m)^\$([0-9,]+)$`)
	for name, d := range samples(t) {
		whole := *d
		plan := *d.Timeline
		whole.Timeline = &plan
		for _, keep := range []int{len(d.Timeline.Milestones), 3, 2, 1} {
			plan.Milestones = append([]estimate.Milestone{}, d.Timeline.Milestones[:keep]...)
			shown := text(t, pdf(t, &whole, report.Options{Client: true, Sections: []report.Section{report.Breakdown}}).Bytes)
			_, payments, found := strings.Cut(shown, "Payment schedule\n")
			if !found {
				t.Fatalf("%s: the client's report has no payment schedule", name)
			}
			if keep < 2 {
				if !strings.HasPrefix(payments, "Not available.") {
					t.Errorf("%s: payments without an end: %.60q", name, payments)
				}
				continue
			}
			sum, last := 0, 0
			list := dollars.FindAllStringSubmatch(payments, -1)
			for _, m := range list {
				n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
				if err != nil || n <= 0 {
					t.Errorf("%s: a payment of %s", name, m[0])
				}
				sum, last = sum+n, n
			}
			if want := int((*d.Total() + 50) / 100); len(list) != keep+1 || sum-last != last || last != want {
				t.Errorf("%s, %d milestones: %d payments add up to $%d below a total of $%d, want %d and $%d", name, keep, len(list)-1, sum-last, last, keep, want)
			}
		}
	}
}
