package rendering

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-log/tflogtest"
)

// TestLogProgress checks that long work logs its progress at INFO, not too often, and without a total if the total is
// unknown.
func TestLogProgress(t *testing.T) {
	for name, c := range map[string]struct {
		every time.Duration
		want  []map[string]any
	}{
		"interval of zero": {0, []map[string]any{
			{"@level": "info", "@message": "render", "@module": "provider", "done": "3", "total": "10"},
			{"@level": "info", "@message": "push", "@module": "provider", "done": "41291380"},
		}},
		"interval of an hour": {time.Hour, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var logs bytes.Buffer
			progress := logProgress(tflogtest.RootLogger(t.Context(), &logs), c.every)
			progress("render", 3, 10)
			progress("push", 41291380, 0)
			got, err := tflogtest.MultilineJSONDecode(&logs)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("logs (-want +got):\n%s", diff)
			}
		})
	}
}
