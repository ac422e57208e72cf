package corpus_test

import (
	"strings"
	"testing"
)

// differences lists what differs on purpose from the recorded corpus.
var differences = []difference{}

// difference is a text of the recorded corpus that is another one now.
type difference struct{ reason, recorded, now string }

// withDifferences returns a recorded story with the intended differences.
func withDifferences(story string) string {
	for _, d := range differences {
		story = strings.ReplaceAll(story, d.recorded, d.now)
	}
	return story
}

// TestDifferences expects a reason for each difference, and that the corpus has what it changes.
func TestDifferences(t *testing.T) {
	all := everything(t)
	for _, d := range differences {
		if d.reason == "" || !strings.Contains(all, d.recorded) {
			t.Errorf("a difference has no reason, or changes nothing: %+v", d)
		}
	}
}
