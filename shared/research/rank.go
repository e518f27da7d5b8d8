package research

import (
	"math"
	"slices"
)

// Constants of BM25, as they are common.
const (
	saturation = 1.2  // k1: how soon a term that comes again counts no more
	lengthPart = 0.75 // b: how much a long sentence is held against it
)

// Extractive takes sentences from sources as they are. It is deterministic and
// needs no model.
//
// Within each source alone, its sentences are ranked by BM25 against the words of
// topic and instruction, with the source as the collection. The best perSource of
// them that reach half the score of the best are quoted in the order of the page.
// A sentence counts if it shares a word with the question, and a second one by
// itself or by the title of its page: what a page is about, its sentences often
// call it.
type Extractive struct{}

const (
	perSource = 3
	nearBest  = 0.5
)

// Name returns extractive.
func (Extractive) Name() string { return "extractive" }

type ranked struct {
	at    int // which sentence
	score float64
}

// best returns the sentences of a source that answer a question, in their order.
func best(title, text string, asked []string) []string {
	all := sentences(text)
	top := rank(all, about(title, asked), asked)
	top = top[:min(len(top), perSource)]
	for i, r := range top {
		if r.score < nearBest*top[0].score {
			top = top[:i]
			break
		}
	}
	slices.SortFunc(top, func(a, b ranked) int { return a.at - b.at })
	found := make([]string, len(top))
	for i, r := range top {
		found[i] = all[r.at]
	}
	return found
}

// about returns the terms of a question that a title has.
func about(title string, asked []string) []string {
	return slices.DeleteFunc(askedFor(title), func(t string) bool { return !slices.Contains(asked, t) })
}

// rank orders the sentences that share enough words with what is asked by their
// score, best first; a sentence that was there before counts once.
func rank(all, given, asked []string) []ranked {
	counts := make([]map[string]int, len(all)) // of the terms asked for, by sentence
	lengths := make([]int, len(all))
	among := map[string]int{} // sentences with a term
	total := 0
	for i, s := range all {
		ts := terms(s)
		lengths[i] = len(ts)
		total += len(ts)
		counts[i] = map[string]int{}
		for _, t := range ts {
			if slices.Contains(asked, t) {
				counts[i][t]++
			}
		}
		for t := range counts[i] {
			among[t]++
		}
	}
	mean := float64(max(total, 1)) / float64(max(len(all), 1))
	var found []ranked
	seen := map[string]bool{}
	for i, s := range all {
		shared := len(counts[i])
		for _, t := range given {
			if counts[i][t] == 0 {
				shared++
			}
		}
		if len(counts[i]) == 0 || shared < min(2, len(asked)) || seen[s] {
			continue
		}
		seen[s] = true
		score := 0.0
		for _, t := range asked { // in their order: sums of floats depend on it
			tf := float64(counts[i][t])
			rarity := math.Log(1 + (float64(len(all)-among[t])+0.5)/(float64(among[t])+0.5))
			score += rarity * tf * (saturation + 1) / (tf + saturation*(1-lengthPart+lengthPart*float64(lengths[i])/mean))
		}
		found = append(found, ranked{i, score})
	}
	slices.SortStableFunc(found, func(a, b ranked) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return a.at - b.at
	})
	return found
}

// askedFor returns the terms of a question, each once.
func askedFor(texts ...string) []string {
	var asked []string
	for _, text := range texts {
		for _, t := range terms(text) {
			if !slices.Contains(asked, t) && len(asked) < maxAsked {
				asked = append(asked, t)
			}
		}
	}
	return asked
}

// maxAsked bounds the words of a question that count: an instruction of 4,000
// characters has hundreds, and each is looked for in each sentence.
const maxAsked = 64
