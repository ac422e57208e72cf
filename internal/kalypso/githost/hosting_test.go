package githost_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// TestMarker: a marker is an HTML comment of one line for any names. It is found in a text whose line ends the host
// changed, and differs between renderings.
func TestMarker(t *testing.T) {
	renderings := [][3]string{
		{"dev", "dev", "."},
		{"dev", "dev", "clusters"},
		{"dev", "dev", "clusters/a"},
		{"de", "vdev", "."},
		{"dev", "main", "."},
		{"--><script>", "a\nb", `"} -->`},
		{"a--b", "a--b", "a---b"},
		{"ümlaut", "dev", "."},
	}
	for i, r := range renderings {
		marker := githost.Marker(r[0], r[1], r[2])
		inside := strings.TrimSuffix(strings.TrimPrefix(marker, "<!--"), "-->")
		if strings.ContainsAny(inside, "<>\r\n") || strings.Contains(inside, "--") || len(marker)-len(inside) != 7 {
			t.Errorf("the marker of %q is not a comment of one line: %s", r, marker)
		}
		for j, o := range renderings {
			body := "Text\r\n" + githost.Marker(o[0], o[1], o[2]) + " \r\nmore"
			if got := githost.HasMarker(body, marker); got != (i == j) {
				t.Errorf("HasMarker(%q, %q) is %v", body, marker, got)
			}
		}
		if githost.HasMarker("> "+marker, marker) || githost.HasMarker("see "+marker, marker) {
			t.Errorf("a quotation is taken for the marker %s", marker)
		}
	}
}

// TestError: an error names the operation and the host's message, and unwraps to its kind and cause.
func TestError(t *testing.T) {
	err := error(&githost.Error{
		Op: "close pull request 4 of acme/gitops", Kind: githost.ErrUnavailable, Status: 502, Message: "Bad Gateway",
		Cause: context.DeadlineExceeded,
	})
	want := `close pull request 4 of acme/gitops: the host is not available: "Bad Gateway" (HTTP 502): ` +
		`context deadline exceeded`
	if got := err.Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, kind := range []error{githost.ErrUnavailable, context.DeadlineExceeded} {
		if !errors.Is(err, kind) {
			t.Errorf("%v is not %v", err, kind)
		}
	}
	if errors.Is(err, githost.ErrRateLimited) {
		t.Error("the error is also ErrRateLimited")
	}
}

// TestCheckCommit: only a full hash in lower case is accepted.
func TestCheckCommit(t *testing.T) {
	for hash, ok := range map[string]bool{
		strings.Repeat("0a", 20): true, strings.Repeat("0A", 20): false, strings.Repeat("a", 39): false,
		strings.Repeat("a", 64): false,
		"main":                  false, "": false, strings.Repeat("a", 40) + "\n": false,
	} {
		if err := githost.CheckCommit(hash); (err == nil) != ok {
			t.Errorf("commit %q: %v", hash, err)
		}
	}
}

// TestErrorIsPrintable: texts of a host or the network are escaped, so that they can't control a terminal.
func TestErrorIsPrintable(t *testing.T) {
	const evil, shown = "a\x1b[2J\u202eb", `a\x1b[2J\u202eb`
	err := &githost.Error{Op: evil, Kind: githost.ErrRejected, Message: evil + " said", Cause: errors.New(evil)}
	if text := err.Error(); strings.Count(text, shown) != 3 || strings.ContainsAny(text, "\x1b\u202e") {
		t.Errorf("got %q", text)
	}
}
