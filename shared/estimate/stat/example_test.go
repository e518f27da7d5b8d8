package stat_test

import (
	"fmt"

	"truecost.dev/shared/estimate/stat"
)

func ExamplePERT() {
	d := stat.PERT(80, 100, 150)
	fmt.Printf("mean %.1f, P10 %.1f, P90 %.1f\n", d.Mean(), d.Quantile(0.1), d.Quantile(0.9))
	// Output: mean 105.0, P10 89.0, P90 122.7
}

func ExampleJudged() {
	d := stat.Judged(0.9, 1, 1.3) // percentiles, not limits
	fmt.Printf("P10 %.2f, P90 %.2f, limits %.2f and %.2f\n", d.Quantile(0.1), d.Quantile(0.9), d.Quantile(0), d.Quantile(1))
	// Output: P10 0.90, P90 1.30, limits 0.82 and 1.69
}
