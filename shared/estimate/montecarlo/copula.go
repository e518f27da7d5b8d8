package montecarlo

import (
	"math"

	"truecost.dev/shared/estimate/stat"
)

// The kinds of factor of a line.
const (
	materialKind = iota
	laborKind
	quantityKind
	kinds
)

// loadings turn independent normals into correlated scores. A score is
//
//	market[kind]·z + trade·z + code·z + own·ε
//
// with the market of a kind shared by all lines, the trade by the lines of one
// trade and the code by the lines of one material. The squares of the loadings
// of a score sum to 1, so what two scores share is their correlation.
type loadings struct {
	market [kinds][kinds]float64 // rows of a Cholesky factor, times the root of Any
	trade  float64
	code   float64
	event  float64
	shrink float64 // of the repair, 1 when the correlations were possible
}

// newLoadings repairs correlations that contradict each other: between markets
// by Cholesky, and within a trade or a material at least as much as between any
// two lines.
func newLoadings(c Correlation) loadings {
	anyTwo := clamp(c.Any)
	trade := math.Max(anyTwo, clamp(c.Trade))
	material := math.Max(trade, clamp(c.Material))
	l := loadings{trade: math.Sqrt(trade - anyTwo), code: math.Sqrt(material - trade), event: math.Sqrt(clamp(c.Event)), shrink: 1}
	if anyTwo == 0 {
		return l
	}
	cross := c.Cross / anyTwo
	lower, shrink := stat.Cholesky([][]float64{{1}, {cross, 1}, {cross, cross, 1}})
	l.shrink = shrink
	for i := range kinds {
		for j := range kinds {
			l.market[i][j] = math.Sqrt(anyTwo) * lower[i][j]
		}
	}
	return l
}

// clamp keeps a shared variance inside [0, 0.99]: a score must keep some
// variance of its own.
func clamp(rho float64) float64 { return math.Min(0.99, math.Max(0, rho)) }

// between returns the correlation of two scores of different kinds of a line.
func (l *loadings) between(a, b int) float64 {
	rho := 0.0
	for k := range kinds {
		rho += l.market[a][k] * l.market[b][k]
	}
	return rho
}

// own returns the loading that is left for the line itself.
func (l *loadings) own(kind int, trade, code bool) float64 {
	rest := 1.0
	for k := range kinds {
		rest -= l.market[kind][k] * l.market[kind][k]
	}
	if trade {
		rest -= l.trade * l.trade
	}
	if code {
		rest -= l.code * l.code
	}
	return math.Sqrt(math.Max(0, rest))
}
