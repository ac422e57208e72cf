package deployment

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
)

// TestProblemValues escapes the control characters of names from sources.
func TestProblemValues(t *testing.T) {
	got := problemValues([]deployment.Problem{{Cluster: "a\x1b[2Jb\nc", Folder: "d\x00"}})[0]
	for _, name := range []string{"cluster", "folder"} {
		if text, _ := got[name].(string); text == "" || strings.ContainsAny(text, "\x1b\n\x00") {
			t.Errorf("%s is %q", name, got[name])
		}
	}
}
