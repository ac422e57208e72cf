package pullrequest

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// TestBody: the marker is kept at the host's place, which is the beginning or the end, however much of the text is cut.
// If a text has the marker at the other place, the marker is moved.
func TestBody(t *testing.T) {
	const marker = "<!-- marker -->"
	for n, text := range []string{
		"", "short", "with " + marker + " within", strings.Repeat("ä", 200), strings.Repeat("𝄞", 200),
		strings.Repeat("- `a @user`\n", 20),
	} {
		for _, first := range []bool{false, true} {
			got := body(text, marker, first, 100)
			placed := strings.HasSuffix(got, "\n\n"+marker+"\n")
			if first {
				placed = strings.HasPrefix(got, marker+"\n\n") && strings.HasSuffix(got, "\n")
			}
			if characters(got) > 100 || !placed || strings.Count(got, marker) != 1 || !githost.HasMarker(got, marker) {
				t.Errorf("%d: %d characters: %q", n, characters(got), got)
			}
			if cut := strings.Contains(got, "(cut)"); cut != (n > 2) {
				t.Errorf("%d: cut is %t: %q", n, cut, got)
			}
			if strings.Count(got, "`")%2 != 0 {
				t.Errorf("%d: the text ends within code: %q", n, got)
			}
			if moved := body(body(text, marker, !first, 100), marker, first, 100); moved != got {
				t.Errorf("%d: the text after the marker was moved is %q, want %q", n, moved, got)
			}
		}
	}
}

// TestBodyWithoutRoom: a marker that leaves no room for the text, as with a very long path, stays whole.
func TestBodyWithoutRoom(t *testing.T) {
	marker := "<!-- " + strings.Repeat("m", 200) + " -->"
	for _, text := range []string{"", "short"} {
		if got := body(text, marker, true, 100); !githost.HasMarker(got, marker) || strings.Contains(got, "short") {
			t.Errorf("%q", got)
		}
	}
}

// TestTrailer: the trailer is one line, and differs for each marker and each content.
func TestTrailer(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range []string{
		Trailer("m", "c"), Trailer("n", "c"), Trailer("m", "d"), Trailer("m", ""), Trailer("m", "c\n"),
	} {
		if seen[s] || strings.Contains(s, "\n") || !strings.HasPrefix(s, trailerKey) {
			t.Errorf("%q occurs twice, or is not a single line", s)
		}
		seen[s] = true
	}
}
