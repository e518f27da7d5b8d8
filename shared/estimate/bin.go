package estimate

import (
	"encoding/json"
	"fmt"

	"truecost.dev/shared/estimate/money"
)

// Bin of a histogram of prices; Percentage is 0–100. Its JSON has the edges
// under both names that readers of the documents use: range_low and range_high,
// binStart and binEnd.
type Bin bin[money.Cents]

// DayBin of a histogram of durations, in working days; its JSON is that of Bin.
type DayBin bin[float64]

type bin[T any] struct {
	Low        T       `json:"range_low"`
	High       T       `json:"range_high"`
	Count      int     `json:"count"`
	Percentage float64 `json:"percentage"`
}

// spelt is the JSON of a bin.
type spelt[T any] struct {
	Low        *T      `json:"range_low"`
	High       *T      `json:"range_high"`
	Start      *T      `json:"binStart"`
	End        *T      `json:"binEnd"`
	Count      int     `json:"count"`
	Percentage float64 `json:"percentage"`
}

// MarshalJSON writes the edges twice.
func (b Bin) MarshalJSON() ([]byte, error) { return bin[money.Cents](b).marshal() }

// UnmarshalJSON reads either spelling; range_low and range_high come first.
func (b *Bin) UnmarshalJSON(data []byte) error { return (*bin[money.Cents])(b).unmarshal(data) }

// MarshalJSON writes the edges twice.
func (b DayBin) MarshalJSON() ([]byte, error) { return bin[float64](b).marshal() }

// UnmarshalJSON reads either spelling; range_low and range_high come first.
func (b *DayBin) UnmarshalJSON(data []byte) error { return (*bin[float64])(b).unmarshal(data) }

func (b bin[T]) marshal() ([]byte, error) {
	raw, err := json.Marshal(spelt[T]{&b.Low, &b.High, &b.Low, &b.High, b.Count, b.Percentage})
	if err != nil {
		return nil, fmt.Errorf("encode a bin of a histogram: %w", err)
	}
	return raw, nil
}

func (b *bin[T]) unmarshal(data []byte) error {
	var s spelt[T]
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("decode a bin of a histogram: %w", err)
	}
	*b = bin[T]{Count: s.Count, Percentage: s.Percentage}
	for _, edge := range []struct {
		into *T
		from []*T
	}{{&b.Low, []*T{s.Low, s.Start}}, {&b.High, []*T{s.High, s.End}}} {
		for _, from := range edge.from {
			if from != nil {
				*edge.into = *from
				break
			}
		}
	}
	return nil
}
