package pullrequest

import (
	"strings"
	"testing"
)

// TestBody: the marker stays, however much is cut.
func TestBody(t *testing.T) {
	const marker = "<!-- marker -->"
	for n, text := range []string{
		"", "short", "with " + marker + " within", strings.Repeat("ä", 200), strings.Repeat("𝄞", 200),
	} {
		got := body(text, marker, 100)
		if characters(got) > 100 || !strings.HasSuffix(got, "\n\n"+marker+"\n") || strings.Count(got, marker) != 1 {
			t.Errorf("%d: %d characters: %q", n, characters(got), got)
		}
		if cut := strings.Contains(got, "(cut)"); cut != (n > 2) {
			t.Errorf("%d: cut is %t: %q", n, cut, got)
		}
	}
}

// TestTrailer: the trailer is one line. It covers the marker and the contents.
func TestTrailer(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range []string{
		Trailer("m", "c"), Trailer("n", "c"), Trailer("m", "d"), Trailer("m", ""), Trailer("m", "c\n"),
	} {
		if seen[s] || strings.Contains(s, "\n") || !strings.HasPrefix(s, trailerKey) {
			t.Errorf("%q is twice, or more than a line", s)
		}
		seen[s] = true
	}
}
