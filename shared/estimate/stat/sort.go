package stat

import "math"

// Sort sorts a sample, the smallest value first; a NaN comes at an end. It sorts
// by the digits of the numbers, several times as fast as by comparing them once
// there are some thousands.
func Sort(xs []float64) {
	keys, spare := make([]keyed, len(xs)), make([]keyed, len(xs))
	for i, x := range xs {
		keys[i].key = sortable(x)
	}
	for i, k := range radix(keys, spare) {
		xs[i] = k.value()
	}
}

// keyed is a number whose bits sort as it does, and where it stood.
type keyed struct {
	key uint64
	at  int32
}

// sortable maps the order of numbers to that of integers: the bits of a negative
// one are turned round, and the sign of all.
func sortable(x float64) uint64 {
	bits := math.Float64bits(x)
	if bits>>63 == 1 {
		return ^bits
	}
	return bits | 1<<63
}

func (k keyed) value() float64 {
	if k.key>>63 == 1 {
		return math.Float64frombits(k.key &^ (1 << 63))
	}
	return math.Float64frombits(^k.key)
}

// The digits of a key.
const (
	digitBits = 11
	digits    = 6
	digitMask = 1<<digitBits - 1
)

// radix sorts keys, digit by digit from the last, between two slices of one
// length, and returns the one that ends up sorted. A digit that all keys share
// is skipped.
func radix(keys, spare []keyed) []keyed {
	var count [digits][1 << digitBits]int32
	for i := range keys {
		k := keys[i].key
		for d := range digits {
			count[d][k>>(d*digitBits)&digitMask]++
		}
	}
	for d := range digits {
		c := &count[d]
		if len(keys) == 0 || int(c[keys[0].key>>(d*digitBits)&digitMask]) == len(keys) {
			continue
		}
		next := int32(0)
		for i, n := range c {
			c[i] = next
			next += n
		}
		for i := range keys {
			digit := keys[i].key >> (d * digitBits) & digitMask
			spare[c[digit]] = keys[i]
			c[digit]++
		}
		keys, spare = spare, keys
	}
	return keys
}
