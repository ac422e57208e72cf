package record_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
)

// TestObjectsInMessages reads the changed objects from messages of commits. Our commits have such messages, hosts
// change them in merges, and people write other messages.
func TestObjectsInMessages(t *testing.T) {
	t.Parallel()
	objects := []string{"config west: A, labels", "cluster type small (new)", "workload app-7", "and 3 more objects"}
	ours := record.Message("dev", objects) + "\nlarge: +1 -0 ~2\n\nPromoted commit: abc\n"
	for name, test := range map[string]struct {
		message string
		want    []string
	}{
		"our commit":                     {ours, objects},
		"our commit without objects":     {record.Message("dev", nil) + "\nconfig: +1 -0 ~2\n", nil},
		"squash of our commit":           {strings.Replace(ours, "dev\n", "dev (#12)\n", 1), objects},
		"squash with CRLF":               {"Merged PR 7: " + strings.ReplaceAll(ours, "\n", "\r\n"), objects},
		"commit of people":               {"Fix it\n\nconfig west: A\n", nil},
		"merge of our branch":            {"Merge pull request #12 from acme/deployment\n\nRender environment dev", nil},
		"object with control characters": {record.Message("dev", []string{"config \x1b[2J"}), []string{`config \x1b[2J`}},
		"too many objects": {record.Message("dev", repeated("config x", 30)),
			repeated("config x", record.MaxObjects)},
		"empty message": {"", nil},
	} {
		if diff := cmp.Diff(test.want, record.ObjectsIn(test.message)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func repeated(text string, n int) (all []string) {
	for range n {
		all = append(all, text)
	}
	return all
}
