//go:build !race

package accuracy_test

const raced = false
