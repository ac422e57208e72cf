// Package unknown marks values that Terraform learns during apply. The domain passes the marks through its stages like
// any value. Everything that depends on one is unknown too.
package unknown

import (
	"fmt"
	"math"
)

// Text stands for an unknown string. In an unknown map or list, it is the only key, value or element.
const Text = "\x00kalypso:unknown:1f0c1a52-6f2d-4f6b-9d6c-4a3b9a1a7c55\x00"

// Number stands for an unknown whole number.
const Number = math.MinInt

// CheckNumber returns an error if a number from a user equals [Number].
func CheckNumber(n int) error {
	if n == Number {
		return fmt.Errorf("%d is out of range", n)
	}
	return nil
}

// Is reports whether s is [Text].
func Is(s string) bool { return s == Text }

// Any reports whether a key or a value of m is [Text].
func Any(m map[string]string) bool {
	for k, v := range m {
		if Is(k) || Is(v) {
			return true
		}
	}
	return false
}

// Display returns s for people. It replaces [Text] by Terraform's words.
func Display(s string) string {
	if Is(s) {
		return "(known after apply)"
	}
	return s
}
