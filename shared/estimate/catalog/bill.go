package catalog

import (
	"fmt"
	"strings"

	"truecost.dev/shared/estimate/formula"
)

// Portion is a line of the usual bill of a kind of project: an item and its net
// quantity in the unit of the item.
type Portion struct {
	Item     *Item
	Quantity float64
}

// UsualBill returns the usual bill of a project type for a floor area in square
// feet (0 for the area of the type), and that area; 0 when the type is not sized
// by one. A formula that cannot be evaluated is a defect of the catalogue and an
// error.
func UsualBill(p *ProjectType, area float64) (bill []Portion, sized float64, err error) {
	drivers, err := Drivers(p, func(name string) float64 {
		if name == "A" {
			return area
		}
		return 0
	})
	if err != nil {
		return nil, 0, err
	}
	for _, line := range AssemblyLines() {
		if line.ProjectKey != p.Key {
			continue
		}
		q, err := formula.Eval(line.Formula, drivers)
		if err != nil {
			return nil, 0, fmt.Errorf("line %d of %s: %w", line.Line, p.Key, err)
		}
		bill = append(bill, Portion{ItemByCode(line.ItemCode), q})
	}
	return bill, drivers["A"], nil
}

// Drivers evaluates the drivers of a project type from left to right. Where
// known returns more than 0, that takes the place of the default.
func Drivers(p *ProjectType, known func(name string) float64) (map[string]float64, error) {
	drivers := map[string]float64{}
	for pair := range strings.SplitSeq(p.DriverDefaults, ";") {
		name, text, _ := strings.Cut(strings.TrimSpace(pair), "=")
		v, err := formula.Eval(text, drivers)
		if err != nil {
			return nil, fmt.Errorf("driver %s of %s: %w", name, p.Key, err)
		}
		if k := known(name); k > 0 {
			v = k
		}
		drivers[name] = v
	}
	return drivers, nil
}
