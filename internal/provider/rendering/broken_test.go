package rendering_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// breaking is a rendering whose teams break deployment targets. It keeps the folders of these targets on the branch.
type breaking struct{ *rendering }

// newBreaking makes a rendering with the value 1, and delivers it to the branch "dev".
func newBreaking(t *testing.T) *breaking {
	t.Helper()
	repo := gitserver.InitBare(t)
	r := &breaking{newRendering(t, repo)}
	r.keep("create_branch", true)
	r.expectCommits(1)
	return r
}

// keep sets arguments of the rendering, and on_assignment_error and guardrails so that it keeps failing targets.
func (r *rendering) keep(pairs ...any) {
	r.T.Helper()
	r.options(append([]any{"on_assignment_error", "keep", "guardrails", map[string]any{"max_kept": "50%"}}, pairs...)...)
}

// failing returns the failing targets that the record lists, each as cluster type/deployment target, with the time
// since which it fails.
func (r *rendering) failing() (kept, leftOut map[string]string) {
	r.T.Helper()
	type entry struct {
		ClusterType      string `json:"cluster_type"`
		DeploymentTarget string `json:"deployment_target"`
		Since            string `json:"since"`
	}
	var record struct {
		Kept    []entry `json:"kept"`
		LeftOut []entry `json:"left_out"`
	}
	if err := json.Unmarshal([]byte(gitserver.Tree(r.T, r.repo, "dev")[acc.RecordPath]), &record); err != nil {
		r.T.Fatal(err)
	}
	byName := func(entries []entry) map[string]string {
		all := map[string]string{}
		for _, e := range entries {
			all[e.ClusterType+"/"+e.DeploymentTarget] = e.Since
		}
		return all
	}
	return byName(record.Kept), byName(record.LeftOut)
}

// expectFailing fails the test unless the record lists exactly these failing targets.
func (r *rendering) expectFailing(kept, leftOut string) {
	r.T.Helper()
	isKept, isOut := r.failing()
	for what, c := range map[string]struct {
		is   map[string]string
		want string
	}{"kept": {isKept, kept}, "left out": {isOut, leftOut}} {
		if got := strings.Join(slices.Sorted(maps.Keys(c.is)), " "); got != c.want {
			r.T.Errorf("the record lists %q as %s, want %q", got, what, c.want)
		}
	}
}

// files returns the files of folders on the branch.
func (r *rendering) files(folders ...string) map[string]string {
	r.T.Helper()
	found := map[string]string{}
	for path, content := range gitserver.Tree(r.T, r.repo, "dev") {
		for _, folder := range folders {
			if strings.HasPrefix(path, folder+"/") {
				found[path] = content
			}
		}
	}
	return found
}

// expectWarned fails the test unless a plan has no change and prints all of the texts.
func (r *rendering) expectWarned(texts ...string) {
	r.T.Helper()
	out := r.Terraform("plan", "-no-color", "-detailed-exitcode")
	if out.Code != 0 {
		r.T.Errorf("the plan is not empty:\n%s\n%s", out.Stdout, out.Stderr)
	}
	r.expectSays(out, texts...)
}

func (r *rendering) expectSays(out acc.Output, texts ...string) {
	r.T.Helper()
	for _, text := range texts {
		if !strings.Contains(out.Text(), text) {
			r.T.Errorf("no %q in the output:\n%s", text, out.Text())
		}
	}
}

// hash returns the hash of a deployment target from the attribute assignments.
func (r *rendering) hash(clusterType, target string) any {
	r.T.Helper()
	return asMap(asMap(r.Rendered()["assignments"])[clusterType])[target]
}

// TestAccBrokenTeams: targets that a team breaks stay as they are on the branch until they are fixed, while other
// targets change.
func TestAccBrokenTeams(t *testing.T) {
	t.Parallel()
	r := newBreaking(t)
	kept, hash := r.files("large/app-b"), r.hash("large", "app-b")

	r.Set("broken", map[string]string{"b": "data"})
	r.options("on_assignment_error", nil)
	r.expectRefused([]string{"Template rendering failed", "large / app-b"}, "plan")
	r.keep("guardrails", nil)
	r.expectRefused([]string{"Change exceeds guardrails", "1 of 3 deployment target folders fail to render",
		`guardrails.max_kept is "10%"`, "large / app-b"}, "plan")
	r.keep("guardrails", map[string]any{"max_kept": "0.5"})
	r.expectRefused([]string{"Invalid limit", "0.5"}, "plan")

	// Without other changes, only the record is committed.
	r.keep()
	out := r.expectCommits(1)
	r.expectSays(out, "A deployment target fails to render", `Template "reconciler"`, "large / app-b: kept")
	r.expectFailing("large/app-b", "")
	since, _ := r.failing()
	r.expectWarned("large / app-b: kept, failing since " + since["large/app-b"])
	if message := gitserver.Git(t, r.repo, "log", "-1", "--format=%B", "dev"); !strings.Contains(message,
		"\nFails to render: 1 kept, 0 left out\n") {
		t.Errorf("the commit's message is %q", message)
	}

	// Other targets change at the same time, as the plan shows.
	r.Set("value", "2")
	r.Set("broken", map[string]string{"b": "data", "c": "schema"})
	r.keep("guardrails", map[string]any{"max_kept": 2})
	plan := r.Succeed("plan", "-no-color", "-out=plan")
	r.expectSays(plan, "2 deployment targets fail to render", "small / app-c: kept", `Workload "app"`)
	shown := r.planned("plan")
	r.expectCommitsOf(1, "plan")
	for _, name := range []string{"assignments", "folders", "tree_hash", "assignment_count"} {
		if diff := cmp.Diff(shown[name], r.Rendered()[name]); diff != "" {
			t.Errorf("%s (-planned +applied):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(kept, r.files("large/app-b")); diff != "" {
		t.Errorf("kept files (-before +now):\n%s", diff)
	}
	if got := r.hash("large", "app-b"); got != hash {
		t.Errorf("assignments shows %v for the kept target, want %v", got, hash)
	}
	if got := r.files("large/app-a")["large/app-a/reconciler.yaml"]; got != "# value: 2 in dev-large-app-a\n" {
		t.Errorf("the target that was not broken is %q", got)
	}
	again, _ := r.failing()
	if again["large/app-b"] != since["large/app-b"] {
		t.Errorf("the target fails since %q, and before since %q", again["large/app-b"], since["large/app-b"])
	}

	// Once the target is fixed, the tree is as if it had never been broken.
	r.Set("broken", map[string]string{})
	r.expectCommits(1)
	r.expectFailing("", "")
	whole := newRendering(t, gitserver.InitBare(t))
	whole.options("create_branch", true)
	whole.Set("value", "2")
	whole.Apply()
	if diff := cmp.Diff(gitserver.Tree(t, whole.repo, "dev"), gitserver.Tree(t, r.repo, "dev")); diff != "" {
		t.Errorf("the branch (-never broken +fixed):\n%s", diff)
	}
	gitserver.Fsck(t, r.repo)
}

// TestAccBrokenRefusedText: text that is refused never reaches a template, and the target does not change.
func TestAccBrokenRefusedText(t *testing.T) {
	t.Parallel()
	r := newBreaking(t)
	kept := r.files("small/app-c")
	r.Set("broken", map[string]string{"c": "text"})
	r.Set("value", "2")
	out := r.expectCommits(1)
	r.expectSays(out, "Invalid text", "contains {{", "small / app-c: kept")
	if diff := cmp.Diff(kept, r.files("small/app-c")); diff != "" {
		t.Errorf("kept files (-before +now):\n%s", diff)
	}
}

// TestAccBrokenPlatformObject: a fault of a platform object stops the fleet.
func TestAccBrokenPlatformObject(t *testing.T) {
	t.Parallel()
	r := newBreaking(t)
	r.keep("manifests", map[string]string{"strict": "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ConfigSchema\n" +
		"metadata: {name: strict}\nspec: {schema: '{\"required\": [\"none\"]}'}\n"})
	r.expectRefused([]string{"Values violate their schema", `ConfigSchema "strict"`}, "plan")
}

// TestAccBrokenNewTargetIsLeftOut: a new target that fails is left out until it is fixed, also by a create.
func TestAccBrokenNewTargetIsLeftOut(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.keep("create_branch", true)
	r.Set("broken", map[string]string{"c": "data"})
	r.expectSays(r.expectCommits(1), "small / app-c: left out")
	r.expectFailing("", "small/app-c")
	r.Set("targets", map[string]string{"a": "large", "b": "large", "c": "small", "d": "small"})
	r.Set("broken", map[string]string{"c": "data", "d": "schema"})
	r.expectCommits(1)
	r.expectFailing("", "small/app-c small/app-d")
	if found := r.files("small/app-c", "small/app-d"); len(found) > 0 {
		t.Errorf("the branch contains %v", found)
	}
	if count := r.Rendered()["assignment_count"]; count != float64(2) {
		t.Errorf("%v assignments, want 2", count)
	}
	r.Set("broken", map[string]string{"d": "schema"})
	r.expectCommits(1)
	r.expectFailing("", "small/app-d")

	// If the branch contains the folder of a failing target, a create cannot keep it.
	r.EmptyState()
	r.Set("broken", map[string]string{"c": "data", "d": "schema"})
	r.expectRefused([]string{"Cannot keep deployment targets", "small / app-c",
		"import the rendering with the ID", "dev@file://" + r.repo}, "plan")
	// An import can keep the folder, and so can an adoption.
	r.Succeed("import", renderingAddress, "dev@file://"+r.repo+"?ref=dev")
	r.expectSays(r.expectCommits(1), "small / app-c: kept", "small / app-d: left out, failing since")
	r.expectFailing("small/app-c", "small/app-d")
	r.EmptyState()
	r.keep("adopt", true)
	plan := r.Succeed("plan", "-no-color")
	r.expectSays(plan, "the apply reads whether the branch contains it")
	r.expectCommits(0)
	r.expectFailing("small/app-c", "small/app-d")
}

// TestAccBrokenNamespace: a new target whose name makes its namespace invalid is left out, while other targets change.
func TestAccBrokenNamespace(t *testing.T) {
	t.Parallel()
	r := newBreaking(t)
	r.Set("targets", map[string]string{"a": "large", "b": "large", "c": "small", "d.x": "large"})
	r.Set("value", "2")
	r.options("on_assignment_error", nil)
	r.expectRefused([]string{"Invalid namespace", `Workload "app"`, "must not contain dots"}, "plan")
	r.keep()
	r.expectSays(r.expectCommits(1), "large / app-d.x: left out")
	r.expectFailing("", "large/app-d.x")
	for path, content := range r.files("large/app-a", "large/app-b", "small/app-c") {
		if !strings.Contains(content, "# value: 2") {
			t.Errorf("%s has not changed:\n%s", path, content)
		}
	}
}

// TestAccBrokenImport: after an import, failing targets are kept, with the time from the record.
func TestAccBrokenImport(t *testing.T) {
	t.Parallel()
	r := newBreaking(t)
	r.Set("broken", map[string]string{"b": "data"})
	r.expectCommits(1)
	since, _ := r.failing()
	before := r.Rendered()
	r.EmptyState()
	r.Succeed("import", renderingAddress, "dev@file://"+r.repo+"?ref=dev")
	r.expectSays(r.expectCommits(0), "large / app-b: kept, failing since "+since["large/app-b"])
	r.expectSame(before, "tree_hash", "assignments", "folders")
	r.EmptyState()
	r.Succeed("import", renderingAddress, "dev@file://"+r.repo+"?ref=dev")
	r.Set("value", "2")
	kept := r.files("large/app-b")
	r.expectCommits(1)
	if diff := cmp.Diff(kept, r.files("large/app-b")); diff != "" {
		t.Errorf("kept files (-before +now):\n%s", diff)
	}
}

// TestAccBrokenReadsKeptFromBranch: with a private state of another version, the apply reads what to keep from the
// branch.
func TestAccBrokenReadsKeptFromBranch(t *testing.T) {
	t.Parallel()
	r := newBreaking(t)
	r.Set("broken", map[string]string{"b": "data"})
	r.Set("value", "2")
	kept := r.files("large/app-b")
	r.replacePrivateState()
	r.expectCommits(1, "-refresh=false")
	r.replacePrivateState()
	r.Set("value", "3")
	r.expectCommits(1)
	if diff := cmp.Diff(kept, r.files("large/app-b")); diff != "" {
		t.Errorf("kept files (-before +now):\n%s", diff)
	}
}

// TestAccBrokenFirstPlanWithKeep: the first plan with on_assignment_error = "keep" works with a state that has only
// abbreviated hashes.
func TestAccBrokenFirstPlanWithKeep(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.options("create_branch", true)
	r.expectCommits(1)
	kept := r.files("large/app-b")
	r.keep()
	r.Set("broken", map[string]string{"b": "data"})
	r.Set("values", map[string]string{"a": "2"})
	plan := r.Succeed("plan", "-no-color", "-out=plan")
	r.expectSays(plan, "large / app-b: kept")
	r.expectCommitsOf(1, "plan")
	r.Set("values", map[string]string{"a": "3"})
	r.Succeed("plan", "-no-color", "-out=plan")
	if _, known := r.planned("plan")["tree_hash"].(string); !known {
		t.Error("the next plan does not know the hash of the tree")
	}
	r.expectCommits(1)
	if diff := cmp.Diff(kept, r.files("large/app-b")); diff != "" {
		t.Errorf("kept files (-before +now):\n%s", diff)
	}
	gitserver.Fsck(t, r.repo)
}

// TestAccBrokenDrift: foreign changes of a failing target are kept with any on_drift. Drift of other targets follows
// on_drift.
func TestAccBrokenDrift(t *testing.T) {
	t.Parallel()
	r := newBreaking(t)
	r.Set("broken", map[string]string{"b": "data"})
	r.expectCommits(1)
	gitserver.Seed(t, r.repo, "dev", map[string]string{"large/app-b/reconciler.yaml": "a hotfix\n"})
	for _, reaction := range []string{"fail", "overwrite"} {
		r.keep("on_drift", reaction)
		if out := r.Succeed("plan", "-no-color"); strings.Contains(out.Text(), "overwritten") {
			t.Errorf("the plan says that it overwrites:\n%s", out.Text())
		}
	}
	r.Set("value", "2")
	r.keep("on_drift", "overwrite")
	r.expectCommits(1)
	if got := r.files("large/app-b")["large/app-b/reconciler.yaml"]; got != "a hotfix\n" {
		t.Errorf("the hotfix is %q", got)
	}
	r.keep("on_drift", nil)
	gitserver.Seed(t, r.repo, "dev", map[string]string{"large/app-b/reconciler.yaml": "another\n"})
	r.expectCommits(0)
	gitserver.Seed(t, r.repo, "dev", map[string]string{"large/app-a/reconciler.yaml": "drift\n"})
	r.expectRefused([]string{"Drift: rendered folders changed outside Terraform", "large/app-a/reconciler.yaml"}, "plan")
	r.keep("on_drift", "overwrite")
	r.expectCommits(1)
	if got := r.files("large/app-b")["large/app-b/reconciler.yaml"]; got != "another\n" {
		t.Errorf("the hotfix is %q", got)
	}
	r.Set("broken", map[string]string{}) // once fixed, the rendered files replace the hotfix
	r.expectCommits(1)
	if got := r.files("large/app-b")["large/app-b/reconciler.yaml"]; got != "# value: 2 in dev-large-app-b\n" {
		t.Errorf("the fixed file is %q", got)
	}
}

// TestAccBrokenMove: a new destination does not contain the kept folders.
func TestAccBrokenMove(t *testing.T) {
	t.Parallel()
	r := newBreaking(t)
	r.Set("broken", map[string]string{"b": "data"})
	r.expectCommits(1)
	unlimited := map[string]any{"max_removed": "100%", "allow_empty": true, "max_kept": "50%"}
	r.keep("guardrails", unlimited)
	r.setDestination("path", "clusters")
	said := []string{"Cannot keep deployment targets", "The rendering moves to", "large / app-b"}
	for _, reaction := range []any{"remove", "keep"} {
		r.options("on_move", reaction)
		r.expectRefused(said, "plan")
	}
	r.options("on_move", nil)
	r.Set("broken", map[string]string{})
	r.expectCommits(1)
}

// TestAccBrokenKilled: if an apply keeps a target and is killed right after its push, the next apply recognizes its
// commit.
func TestAccBrokenKilled(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	_, url := gitserver.Serve(t, r.repo)
	r.setDestination("repo", url)
	r.keep("create_branch", true)
	r.expectCommits(1)
	kept := r.files("large/app-b")
	r.Set("broken", map[string]string{"b": "data"})
	r.Set("value", "2")
	applyUntilPushed(t, r)
	since, _ := r.failing()
	r.expectCommits(0)
	r.expectWarned("large / app-b: kept, failing since " + since["large/app-b"])
	if diff := cmp.Diff(kept, r.files("large/app-b")); diff != "" {
		t.Errorf("kept files (-before +now):\n%s", diff)
	}
}

// TestAccBrokenFiles: the attribute files shows kept targets as the last apply left them.
func TestAccBrokenFiles(t *testing.T) {
	t.Parallel()
	r := newBreaking(t)
	r.keep("preview", "manifests")
	r.expectCommits(0)
	before := asMap(r.Rendered()["files"])
	r.Set("broken", map[string]string{"b": "data"})
	r.Set("value", "2")
	r.expectCommits(1)
	now := asMap(r.Rendered()["files"])
	want := gitserver.Tree(t, r.repo, "dev")
	delete(want, acc.RecordPath)
	for path, content := range want {
		if now[path] != content {
			t.Errorf("%s is %v, and %q on the branch", path, now[path], content)
		}
	}
	if len(now) != len(want) || now["large/app-b/reconciler.yaml"] != before["large/app-b/reconciler.yaml"] {
		t.Errorf("files has %v", slices.Sorted(maps.Keys(now)))
	}
	r.Set("broken", map[string]string{"b": "data", "d": "data"}) // a target that is left out has no files
	r.Set("targets", map[string]string{"a": "large", "b": "large", "c": "small", "d": "small"})
	r.expectCommits(1)
	after := asMap(r.Rendered()["files"])
	if diff := cmp.Diff(slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(after))); diff != "" {
		t.Errorf("files (-before +now):\n%s", diff)
	}
}

// TestAccBrokenUnknown: if a target fails with data that are known only after apply, it is kept if the branch contains
// it. If the target is new, the apply fails, since the plan has shown the target.
func TestAccBrokenUnknown(t *testing.T) {
	t.Parallel()
	r := newBreaking(t)
	kept := r.files("large/app-b")
	r.Set("broken", map[string]string{"b": "unknown"})
	r.Set("value", "2")
	r.expectCommits(1)
	if diff := cmp.Diff(kept, r.files("large/app-b")); diff != "" {
		t.Errorf("kept files (-before +now):\n%s", diff)
	}
	r.Succeed("state", "rm", "terraform_data.breaks[0]")
	r.Set("broken", map[string]string{"d": "unknown"})
	r.Set("targets", map[string]string{"a": "large", "b": "large", "c": "small", "d": "small"})
	before := r.head()
	r.ExpectError([]string{"A deployment target fails to render", "small / app-d: left out",
		"Provider produced inconsistent final plan"}, "apply", "-auto-approve", "-no-color")
	if r.head() != before {
		t.Error("the apply made a commit")
	}
}

// TestAccBrokenPullRequest: a pull request proposes the other targets; kept targets stay as the target branch contains
// them.
func TestAccBrokenPullRequest(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.keep()
	r.Apply()
	r.on.Merge(t, r.last().Number, "merge")
	r.Apply("-refresh-only")
	kept := r.files("large/app-b")
	r.Set("broken", map[string]string{"b": "data"})
	r.Set("value", "2")
	out := r.Apply()
	r.expectSays(out, "large / app-b: kept")
	r.ExpectEmptyPlan()
	if body := r.last().Body; !strings.Contains(body, "- `large / app-b`: kept as it is on the branch") {
		t.Errorf("the pull request does not say what is kept:\n%s", body)
	}
	r.on.Merge(t, r.last().Number, "merge")
	r.Apply("-refresh-only")
	if diff := cmp.Diff(kept, r.files("large/app-b")); diff != "" {
		t.Errorf("kept files (-before +now):\n%s", diff)
	}
	r.expectFailing("large/app-b", "")
	since, _ := r.failing()
	r.expectWarned("large / app-b: kept, failing since " + since["large/app-b"])

	// A target that breaks while its next version is proposed does not change on the target branch.
	r.Set("value", "3")
	r.Set("broken", map[string]string{})
	r.Apply()
	r.Set("broken", map[string]string{"a": "data"})
	before := r.files("large/app-a")
	r.Apply()
	r.on.Merge(t, r.last().Number, "merge")
	r.Apply("-refresh-only")
	if diff := cmp.Diff(before, r.files("large/app-a")); diff != "" {
		t.Errorf("kept files (-before +now):\n%s", diff)
	}
	if got := r.files("large/app-b")["large/app-b/reconciler.yaml"]; got != "# value: 3 in dev-large-app-b\n" {
		t.Errorf("the fixed file is %q", got)
	}

	// A pull request that is merged after the plan has changed the folders that the plan keeps.
	r.Set("broken", map[string]string{})
	r.Apply()
	r.Set("broken", map[string]string{"a": "data"})
	r.Succeed("plan", "-no-color", "-out=plan")
	r.on.Merge(t, r.last().Number, "merge")
	merged := r.files("large/app-a")
	r.expectRefused([]string{"The branch moved after the plan was made", "large"}, "apply", "plan")
	r.Apply()
	if diff := cmp.Diff(merged, r.files("large/app-a")); diff != "" {
		t.Errorf("kept files (-before +now):\n%s", diff)
	}
}

// TestAccBrokenWaves: kept folders stay through all waves, even if their cluster type belongs to a later wave.
func TestAccBrokenWaves(t *testing.T) {
	t.Parallel()
	r := newRolling(t)
	r.keep("guardrails", map[string]any{"max_kept": 1})
	kept := r.files("east/app-east")
	r.Set("broken", map[string]string{"east": "data"})
	r.Set("value", "2")
	r.expectSays(r.wave("2 1 1 1 1"), "east / app-east: kept")
	r.expectFailing("east/app-east", "")
	r.report("current", rollingTypes...)
	r.wave("2 1 2 2 1")
	r.report("current", rollingTypes...)
	r.wave("2 1 2 2 2")
	if diff := cmp.Diff(kept, r.files("east/app-east")); diff != "" {
		t.Errorf("kept files (-before +now):\n%s", diff)
	}
	if now := r.Rendered(); now["delivered"] != true || now["target_tree_hash"] != now["tree_hash"] {
		t.Errorf("after the last wave: %v, %v", now["delivered"], now["target_tree_hash"])
	}
	r.report("current", rollingTypes...)
	r.Set("broken", map[string]string{})
	r.wave("2 2 2 2 2")
	r.expectFailing("", "")
}

// TestAccBrokenWithStrategyNone: a rendering that is only computed keeps its last results of failing targets.
func TestAccBrokenWithStrategyNone(t *testing.T) {
	t.Parallel()
	r := newRendering(t, gitserver.InitBare(t))
	r.keep("delivery", map[string]any{"strategy": "none"})
	r.Apply()
	hash := r.hash("large", "app-b")
	r.Set("broken", map[string]string{"b": "data"})
	r.Set("value", "2")
	r.Apply()
	r.expectWarned("large / app-b: kept")
	if got := r.hash("large", "app-b"); got != hash {
		t.Errorf("assignments shows %v for the kept target, want %v", got, hash)
	}
}

// planned returns the planned attributes of the rendering in a plan file.
func (r *rendering) planned(file string) map[string]any {
	r.T.Helper()
	var plan struct {
		Changes []struct {
			Address string
			Change  struct{ After map[string]any }
		} `json:"resource_changes"`
	}
	if err := json.Unmarshal([]byte(r.Succeed("show", "-json", file).Stdout), &plan); err != nil {
		r.T.Fatal(err)
	}
	for _, c := range plan.Changes {
		if c.Address == renderingAddress {
			return maps.Clone(c.Change.After)
		}
	}
	r.T.Fatal("the plan has no rendering")
	return nil
}

// expectCommitsOf applies a plan file, and fails the test unless it makes that many commits and the next plan is empty.
func (r *rendering) expectCommitsOf(n int, file string) {
	r.T.Helper()
	before := len(gitserver.Log(r.T, r.repo, "dev"))
	r.Succeed("apply", "-no-color", file)
	if got := len(gitserver.Log(r.T, r.repo, "dev")) - before; got != n {
		r.T.Errorf("the apply made %d commits, want %d", got, n)
	}
	r.ExpectEmptyPlan()
}
