package problem_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// TestCount: a noun has its plural after any number but 1.
func TestCount(t *testing.T) {
	for noun, want := range map[string][2]string{
		"target":      {"1 target", "2 targets"},
		"policy":      {"1 policy", "2 policies"},
		"key":         {"1 key", "2 keys"},
		"more policy": {"1 more policy", "2 more policies"},
	} {
		if got := [2]string{problem.Count(1, noun), problem.Count(2, noun)}; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := problem.Count(0, "key"); got != "0 keys" {
		t.Errorf("%q", got)
	}
}

// TestOneOrMany: the text for many may name the number, or not.
func TestOneOrMany(t *testing.T) {
	for _, test := range []struct {
		n    int
		many string
		want string
	}{
		{1, "%d targets move", "1 target moves"}, {2, "%d targets move", "2 targets move"}, {2, "they move", "they move"},
		{0, "%d at 100%", "0 at 100%"},
	} {
		if got := problem.OneOrMany(test.n, "1 target moves", test.many); got != test.want {
			t.Errorf("%d, %q: %q, want %q", test.n, test.many, got, test.want)
		}
	}
}
