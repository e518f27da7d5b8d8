// Command accuracy prints every project type at its default drivers beside its
// national check price, and fails when one is off.
package main

import (
	"fmt"
	"os"

	"truecost.dev/internal/accuracy"
)

func main() {
	rows, err := accuracy.Table()
	if err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
	off, err := accuracy.Print(os.Stdout, rows)
	if err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
	if off > 0 {
		os.Exit(1)
	}
}
