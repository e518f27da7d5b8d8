package catalog

import (
	"strings"
	"sync"
)

// ItemWords holds other names of an item: what estimators and owners call it.
type ItemWords struct {
	Code  string `csv:"code"`
	Names string `csv:"names"` // separated by semicolons
}

// Words is the table of other names, one row for an item that has any.
var Words = sync.OnceValue(func() []ItemWords { return load[ItemWords]("item_words") })

// NamesOf returns every name of an item, its own first.
func NamesOf(it *Item) []string {
	names := []string{it.Name}
	if w := wordIndex()[it.Code]; w != nil {
		names = append(names, strings.Split(w.Names, ";")...)
	}
	return names
}

var wordIndex = sync.OnceValue(func() map[string]*ItemWords {
	return index("item_words", Words(), func(w *ItemWords) string { return w.Code })
})
