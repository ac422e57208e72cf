package corpus_test

import (
	"strings"
	"testing"
)

// differences lists the intended differences from the recorded corpus.
var differences = []difference{
	{wording, "The BaseRepo gets another commit", "The commit of the BaseRepo will change"},
	{wording, "Rendered documents that are no Kubernetes objects", "Rendered documents are not Kubernetes objects"},
	{wording, "What fails to render stays as the branch holds it, or stays out if the branch does not hold it.",
		"Targets that fail to render keep the files that they have on the branch; new targets are left out."},
	{wording, "Two promoted commits", "Conflicting promoted commits"},
	{wording, "The branch of a rendering is gone", "The branch of a rendering no longer exists"},
	{wording, "holds no rendering at this path yet", "contains no rendering at this path yet"},
	{wording, "the old location holds it", "it is at the old location"},
	{wording, "holds a GitHub token, and config values", "contains a GitHub token, and config values"},
	{wording, "The branch does not hold the tree.", "The branch does not contain the tree."},
	{wording, "holds the tree. Then an apply", "contains the tree. Then an apply"},
	{wording, "now holds the tree. The apply", "now contains the tree. The apply"},
	{wording, "The branch holds a rendering", "The branch contains a rendering"},
	{wording, "The branch holds folders", "The branch contains folders"},
	{wording, "the branch holds folders", "the branch contains folders"},
	{wording, "The old location holds them", "The old location contains them"},
}

// wording is the reason of a text that says the same in other words, see CONTRIBUTING.
const wording = "wording"

// difference is a text of the recorded corpus that has changed.
type difference struct{ reason, recorded, now string }

// withDifferences returns a recorded story with the intended differences.
func withDifferences(story string) string {
	for _, d := range differences {
		story = strings.ReplaceAll(story, d.recorded, d.now)
	}
	return story
}

// TestDifferences fails for a difference without a reason, or one whose text the corpus does not contain.
func TestDifferences(t *testing.T) {
	all := everything(t)
	for _, d := range differences {
		if d.reason == "" || !strings.Contains(all, d.recorded) {
			t.Errorf("a difference has no reason, or changes nothing: %+v", d)
		}
	}
}
