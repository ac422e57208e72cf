package deployment

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
)

// TestShownProblems escapes the control characters of names from sources.
func TestShownProblems(t *testing.T) {
	got := shownProblems([]deployment.Problem{{Cluster: "a\x1b[2Jb\nc", Folder: "d\x00"}})[0]
	for _, text := range []string{got.Cluster, got.Folder} {
		if text == "" || strings.ContainsAny(text, "\x1b\n\x00") {
			t.Errorf("a name is %q", text)
		}
	}
}
