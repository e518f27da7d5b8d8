// Package money holds amounts of US dollars as integers, so that sums are exact
// and rounding happens in one place: when a quantity meets a rate.
//
// On the wire an amount is a JSON number in dollars with two decimals, a rate
// one with up to four. Floating point appears only inside a computation
// (Float, FromFloat), never as the type of a stored amount.
package money

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Cents is an amount of US dollars in cents.
type Cents int64

// Rate is a price per unit (or per hour) in ten-thousandths of a US dollar.
type Rate int64

// perRate is how many rate steps make one cent; perDollar one dollar.
const (
	perCent   = 100
	perDollar = 10000
)

// FromFloat rounds an amount in dollars to cents, half away from zero.
// NaN and infinities become 0: callers check computations before they round.
func FromFloat(dollars float64) Cents { return Cents(round(dollars * 100)) }

// RateFrom rounds a price in dollars per unit to a Rate, half away from zero.
func RateFrom(dollars float64) Rate { return Rate(round(dollars * perDollar)) }

// Float returns the amount in dollars, for computation and statistics.
func (c Cents) Float() float64 { return float64(c) / 100 }

// Float returns the rate in dollars per unit.
func (r Rate) Float() float64 { return float64(r) / perDollar }

// Times returns the amount for qty units, rounded to cents half away from zero.
func (r Rate) Times(qty float64) Cents { return Cents(round(float64(r) * qty / perCent)) }

// Scale returns the amount times factor, rounded to cents half away from zero.
func (c Cents) Scale(factor float64) Cents { return Cents(round(float64(c) * factor)) }

func round(x float64) int64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	// 1e-9 relative slack: 1.005 * 100 is 100.49999999999999 in binary and is
	// meant as a half cent.
	return int64(math.Round(x + math.Copysign(math.Abs(x)*1e-13, x)))
}

// String formats the amount as $1,234.50.
func (c Cents) String() string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	return fmt.Sprintf("%s$%s.%02d", sign, group(int64(c/100)), c%100)
}

// Whole formats the amount rounded to dollars, as $1,235.
func (c Cents) Whole() string {
	d := round(float64(c) / 100)
	if d < 0 {
		return "-$" + group(-d)
	}
	return "$" + group(d)
}

func group(n int64) string {
	s := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, r := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// MarshalJSON writes dollars with two decimals: 1234.50.
func (c Cents) MarshalJSON() ([]byte, error) { return decimal(int64(c), 2), nil }

// MarshalJSON writes dollars per unit with two to four decimals: 0.2900 is 0.29.
func (r Rate) MarshalJSON() ([]byte, error) {
	b := decimal(int64(r), 4)
	for range 2 {
		b = []byte(strings.TrimSuffix(string(b), "0"))
	}
	return b, nil
}

func decimal(n int64, places int) []byte {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	unit := int64(math.Pow10(places))
	return fmt.Appendf(nil, "%s%d.%0*d", sign, n/unit, places, n%unit)
}

// UnmarshalJSON reads a number of dollars and rounds it to cents.
func (c *Cents) UnmarshalJSON(b []byte) error {
	f, err := number(b)
	*c = FromFloat(f)
	return err
}

// UnmarshalJSON reads a number of dollars per unit.
func (r *Rate) UnmarshalJSON(b []byte) error {
	f, err := number(b)
	*r = RateFrom(f)
	return err
}

func number(b []byte) (float64, error) {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return 0, fmt.Errorf("an amount of money is a JSON number, not %s", b)
	}
	if math.Abs(f) > 1e12 {
		return 0, fmt.Errorf("an amount of money is at most 1e12 dollars, not %s", b)
	}
	return f, nil
}

// Sum adds amounts.
func Sum(amounts ...Cents) Cents {
	var t Cents
	for _, a := range amounts {
		t += a
	}
	return t
}
