package rendering_test

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccPlanIsApply edits random fleets. After each apply, the state and the branch contain what the plan showed, in
// one commit, or without a commit if nothing changed. The next plan is empty.
func TestAccPlanIsApply(t *testing.T) {
	t.Parallel()
	for seed := range seeds.Of(t, 1, 2) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			r := acc.NewRootFrom(t, "testdata/TestAccPlanIsApply")
			repo := gitserver.InitBare(t)
			r.Env = append(r.Env, "TF_VAR_repo="+repo)
			f := newRandomFleet(seed)
			var before map[string]any
			for step := range steps() {
				edits := []string{"create"}
				if step > 0 {
					edits = f.edit(step%3 == 0)
				}
				f.write(t, r)
				before = applyStep(r, repo, f, before, step > 0 && step%3 == 0)
				if t.Failed() {
					t.Fatalf("step %d, after the edits: %s", step, strings.Join(edits, ", "))
				}
			}
			gitserver.Fsck(t, repo)
		})
	}
}

// steps returns the number of applies of each random fleet.
func steps() int {
	if seeds.Long() {
		return 12
	}
	return 6
}

// edit makes random edits. If quiet, they change no rendered byte.
func (f *randomFleet) edit(quiet bool) (names []string) {
	among := quietEdits
	if !quiet {
		among = slices.Concat(quietEdits, anyEdits, anyEdits)
	}
	for range 1 + f.IntN(4) {
		e := pick(f, among...)
		e.make(f)
		names = append(names, e.name)
	}
	return names
}

// applyStep plans and applies the fleet, and compares the plan, the state and the branch. It returns the state.
func applyStep(r *acc.Root, repo string, f *randomFleet, before map[string]any, quiet bool) map[string]any {
	r.T.Helper()
	const address = "kalypso_environment_rendering.this"
	const branch = "dev"
	t := r.T
	head, commits := gitserver.Rev(t, repo, branch), len(gitserver.Log(t, repo, branch))
	c := r.Plan()[address]
	r.ApplyPlan()
	state := r.State()[address]
	expectUnknown(t, c, nothing)
	expectApplied(t, c, state)
	if known := c.Unknown["description"] != true; known != (before != nil) {
		t.Errorf("description is known: %t, and there is something to compare with: %t", known, before != nil)
	}
	expectOnBranch(t, repo, branch, f.path, state)
	r.ExpectEmptyPlan()

	if diff := cmp.Diff(f.unscheduled(t, repo, branch), state["unscheduled"]); diff != "" {
		t.Errorf("unscheduled (-want +state):\n%s", diff)
	}
	same := before != nil
	for _, attribute := range []string{"tree_hash", "promoted_commit", "gitops_repo"} {
		same = same && cmp.Equal(before[attribute], state[attribute])
	}
	if quiet && !same {
		t.Errorf("edits that change nothing changed the tree")
	}
	now, made := gitserver.Rev(t, repo, branch), len(gitserver.Log(t, repo, branch))-commits
	if same {
		for _, attribute := range []string{"description", "commit_sha"} {
			if diff := cmp.Diff(before[attribute], state[attribute]); diff != "" {
				t.Errorf("%s is not kept (-before +after):\n%s", attribute, diff)
			}
		}
		if made != 0 {
			t.Errorf("%d commits without a change", made)
		}
		return state
	}
	if made != 1 || state["commit_sha"] != now {
		t.Errorf("%d commits, commit_sha %v, the head is %s", made, state["commit_sha"], now)
	}
	var old map[string]map[string]string
	if head != "" {
		old = targetsOnBranch(t, repo, head, acc.As[string](asMap(before["gitops_repo"])["path"]))
	}
	changes := changesBetween(old, targetsOnBranch(t, repo, now, f.path))
	if before != nil && before["assignments"] != nil && state["assignments"] != nil {
		expectChanges(t, changes, before, state)
	}
	expectDescribed(t, acc.As[string](state["description"]), changes)
	return state
}

// expectDescribed compares the numbers in a description with the changes.
func expectDescribed(t *testing.T, text string, changes map[string]any) {
	t.Helper()
	var all [3]int
	for clusterType, change := range changes {
		var n [3]int
		if _, err := fmt.Sscanf(acc.As[string](change), "+%d -%d ~%d", &n[0], &n[1], &n[2]); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			all[i] += n[i]
		}
		if !strings.Contains(text, "\n- `"+clusterType+"`") {
			t.Errorf("the description does not name %s:\n%s", clusterType, text)
		}
	}
	want := "No deployment target changes."
	if len(changes) > 0 {
		want = fmt.Sprintf(
			"**Deployment targets:** %d added, %d removed, %d changed on %d cluster type",
			all[0],
			all[1],
			all[2],
			len(changes),
		)
	}
	if !strings.Contains(text, want) {
		t.Errorf("the description does not say %q:\n%s", want, text)
	}
}

// unscheduled returns the deployment targets that have no folder on the branch.
func (f *randomFleet) unscheduled(t *testing.T, repo, branch string) []any {
	t.Helper()
	placed := map[string]bool{}
	for _, targets := range targetsOnBranch(t, repo, branch, f.path) {
		for name := range targets {
			placed[name] = true
		}
	}
	none := []any{}
	for _, name := range f.targets() {
		if !placed[name] {
			none = append(none, name)
		}
	}
	return none
}

// targetsOnBranch returns the entries of the deployment targets' folders in the tree of a revision, by cluster type and
// name.
func targetsOnBranch(t *testing.T, repo, revision, at string) map[string]map[string]string {
	t.Helper()
	all := map[string]map[string]string{}
	for line := range strings.SplitSeq(gitserver.Git(t, repo, "ls-tree", "-r", "-t",
		revision+":"+strings.TrimPrefix(at, ".")), "\n") {
		meta, name, _ := strings.Cut(line, "\t")
		clusterType, target, nested := strings.Cut(name, "/")
		switch {
		case strings.HasPrefix(name, ".") || !strings.Contains(meta, " tree ") || strings.Contains(target, "/"):
		case nested:
			all[clusterType][target] = meta
		default:
			all[clusterType] = map[string]string{}
		}
	}
	return all
}

// expectChanges compares the changes of deployment targets between two states of a rendering.
func expectChanges(t *testing.T, want, before, after map[string]any) {
	t.Helper()
	hashes := func(state map[string]any) map[string]map[string]string {
		all := map[string]map[string]string{}
		for clusterType, targets := range acc.As[map[string]any](state["assignments"]) {
			all[clusterType] = map[string]string{}
			for target, hash := range acc.As[map[string]any](targets) {
				all[clusterType][target] = acc.As[string](hash)
			}
		}
		return all
	}
	if diff := cmp.Diff(want, changesBetween(hashes(before), hashes(after))); diff != "" {
		t.Errorf("changes of assignments (-want +state):\n%s", diff)
	}
}

// changesBetween returns the numbers of targets that are added, removed and changed, for each cluster type that
// changes.
func changesBetween(old, now map[string]map[string]string) map[string]any {
	changes := map[string]any{}
	for clusterType := range maps.Keys(merged(old, now)) {
		var added, removed, changed int
		for target, hash := range now[clusterType] {
			if was, there := old[clusterType][target]; !there {
				added++
			} else if was != hash {
				changed++
			}
		}
		for target := range old[clusterType] {
			if _, there := now[clusterType][target]; !there {
				removed++
			}
		}
		_, was := old[clusterType]
		_, is := now[clusterType]
		if was != is || added+removed+changed > 0 {
			changes[clusterType] = fmt.Sprintf("+%d -%d ~%d", added, removed, changed)
		}
	}
	return changes
}

func merged[M ~map[K]V, K comparable, V any](a, b M) M {
	both := maps.Clone(b)
	maps.Copy(both, a)
	return both
}

// expectOnBranch compares the attributes of a rendering with the content of its branch, as git shows it.
func expectOnBranch(t *testing.T, repo, branch, at string, state map[string]any) {
	t.Helper()
	files := gitserver.Tree(t, repo, branch)
	record := path.Join(at, acc.RecordPath)
	if _, there := files[record]; !there {
		t.Errorf("%s is not on the branch", record)
	}
	delete(files, record)
	if state["promoted_commit"] == nil {
		delete(files, acc.PromotedCommitPath) // it may be of an earlier promotion, since the provider does not remove it
	}
	assignments, folders, targets := map[string]any{}, map[string]any{}, 0
	var entries strings.Builder // of a tree that contains only our folders
	for line := range strings.SplitSeq(gitserver.Git(t, repo, "ls-tree", branch+":"+strings.TrimPrefix(at, ".")), "\n") {
		_, name, _ := strings.Cut(line, "\t")
		if !strings.Contains(line, " tree ") || strings.HasPrefix(name, ".") {
			continue
		}
		entries.WriteString(line + "\n")
		placed := map[string]any{}
		for line := range strings.Lines(gitserver.Git(t, repo, "ls-tree", "-d", branch+":"+path.Join(at, name))) {
			fields := strings.Fields(line) // mode, tree, hash, name
			placed[fields[3]] = fields[2][:12]
		}
		folders[name] = map[string]any{
			"path": path.Join(at, name), "tree_hash": strings.Fields(line)[2], "assignments": float64(len(placed)),
		}
		assignments[name] = placed
		targets += len(placed)
	}
	want := map[string]any{
		"assignments":      assignments,
		"assignment_count": float64(targets),
		"folders":          folders,
		"files":            anyMap(files),
		"tree_hash":        gitserver.MkTree(t, repo, entries.String()),
	}
	want["summary"] = nil
	switch state["preview"] {
	case "summary":
		lines := map[string]any{}
		for clusterType, folder := range folders {
			f := acc.As[map[string]any](folder)
			targets := fmt.Sprintf("%v targets", f["assignments"])
			if f["assignments"] == 1.0 {
				targets = "1 target"
			}
			lines[clusterType] = fmt.Sprintf("%s, tree %.12s", targets, f["tree_hash"])
		}
		state = maps.Clone(state)
		state["summary"] = withoutChanges(state["summary"])
		want["summary"], want["assignments"], want["folders"], want["files"] = lines, nil, nil, nil
	case "none":
		want["assignments"], want["folders"], want["files"] = nil, nil, nil
	case "assignments", nil:
		want["files"] = nil
	}
	for attribute, held := range want {
		if diff := cmp.Diff(held, state[attribute]); diff != "" {
			t.Errorf("%s (-branch +state):\n%s", attribute, diff)
		}
	}
	if promoted := state["promoted_commit"]; promoted != nil && files[acc.PromotedCommitPath] != promoted {
		t.Errorf("%s contains %q, want %q", acc.PromotedCommitPath, files[acc.PromotedCommitPath], promoted)
	}
}

// withoutChanges returns the lines of a summary without the changes that they begin with.
func withoutChanges(summary any) map[string]any {
	lines := map[string]any{}
	for clusterType, line := range asMap(summary) {
		lines[clusterType] = lastChange.ReplaceAllString(acc.As[string](line), "")
	}
	return lines
}

// lastChange matches the changes at the beginning of a line of a summary.
var lastChange = regexp.MustCompile(`^\+\d+ -\d+ ~\d+, `)

func anyMap(m map[string]string) map[string]any {
	all := make(map[string]any, len(m))
	for k, v := range m {
		all[k] = v
	}
	return all
}
