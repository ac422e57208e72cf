package corpus_test

import (
	"regexp"
	"strings"
	"testing"
)

// differences lists the intended differences from the recorded corpus.
var differences = []difference{
	{wording, "The BaseRepo gets another commit", "The commit of the BaseRepo will change"},
	{wording, "What fails to render stays as the branch holds it, or stays out if the branch does not hold it.",
		"Targets that fail to render keep the files that they have on the branch; new targets are left out."},
	{wording, "Those that are named:", "Workloads name these environments:"},
	{wording, "holds no rendering at this path yet", "contains no rendering at this path yet"},
	{wording, "holds a GitHub token, and config values", "contains a GitHub token, and config values"},
	{wording, ", fails since ", ", failing since "},
	{wording, ", nor on any other commit", ", and no other commit has one"},
	{wording, "and no good commit after that is named", "and no good commit after it is named"},
	{wording, " skipped, the newest ", " skipped. The newest is "},
	{wording, "the last clusters run the change since ", "the last clusters have run the change since "},
	{wording, "so nothing says whether its clusters run the change",
		"so it is unknown whether its clusters run the change"},
	{wording, "it was observed with another tree on the branch",
		"it was observed while the branch contained another tree"},
	{wording, "; not yet: ", "; not deployed yet: "},
	{wording, "others changed what this rendering delivered:", "the rendered folders were changed outside Terraform:"},
	{wording, "Take the change back where it came from, too. If a promotion brought it, name its commit in rejected of ",
		"Revert the change at its source, too. If a promotion brought it, add its commit to rejected of "},
	{wording, "Another commit opens a new one.", "An apply opens a new one for another commit."},
	{wording, "then the apply removes what is in them and not rendered.",
		"the apply then removes everything in them that is not rendered."},
	{wording, "and the state does not know what.", "and the state does not know their change."},
	{wording, "and nothing tells them of the new one.", "and they do not know the new one."},
	{wording, "number_of_cluster_types is more than what fits.",
		"fewer cluster types fit than number_of_cluster_types asks for."},
	{accepting, `Bring it into the fleet's objects, or set on_drift = "overwrite" to put the rendered tree back.`,
		"Bring it into the fleet's objects, or let the apply put the rendered tree back. With on_drift = \"overwrite\", it " +
			"would overwrite every later change, too."},
	{stageNames, `rollout_status = "first`, `rollout_status = "stage first`},
	{stageNames, `rollout_status = "second`, `rollout_status = "stage second`},
	{stageNames, `rollout_status = "third`, `rollout_status = "stage third`},
	{stageNames, "The waves: the last commit was of ", "The waves: the last commit wrote stage "},
	{shorter, "Both happen in one commit. Clusters follow at their own pace",
		"Clusters follow the commit at their own pace"},
	{shorter, "To move in two steps, let the target join first: select both cluster types, or raise " +
		"number_of_cluster_types. Apply, wait until the clusters report the new one, and then let it leave the old one.",
		"To move in two steps, select both cluster types, or raise number_of_cluster_types. Apply, wait until the clusters " +
			"report the new one, and then let the target leave the old one."},
	{shorter, "These cluster types have other names now, and so have their folders:",
		"These folders have other names now:"},
	{shorter, "Point them at the new folder first: apply with both cluster types, have the clusters sync from the new " +
		"folder, and then remove the old cluster type.",
		"Point them at the new folder first, while there are both cluster types."},
	{shorter, "To keep them, set on_destroy = \"keep\", apply, and then destroy:",
		"To keep them, apply on_destroy = \"keep\" first:"},
	{wording, "body = \"**1 cluster type loses all its targets:** `c2` (gone).\\n\\n**2 other targets leave ",
		"body = \"**1 cluster type loses all its targets:** `c2` (gone).\\n\\n**2 targets leave "},
	{workspaces, `". Choose another branch or path.`,
		`". Check the workspace (terraform workspace show) and the variables of this run, or choose another branch or path.`},
}

// wording is the reason of a text that says the same in other words, see CONTRIBUTING.
const wording = "wording"

// accepting is the reason of an advice that names the ID of a change instead of an argument, see accepted_changes.
const accepting = "accepted_changes"

// stageNames is the reason of a text with the word stage before the name of a stage, since a stage may be called all.
const stageNames = "names of stages"

// workspaces is the reason of an advice that names the usual cause first: the wrong workspace.
const workspaces = "workspaces"

// shorter is the reason of a warning that says the same in fewer lines.
const shorter = "short plans"

// difference is a text of the recorded corpus that has changed.
type difference struct{ reason, recorded, now string }

// withDifferences returns a recorded story with the intended differences.
func withDifferences(story string) string {
	for _, d := range differences {
		story = strings.ReplaceAll(story, d.recorded, d.now)
	}
	return invalidFiles.ReplaceAllString(story, "$1")
}

// invalidFiles matches the warnings about invalid files. A warning names files now, and named documents when the corpus
// was recorded.
var invalidFiles = regexp.MustCompile(
	`(?m)^()WARNING: (?:Rendered documents are not Kubernetes objects|Rendered file is invalid) .*\n(?:  .*\n)*`)

// additions match the parts of texts that were added after the corpus was recorded. [withoutAdditions] removes these
// parts, except for their groups.
var additions = []*regexp.Regexp{
	// Each refusal that can be lifted ends with its ID, which is a hash.
	regexp.MustCompile(
		`()\n *To allow exactly this change, and no other, add its ID:\n *accepted_changes = \["[a-z]+-[0-9a-f]{12}"\]`),
	// The head of a plan's diagnostics, if these are only the three warnings below.
	regexp.MustCompile(`plan:\n(?:WARNING: ` +
		`(?:Guardrails of the new rendering|delivery sets nothing|Nothing is promoted now) ` +
		`\[[^\n]*\n[^\n]*\n)+(planned:|# step|the plan )`),
	// The guardrails of a new rendering.
	regexp.MustCompile(`WARNING: Guardrails of the new rendering \[AttributeName\("guardrails"\)\]\n[^\n]*\n()`),
	// A newer commit waits for a gate.
	regexp.MustCompile(`WARNING: Nothing is promoted now \[AttributeName\("promotion"\)\]\n[^\n]*\n()`),
	// The branch contains the rendering, and the state does not know it.
	regexp.MustCompile(`WARNING: The state takes a rendering over \[AttributeName\("gitops_repo"\)\]\n[^\n]*\n()`),
	// An object without any attribute.
	regexp.MustCompile(`WARNING: delivery sets nothing \[AttributeName\("delivery"\)\]\n[^\n]*\n()`),
	// The location of a protected rendering, and how to rename its resource.
	regexp.MustCompile(`(The rendering of environment "\w+") at path "[^"]*" on branch "[^"]*" of \S+( must not)`),
	regexp.MustCompile(`(?s)()\n *If its resource has another address now, .*?\n *}`),
	// Why the gates of the current commit are closed.
	regexp.MustCompile(`()\npromotion:\n  [+-]unproven\b[^\n]*(\n\S)`),
	regexp.MustCompile(`()\n  [+-](?:promotion\.)?unproven\b[^\n]*`),
	invalidFiles,
}

// withoutAdditions returns a story without the additions.
func withoutAdditions(story string) string {
	for _, text := range additions {
		story = text.ReplaceAllString(story, "$1$2")
	}
	return story
}

// TestDifferences fails for a difference without a reason, and for a difference whose text the corpus does not contain.
func TestDifferences(t *testing.T) {
	all := everything(t)
	for _, d := range differences {
		if d.reason == "" || !strings.Contains(all, d.recorded) {
			t.Errorf("a difference has no reason, or changes nothing: %+v", d)
		}
	}
}
