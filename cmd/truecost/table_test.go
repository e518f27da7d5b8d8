package main

import (
	"bytes"
	"testing"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	for ms, want := range map[int64]string{
		0: "0ms", 999: "999ms", 1000: "1.0s", 59999: "59.9s", 60000: "1m00s", 245000: "4m05s", 3599999: "59m59s",
		3600000: "1h00m", 86399999: "23h59m", 86400000: "1d00h", 273600000: "3d04h",
	} {
		if got := span(ms); got != want {
			t.Errorf("span(%d) = %s, want %s", ms, got, want)
		}
	}
}

// Colors do not move the columns, and no line ends in spaces.
func TestTable(t *testing.T) {
	t.Parallel()
	for color, want := range map[bool]string{
		false: "STEP   STATUS    NOTE\na      done\nlong   claimed   x\n",
		true: "STEP   \x1b[39mSTATUS\x1b[0m    NOTE\n" +
			"a      \x1b[32mdone\x1b[0m\n" +
			"long   \x1b[39mclaimed\x1b[0m   x\n",
	} {
		var out bytes.Buffer
		tab := newTable(&out, color, "STEP", "STATUS", "NOTE")
		tab.row("a", tab.status("done"), "")
		tab.row("long", tab.status("claimed"), "x")
		if err := tab.flush(); err != nil || out.String() != want {
			t.Errorf("color %v: %v\n%q want\n%q", color, err, out.String(), want)
		}
	}
}
