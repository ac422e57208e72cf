package rendering_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccPullRequestDrift: foreign commits on our branch are drift if they change the proposed tree.
func TestAccPullRequestDrift(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.Apply()
	first := r.expectPulls("open")
	gitserver.Seed(t, r.on.Path, first.Head, map[string]string{"large/app-a/reconciler.yaml": "hotfix\n"})
	r.ExpectError([]string{"Drift: rendered folders changed outside Terraform", "branch \"" + first.Head + "\"",
		"large/app-a/reconciler.yaml", "Somebody"}, "plan", "-no-color")
	r.options("on_drift", "overwrite")
	if o := r.Apply(); !strings.Contains(o.Text(), "Changes made outside Terraform are overwritten") {
		t.Errorf("the apply: %s", o.Text())
	}
	r.ExpectEmptyPlan()
	if now := r.expectPulls("open"); now.Number != first.Number {
		t.Errorf("pull request %d became %d", first.Number, now.Number)
	}
	r.expectTree(first.Head, "large/app-a", "1")

	// After a merge with commits of people, the target branch does not contain the proposed tree.
	r.options("on_drift", "fail")
	r.Apply()
	gitserver.Seed(t, r.on.Path, first.Head, map[string]string{"large/app-a/reconciler.yaml": "hotfix\n"})
	r.on.Merge(t, first.Number, "squash")
	r.ExpectError([]string{"Drift: rendered folders changed outside Terraform", "branch \"dev\"",
		"merged together with other people's changes", "- large"}, "plan", "-no-color")
}

// TestAccPullRequestClosed: a pull request that people closed stays closed, with or without its branch, until there is
// another change to propose, or until reopen is set. If people delete the branch of an open pull request, they close
// the pull request, too.
func TestAccPullRequestClosed(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.Apply()
	first := r.expectPulls("open")
	gitserver.Git(t, r.on.Path, "update-ref", "-d", "refs/heads/"+first.Head) // GitHub closes the pull request
	r.expectWarning("Pull request 1 ", "was closed without being merged")
	r.delivery("reopen", true)
	r.Apply()
	r.ExpectEmptyPlan()
	second := r.expectPulls("closed", "open")
	if second.Head != first.Head {
		t.Errorf("another branch: %s, then %s", first.Head, second.Head)
	}
	// People reopen the pull request.
	r.delivery()
	r.Apply()
	r.on.Close(t, second.Number)
	r.expectWarning("was closed without being merged")
	r.on.Reopen(t, second.Number)
	r.ExpectEmptyPlan()
	r.refresh()
	r.expectDelivered(false, "open")
	// If people change the target branch of the pull request, it is foreign from then on.
	gitserver.Git(t, r.on.Path, "branch", "live", "dev")
	r.on.Retarget(t, second.Number, "live")
	r.expectWarning("or was changed to merge into another branch")
	r.on.Retarget(t, second.Number, "dev")
	// After the state was lost, a pull request that people closed stays closed, with a warning.
	r.on.Close(t, second.Number)
	r.Succeed("state", "rm", renderingAddress)
	if o := r.Apply(); !strings.Contains(o.Text(), "The pull request was closed") {
		t.Errorf("the apply: %s", o.Text())
	}
	r.expectPulls("closed", "closed")
}

// TestAccPullRequestIgnoresForeignPullRequests: an apply does not change pull requests and branches of people or of
// other renderings, even if they have the same target branch.
func TestAccPullRequestIgnoresForeignPullRequests(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	gitserver.Git(t, r.on.Path, "branch", "theirs", "dev")
	gitserver.Seed(t, r.on.Path, "theirs", map[string]string{"apps/a.yaml": "theirs\n"})
	theirs := r.on.Open(t, "eve", "theirs", "dev", "Theirs", "Like <!-- kalypso-rendering: … -->")
	at := gitserver.Rev(t, r.on.Path, "theirs")

	r.setDestination("path", "clusters")
	r.options("promoted_commit", "one", "deletion_protection", false)
	r.Apply()
	ours := r.last()
	second := newReviewed(t)
	second.fake, second.on, second.repo = r.fake, r.on, r.repo
	second.setDestination("repo", r.on.URL, "path", "stage")
	second.Set("github", map[string]any{"base_url": r.fake.URL, "token": r.fake.Token})
	second.Set("environment", "stage")
	second.options("promoted_commit", "two", "deletion_protection", false)
	second.Apply()
	if other := r.last(); other.Head == ours.Head || len(r.pulls()) != 3 {
		t.Errorf("two renderings share %+v", other)
	}
	r.ExpectEmptyPlan()
	second.ExpectEmptyPlan()
	// Both pull requests write the promoted commit. Once one of them is merged, an apply updates the other one.
	r.on.Merge(t, ours.Number, "squash")
	r.ExpectEmptyPlan()
	second.Apply()
	second.ExpectEmptyPlan()
	r.on.Merge(t, r.last().Number, "merge")
	second.ExpectEmptyPlan()
	r.ExpectEmptyPlan()
	r.expectTree("dev", "clusters/large/app-a", "1")
	r.expectTree("dev", "stage/large/app-a", "1")

	second.Succeed("destroy", "-no-color", "-auto-approve")
	r.on.Merge(t, r.last().Number, "rebase")
	r.ExpectEmptyPlan()
	r.Set("value", "2")
	r.Apply()
	if gitserver.Rev(t, r.on.Path, "theirs") != at {
		t.Error("a foreign branch was moved")
	}
	for _, p := range r.on.PullRequests() {
		if p.Number == theirs && (p.State != "open" || p.HeadCommit != at || p.Title != "Theirs" || len(p.Labels) > 0) {
			t.Errorf("the foreign pull request: %+v", p)
		}
	}
}

// TestAccPullRequestMoves: after a move, the tree is proposed at the new location. After a change to the strategy none,
// the pull request stays open.
func TestAccPullRequestMoves(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.options("promoted_commit", "one", "guardrails", anyRemoval)
	r.Apply()
	r.setDestination("path", "clusters")
	r.Apply()
	r.ExpectEmptyPlan()
	moved := r.expectPulls("closed", "open")
	r.expectTree(moved.Head, "clusters/large/app-a", "1")
	r.on.Merge(t, moved.Number, "squash")
	r.ExpectEmptyPlan()
	// Within a branch, one pull request writes the new location and removes the previous one.
	r.setDestination("path", "fleet")
	r.Apply()
	within := r.expectPulls("closed", "merged", "open")
	if len(within.Labels) > 0 || !slices.Contains(moved.Labels, "promoted") {
		t.Errorf("labels %v, then %v: the second pull request does not change the promoted commit",
			moved.Labels, within.Labels)
	}
	r.on.Merge(t, within.Number, "squash")
	r.ExpectEmptyPlan()
	if got := gitserver.Tree(t, r.on.Path, "dev"); got["clusters/large/README.md"] != "" ||
		got["fleet/large/README.md"] == "" {
		t.Error("the tree is not at the new location alone")
	}
	// After the merge, the strategy push has nothing to write, and no pull request to show.
	r.options("delivery", map[string]any{"strategy": "push"})
	head := gitserver.Rev(t, r.on.Path, "dev")
	r.Apply()
	if shown := r.Rendered(); shown["pull_request"] != nil || shown["commit_sha"] != head {
		t.Errorf("with the strategy push: %v, at %v", shown["pull_request"], shown["commit_sha"])
	}
	if now := gitserver.Rev(t, r.on.Path, "dev"); now != head {
		t.Errorf("the apply made the commit %s", now)
	}
	r.ExpectEmptyPlan()
	r.delivery()
	r.Apply()
	r.ExpectEmptyPlan()
	// With the strategy none, the pull request stays open, with a warning.
	r.Set("value", "2")
	r.Apply()
	r.options("delivery", map[string]any{"strategy": "none"})
	if o := r.Apply(); !strings.Contains(o.Text(), "The pull request stays open") {
		t.Errorf("the apply: %s", o.Text())
	}
	r.ExpectEmptyPlan()
}

// TestAccPullRequestWithoutMarkerAndState: if people rewrite the description of a pull request and the state is lost,
// its owner is unknown, and the plan fails before anything is pushed.
func TestAccPullRequestWithoutMarkerAndState(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.Apply()
	ours := r.last()
	r.on.Edit(t, ours.Number, ours.Title, "Mine")
	r.Succeed("state", "rm", renderingAddress)
	r.ExpectError([]string{"The branch has another pull request", "pull request 1 (", ours.Head, "Restore the line",
		"branch_prefix"}, "plan", "-no-color")
	if p := r.last(); p.Body != "Mine" || p.HeadCommit != ours.HeadCommit {
		t.Errorf("the pull request became %+v", p)
	}
}

// TestAccPullRequestInput: wrong arguments fail the plan at the argument. So does a repo that does not exist or is on
// another host.
func TestAccPullRequestInput(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	r.delivery("branch_prefix", "no blanks ", "labels", []string{""}, "reviewers", []string{"a b"}, "draft", true,
		"auto_merge", "squash")
	r.ExpectError(
		[]string{"Invalid branch prefix", "Invalid label", "Invalid reviewer", "Conflicting arguments: draft and auto-merge"},
		"plan",
		"-no-color",
	)
	r.delivery("auto_merge", "fast-forward")
	r.ExpectError([]string{`"merge" "squash" "rebase"`}, "plan", "-no-color")
	r.delivery("reviewers", []string{"octocat", "other/team"})
	r.ExpectError([]string{"Cannot request reviewers", "team other/team does not belong to acme"}, "plan",
		"-no-color")
	r.delivery("owners", []any{
		map[string]any{"reviewers": []string{"octocat"}},
		map[string]any{"workspace": "kaizen", "reviewers": []string{"a b"}},
		map[string]any{"cluster_types": []string{"large"}, "reviewers": []string{"octocat"}},
		map[string]any{"cluster_types": []string{"large"}, "reviewers": []string{"ann"}},
	})
	r.ExpectError([]string{"Owner without folders", "Invalid reviewer", "Owner given twice", "Owner of no folder"}, "plan",
		"-no-color")
	r.delivery("owners", []any{map[string]any{"cluster_types": []string{"large"}, "reviewers": []string{"other/team"}}})
	r.ExpectError([]string{"Cannot request reviewers", "team other/team does not belong to acme"}, "plan", "-no-color")
	r.delivery()
	r.setDestination("repo", "file://"+r.on.Path)
	r.ExpectError([]string{"Pull requests need a Git host", `strategy = "push"`}, "plan", "-no-color")
	r.setDestination("repo", "https://git.acme.io/acme/gitops")
	r.ExpectError([]string{"Repo is on no configured host"}, "plan", "-no-color")
	r.setDestination("repo", r.fake.URL+"/acme/other")
	r.ExpectError([]string{"Repo not found, or not visible"}, "plan", "-no-color")
	r.setDestination("repo", r.on.URL, "branch", "nowhere")
	r.options("create_branch", true)
	r.ExpectError([]string{"Branch not found", "A pull request needs a branch that exists"}, "plan", "-no-color")
}

// TestAccPullRequestSecrets: an App is the only credential, also for Git. No text for people contains a credential, and
// texts contain values only with describe = "values".
func TestAccPullRequestSecrets(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	app := r.fake.AddApp(t)
	r.Set("github", map[string]any{"base_url": r.fake.URL, "app": map[string]any{
		"id": app.ID, "installation_id": app.InstallationID, "private_key": app.PrivateKey,
	}})
	r.Set("value", "canary-one")
	r.Apply()
	r.on.Merge(t, r.last().Number, "merge")
	r.Set("value", "canary-two")
	r.Apply()
	r.delivery("describe", "values")
	r.Apply() // describe = "values" does not change the proposal; from then on, previous values are stored
	for _, p := range r.on.PullRequests() {
		for _, secret := range []string{"canary", "ghs_", "PRIVATE KEY"} {
			if strings.Contains(p.Body+p.Title, secret) {
				t.Errorf("pull request %d contains %q:\n%s", p.Number, secret, p.Body)
			}
		}
	}
	r.on.Merge(t, r.last().Number, "merge")
	r.Set("value", "canary-three")
	r.Apply()
	if body := r.last().Body; !strings.Contains(body, "`canary-three`") {
		t.Errorf("the values are not described:\n%s", body)
	}
	for _, p := range r.on.PullRequests() {
		if p.Author != "kalypso[bot]" {
			t.Errorf("pull request %d is by %s", p.Number, p.Author)
		}
	}
	state, err := os.ReadFile(r.Folder + "/terraform.tfstate")
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"ghs_", "PRIVATE KEY"} {
		if strings.Contains(string(state)+r.Printed.String(), secret) {
			t.Errorf("%q is in the state or was printed", secret)
		}
	}
}

// TestAccPullRequestLarge: with any number of changes, GitHub accepts the description, and the number of requests is
// the same.
func TestAccPullRequestLarge(t *testing.T) {
	t.Parallel()
	r := newReviewed(t)
	asked := func(value string, targets int) (calls int) {
		t.Helper()
		all := make([]map[string]any, targets)
		for i := range all {
			all[i] = map[string]any{
				"name": fmt.Sprint(strings.Repeat("n", 30), "-", i), "labels": map[string]string{"type": "large"},
				"environment": "dev",
			}
		}
		manifests := map[string]string{}
		for part := range slices.Chunk(all, 2000) { // as many as the default limits allow for one workload
			name := fmt.Sprint("many-", len(manifests))
			workload := map[string]any{
				"apiVersion": "scheduler.kalypso.io/v1alpha1", "kind": "Workload", "metadata": map[string]any{"name": name},
				"spec": map[string]any{"deploymentTargets": part},
			}
			text, err := json.Marshal(workload)
			if err != nil {
				t.Fatal(err)
			}
			manifests[name+".yaml"] = string(text)
		}
		r.options("manifests", manifests, "preview", "none")
		r.Set("value", value)
		r.fake.ResetLog()
		r.Apply()
		calls = len(r.fake.Requests())
		if n := len([]rune(r.last().Body)); n > 65536 {
			t.Errorf("the description has %d characters", n)
		}
		return calls
	}
	few := asked("1", 2)
	r.on.Merge(t, r.last().Number, "merge")
	asked("2", 3400)
	r.ExpectEmptyPlan()
	r.on.Merge(t, r.last().Number, "merge")
	r.refresh()
	if many := asked("3", 3400); many > few {
		t.Errorf("%d calls for 10,200 changed files, and %d for few", many, few)
	}
}
