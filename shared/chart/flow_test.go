package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"truecost.dev/shared/engine"
)

// anyFlow draws flows that need not make sense: cycles, needs that do not exist,
// texts of every kind.
func anyFlow(t *rapid.T) *engine.Flow {
	n := rapid.IntRange(0, 14).Draw(t, "nodes")
	name := func(i int) string { return fmt.Sprintf("n%d", i) }
	f := &engine.Flow{ID: rapid.String().Draw(t, "id"), Input: rapid.StringN(0, 40, 200).Draw(t, "input"), Budget: time.Hour}
	for i := range n {
		node := engine.Node{Name: name(i), Agent: rapid.String().Draw(t, "agent"), Timeout: time.Minute}
		for range rapid.IntRange(0, 4).Draw(t, "needs") {
			node.Needs = append(node.Needs, name(rapid.IntRange(0, n).Draw(t, "need")))
		}
		if rapid.Bool().Draw(t, "gate") {
			node.Gate = &engine.Gate{Scorer: rapid.String().Draw(t, "scorer"), Exhausted: engine.Ask}
		}
		if rapid.Bool().Draw(t, "fan") {
			node.FanOut = &engine.FanOut{Over: rapid.String().Draw(t, "over"), Chunk: 1, MaxParallel: 3}
		}
		if rapid.Bool().Draw(t, "pause") {
			node.Pause = &engine.Pause{Prompt: rapid.String().Draw(t, "prompt")}
		}
		if rapid.Bool().Draw(t, "when") {
			node.When = []engine.Condition{{Fact: "n0.x", Is: engine.Equal, Value: rapid.String().Draw(t, "value")}}
			f.Outputs = append(f.Outputs, node.Name)
		}
		f.Nodes = append(f.Nodes, node)
	}
	return f
}

// Every flow is drawn, as XML that loads nothing, the same each time.
func TestFlowIsXML(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := anyFlow(t)
		drawn := Flow(f)
		if again := Flow(f); !bytes.Equal(drawn, again) {
			t.Fatal("two drawings of one flow differ")
		}
		d := xml.NewDecoder(bytes.NewReader(drawn))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("the drawing is no XML: %v\n%s", err, drawn)
			}
			element, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			if slices.Contains([]string{"script", "image", "use", "a", "foreignObject"}, element.Name.Local) {
				t.Fatalf("the drawing has a %s", element.Name.Local)
			}
			for _, a := range element.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.HasSuffix(a.Name.Local, "href") {
					t.Fatalf("the drawing has the attribute %s", a.Name.Local)
				}
			}
		}
	})
}

// Nothing overlaps: boxes of a column keep their distance, columns theirs, and an
// edge passes a column at a joint that has room of its own.
func TestArrangeKeepsApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "boxes")
		boxes := make([]vertex, n)
		for i := range boxes {
			boxes[i] = vertex{w: rapid.IntRange(10, 300).Draw(t, "w"), h: rapid.IntRange(10, 200).Draw(t, "h")}
		}
		var pairs [][2]int
		for range rapid.IntRange(0, 40).Draw(t, "pairs") {
			pairs = append(pairs, [2]int{rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")})
		}
		l := arrange(boxes, pairs)
		placed := 0
		for i, layer := range l.layers {
			for j, v := range layer {
				at := l.all[v]
				placed++
				if at.layer != i || at.w > l.widths[i] || at.y-at.h/2 < 0 {
					t.Fatalf("vertex %d stands at %+v in layer %d of width %d", v, at, i, l.widths[i])
				}
				if i > 0 && l.bands[i] == l.bands[i-1] && at.x < l.all[l.layers[i-1][0]].x+l.widths[i-1]+columnGap {
					t.Fatalf("column %d begins at %d, inside column %d", i, at.x, i-1)
				}
				if j > 0 {
					if before := l.all[layer[j-1]]; at.y-(at.h+1)/2 < before.y+(before.h+1)/2+min(rowGap, jointGap) {
						t.Fatalf("%+v overlaps %+v", at, before)
					}
				}
			}
		}
		if bottom := 0; true {
			for i, layer := range l.layers {
				if i > 0 && l.bands[i] != l.bands[i-1] {
					for _, v := range slices.Concat(l.layers[:i]...) {
						bottom = max(bottom, l.all[v].y+l.all[v].h/2)
					}
				}
				for _, v := range layer {
					if l.all[v].y-l.all[v].h/2 < bottom && l.bands[i] > 0 {
						t.Fatalf("%+v reaches into the band above, which ends at %d", l.all[v], bottom)
					}
				}
			}
		}
		if placed != len(l.all) {
			t.Fatalf("%d vertices in the layers, want %d", placed, len(l.all))
		}
		for _, e := range l.edges {
			if l.all[e.from].layer+len(e.via)+1 != l.all[e.to].layer {
				t.Fatalf("edge %+v does not lead to the right", e)
			}
		}
	})
}

// Without a cycle, no pair is lost.
func TestArrangeKeepsEdges(t *testing.T) {
	t.Parallel()
	pairs := [][2]int{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 3}}
	l := arrange([]vertex{{w: 10, h: 10}, {w: 10, h: 10}, {w: 10, h: 10}, {w: 10, h: 10}}, pairs)
	if len(l.edges) != len(pairs) {
		t.Errorf("%d edges, want %d", len(l.edges), len(pairs))
	}
	if got := len(arrange(make([]vertex, 2), [][2]int{{0, 1}, {1, 0}, {1, 1}}).edges); got != 1 {
		t.Errorf("%d edges of a cycle, want 1", got)
	}
}

// Two rows of pairs drawn crosswise are sorted until none cross.
func TestArrangeUncrosses(t *testing.T) {
	t.Parallel()
	boxes := make([]vertex, 8)
	for i := range boxes {
		boxes[i] = vertex{w: 10, h: 10}
	}
	crossed := [][2]int{{0, 7}, {1, 6}, {2, 5}, {3, 4}}
	plain := &layout{all: slices.Clone(boxes)}
	plain.rank(crossed)
	plain.join(crossed)
	if got := plain.crossings(); got != 6 {
		t.Errorf("crossings before = %d, want 6", got)
	}
	if got := arrange(boxes, crossed).crossings(); got != 0 {
		t.Errorf("crossings after = %d, want 0", got)
	}
}

// Needs that another path implies are written, not drawn.
func TestReduce(t *testing.T) {
	t.Parallel()
	f := &engine.Flow{Nodes: []engine.Node{{Name: "a"}, {Name: "b", Needs: []string{"a"}}, {Name: "c", Needs: []string{"a", "b"}}, {Name: "d"}}}
	pairs, reads := reduce(f)
	if want := [][2]int{{0, 1}, {1, 2}, {2, 3}, {0, 4}}; !slices.Equal(pairs, want) {
		t.Errorf("arrows = %v, want %v", pairs, want)
	}
	if want := []string{"a"}; !slices.Equal(reads[2], want) {
		t.Errorf("reads of c = %v, want %v", reads[2], want)
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		most int
		want string
	}{
		{"short", 100, "short"},
		{"a text that is too long", 100, "a text that is…"},
		{"anything", 0, "…"},
		{"漢字漢字漢字", 40, "漢字…"},
	}
	for _, tt := range tests {
		if got := clip(tt.text, rowSize, tt.most); got != tt.want {
			t.Errorf("clip(%q, %d) = %q, want %q", tt.text, tt.most, got, tt.want)
		}
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		7 * 24 * time.Hour: "7d", 90 * time.Minute: "1h30m", time.Hour: "1h", 90 * time.Second: "1m30s", 30 * time.Second: "30s", 1500 * time.Millisecond: "1.5s",
	} {
		if got := short(d); got != want {
			t.Errorf("short(%v) = %q, want %q", d, got, want)
		}
	}
}
