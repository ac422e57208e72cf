package rendering_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// reviewed is a rendering that is delivered by pull request to the branch "dev" of a repo on a fake GitHub.
type reviewed struct {
	*rendering
	fake *githubfake.Server
	on   *githubfake.Repo
}

func newReviewed(t *testing.T, options ...hostfake.Option) *reviewed {
	t.Helper()
	acc.NeedTerraform(t)
	fake := githubfake.New(t, options...)
	on := fake.AddRepo(t, "acme/gitops")
	gitserver.Seed(t, on.Path, "dev", map[string]string{"README.md": "hello\n", "apps/a.yaml": "a: 1\n"})
	on.Protect(t, "dev")
	r := &reviewed{newRendering(t, on.Path), fake, on}
	r.setDestination("repo", on.URL)
	r.Set("github", map[string]any{"base_url": fake.URL, "token": fake.Token})
	r.delivery()
	t.Cleanup(func() { gitserver.Fsck(t, on.Path) })
	return r
}

// delivery sets the argument delivery: the strategy, and other attributes in pairs.
func (r *reviewed) delivery(pairs ...any) {
	r.T.Helper()
	all := map[string]any{"strategy": "pull_request"}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i].(string)] = pairs[i+1] //nolint:forcetypeassert // names are strings
	}
	r.options("delivery", all)
}

// pulls returns the states of all pull requests, oldest first.
func (r *reviewed) pulls() []string {
	var states []string
	for _, p := range r.on.PullRequests() {
		states = append(states, p.State)
	}
	return states
}

// last returns the newest pull request.
func (r *reviewed) last() hostfake.PullRequest {
	r.T.Helper()
	all := r.on.PullRequests()
	if len(all) == 0 {
		r.T.Fatal("there is no pull request")
	}
	return all[len(all)-1]
}

// expectPulls fails the test unless all pull requests have these states, oldest first. It returns the newest one.
func (r *reviewed) expectPulls(states ...string) hostfake.PullRequest {
	r.T.Helper()
	if got := r.pulls(); !slices.Equal(got, states) {
		r.T.Fatalf("the pull requests are %v, want %v", got, states)
	}
	return r.last()
}

// expectDelivered compares the attributes delivered, commit_sha and pull_request.
func (r *reviewed) expectDelivered(delivered bool, state string) {
	r.T.Helper()
	now := r.Rendered()
	if now["delivered"] != delivered {
		r.T.Errorf("delivered is %v, want %v", now["delivered"], delivered)
	}
	if (now["commit_sha"] != nil) != delivered {
		r.T.Errorf("delivered is %v, and commit_sha %v", delivered, now["commit_sha"])
	}
	pull, _ := now["pull_request"].(map[string]any)
	if got, _ := pull["state"].(string); got != state {
		r.T.Errorf("the pull request is %q, want %q", got, state)
	}
	if state == "" {
		return
	}
	last := r.last()
	want := map[string]any{
		"number": float64(last.Number), "url": pull["url"], "state": state, "branch": last.Head,
		"head_commit": last.HeadCommit, "merge_commit": nil,
	}
	if state == "merged" {
		want["merge_commit"] = last.MergeCommit
		if now["commit_sha"] != last.MergeCommit {
			r.T.Errorf("commit_sha is %v, and the merge commit %v", now["commit_sha"], last.MergeCommit)
		}
	}
	if diff := cmp.Diff(want, pull); diff != "" {
		r.T.Errorf("pull_request (-want +got):\n%s", diff)
	}
}

// refresh brings the state up to date.
func (r *reviewed) refresh() acc.Output {
	r.T.Helper()
	return r.Succeed("apply", "-no-color", "-auto-approve", "-refresh-only")
}

// expectWarning fails the test unless the plan is empty and prints the texts.
func (r *reviewed) expectWarning(texts ...string) {
	r.T.Helper()
	o := r.Terraform("plan", "-no-color", "-detailed-exitcode")
	if o.Code != 0 {
		r.T.Errorf("the plan is not empty (exit code %d):\n%s\n%s", o.Code, o.Stdout, o.Stderr)
	}
	for _, text := range texts {
		if !strings.Contains(o.Text(), text) {
			r.T.Errorf("the plan does not say %q:\n%s", text, o.Text())
		}
	}
}

// expectTree fails the test unless the folder of a target contains the value at a revision.
func (r *reviewed) expectTree(rev, target, value string) {
	r.T.Helper()
	if got := gitserver.Tree(r.T, r.on.Path, rev)[target+"/reconciler.yaml"]; !strings.HasPrefix(got,
		"# value: "+value+" in ") {
		r.T.Errorf("%s of %s is %q, want %q", target, rev, got, value)
	}
}

// The whole life of a rendering that people review.
func TestAccPullRequestLife(t *testing.T) {
	t.Parallel()
	r := newReviewed(t, hostfake.WithGitBackend())
	r.delivery("labels", []string{"platform"}, "reviewers", []string{"octocat", "acme/platform"})
	r.on.AddTeam("platform")
	before := r.head()

	// The pull request is opened, although GitHub notices the push only a moment later.
	r.fake.Fail("POST", "/pulls", 1, githubfake.HeadNotSeen)
	r.Apply()
	r.ExpectEmptyPlan()
	first := r.expectPulls("open")
	r.expectDelivered(false, "open")
	if r.head() != before {
		t.Error("the apply moved the target branch")
	}
	if diff := cmp.Diff([]string{"platform"}, first.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if !slices.Equal(first.Reviewers, []string{"octocat"}) || !slices.Equal(first.Teams, []string{"platform"}) {
		t.Errorf("asked for a review: %v and %v", first.Reviewers, first.Teams)
	}
	if !strings.HasPrefix(first.Head, "deployment/dev-") || first.Base != "dev" ||
		!strings.Contains(first.Body, "`large`") {
		t.Errorf("the pull request: %+v", first)
	}
	r.expectTree(first.Head, "large/app-a", "1")

	// The pull request is updated in place, after the target branch has moved.
	gitserver.Seed(t, r.on.Path, "dev", map[string]string{"apps/a.yaml": "a: 2\n"})
	r.ExpectEmptyPlan()
	r.Set("value", "2")
	r.options("promoted_commit", strings.Repeat("a", 40))
	r.Apply()
	r.ExpectEmptyPlan()
	second := r.expectPulls("open")
	if second.Number != first.Number || second.Head != first.Head || second.HeadCommit == first.HeadCommit {
		t.Errorf("not updated in place: %+v, then %+v", first, second)
	}
	if !slices.Contains(second.Labels, "promoted") || second.Body == first.Body &&
		!strings.Contains(second.Body, "aaaaaaa") {
		t.Errorf("the updated pull request: %+v", second)
	}
	if parent := strings.TrimSpace(gitserver.Git(t, r.on.Path, "rev-parse", second.HeadCommit+"^")); parent != r.head() {
		t.Errorf("the commit is on top of %s, and the target at %s", parent, r.head())
	}

	// The pull request is merged: the plan is empty, and the state has the result.
	r.on.Merge(t, second.Number, "merge")
	r.ExpectEmptyPlan()
	r.refresh()
	r.expectDelivered(true, "merged")
	r.expectTree("dev", "large/app-a", "2")

	// After a change, another pull request is opened, which people close.
	r.Set("value", "3")
	r.Apply()
	third := r.expectPulls("merged", "open")
	r.expectDelivered(false, "open")
	if slices.Contains(third.Labels, "promoted") {
		t.Errorf("the promoted commit did not change: %v", third.Labels)
	}
	// People change the target branch: that is drift until they revert it.
	was := gitserver.Tree(t, r.on.Path, "dev")["large/app-a/reconciler.yaml"]
	gitserver.Seed(t, r.on.Path, "dev", map[string]string{"large/app-a/reconciler.yaml": "hotfix\n"})
	r.ExpectError([]string{"Drift: rendered folders changed outside Terraform", "branch \"dev\"",
		"large/app-a/reconciler.yaml"}, "plan", "-no-color")
	gitserver.Seed(t, r.on.Path, "dev", map[string]string{"large/app-a/reconciler.yaml": was})
	r.ExpectEmptyPlan()
	r.on.Close(t, third.Number)
	r.expectWarning("The pull request was closed", "delivery.reopen = true")
	r.Apply()
	r.expectPulls("merged", "closed")
	r.expectDelivered(false, "closed")

	// After another change of the fleet, a new pull request is opened, which is merged by squash.
	r.Set("value", "4")
	r.Apply()
	fourth := r.expectPulls("merged", "closed", "open")
	r.on.Merge(t, fourth.Number, "squash")
	r.ExpectEmptyPlan()
	r.expectTree("dev", "large/app-a", "4")

	// People edit the branch: this is drift, which a pull request overwrites.
	gitserver.Seed(t, r.on.Path, "dev", map[string]string{"large/app-a/reconciler.yaml": "hotfix\n"})
	r.ExpectError([]string{"Drift: rendered folders changed outside Terraform", "large/app-a/reconciler.yaml",
		"Somebody"}, "plan", "-no-color")
	r.options("on_drift", "overwrite")
	r.Apply()
	fifth := r.expectPulls("merged", "closed", "merged", "open")
	r.expectDelivered(false, "open")
	r.on.Merge(t, fifth.Number, "rebase")
	r.ExpectEmptyPlan()
	r.expectTree("dev", "large/app-a", "4")

	// Destroy.
	r.options("deletion_protection", false)
	r.Apply()
	head := r.head()
	if o := r.Succeed("destroy", "-no-color", "-auto-approve"); !strings.Contains(o.Text(),
		"A pull request removes the rendering") {
		t.Errorf("the destroy: %s", o.Text())
	}
	removal := r.expectPulls("merged", "closed", "merged", "merged", "open")
	if r.head() != head {
		t.Error("the destroy moved the target branch")
	}
	r.on.Merge(t, removal.Number, "squash")
	got := gitserver.Tree(t, r.on.Path, "dev")
	if diff := cmp.Diff([]string{".github/tracking/Promoted_Commit_Id", "README.md", "apps/a.yaml"},
		slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("after the destroy (-want +got):\n%s", diff)
	}
}

// New labels are added to the open pull request, even if the old and the new list of labels look the same when they are
// joined.
func TestAccPullRequestLabels(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.delivery("labels", []string{"team a"})
	r.Apply()
	r.delivery("labels", []string{"a", "team"})
	r.Apply()
	got := r.expectPulls("open").Labels
	for _, label := range []string{"a", "team", "team a"} {
		if !slices.Contains(got, label) {
			t.Errorf("the pull request has the labels %q, without %q", got, label)
		}
	}
}
