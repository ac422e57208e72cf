package promotion

import "testing"

// TestSameLogin: two logins are the same if they differ only in the case of ASCII letters.
func TestSameLogin(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"octocat", "OctoCat", true},
		{"github-actions[bot]", "GitHub-Actions[bot]", true},
		{"kate", "\u212aate", false}, // the Kelvin sign
		{"sam", "\u017fam", false},   // the long s
		{"a", "ab", false},
		{"a", "b", false},
		{"[", "{", false},
	} {
		if got := sameLogin(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %t", c.a, c.b, got)
		}
	}
}
