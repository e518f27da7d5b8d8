package takeoff

import (
	"fmt"
	"strings"

	"truecost.dev/shared/estimate/catalog"
)

// Portion is a line of the usual bill of a kind of project: an item and its net
// quantity in the unit of the item.
type Portion struct {
	Item     *catalog.Item
	Quantity float64
}

// Usual returns the usual bill of a project type for a floor area in square feet
// (0 for the area of the type), and that area; 0 when the type is not sized by
// one. A formula that cannot be evaluated is a defect of the catalogue and an
// error.
func Usual(p *catalog.ProjectType, area float64) (bill []Portion, sized float64, err error) {
	drivers := map[string]float64{}
	for pair := range strings.SplitSeq(p.DriverDefaults, ";") {
		name, formula, _ := strings.Cut(strings.TrimSpace(pair), "=")
		if drivers[name], err = evaluate(formula, drivers); err != nil {
			return nil, 0, fmt.Errorf("driver %s of %s: %w", name, p.Key, err)
		}
		if name == "A" && area > 0 {
			drivers[name] = area
		}
	}
	for _, line := range catalog.AssemblyLines() {
		if line.ProjectKey != p.Key {
			continue
		}
		q, err := evaluate(line.Formula, drivers)
		if err != nil {
			return nil, 0, fmt.Errorf("line %d of %s: %w", line.Line, p.Key, err)
		}
		bill = append(bill, Portion{catalog.ItemByCode(line.ItemCode), q})
	}
	return bill, drivers["A"], nil
}
