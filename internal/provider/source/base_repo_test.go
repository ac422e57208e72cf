package source_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// baseRepo is the repo of a control plane with the branch "stage".
type baseRepo struct {
	t     *testing.T
	fake  *githubfake.Server // nil if the repo is on this machine
	pulls *githubfake.Repo
	at    string // path of the bare repo
	url   string
}

// baseRepoRoot is a root module with a kalypso_base_repo for the branch.
type baseRepoRoot struct {
	*acc.Root
	baseRepo
}

const (
	baseRepoAddress = "kalypso_base_repo.this"
	baseRepoFile    = `# Which commit of main this environment runs.
apiVersion: scheduler.kalypso.io/v1alpha1
kind: BaseRepo
metadata:
  name: main
spec:
  branch: main
  commit: '%s'   # the workflow writes this
  path: .
  repo: %s
`
)

// commitOf returns the hash of a commit, made of one digit.
func commitOf(digit int) string { return strings.Repeat(fmt.Sprint(digit), 39) + "a" }

func newBaseRepo(t *testing.T) baseRepo {
	t.Helper()
	r := baseRepo{t: t, at: gitserver.InitBare(t)}
	r.url = "file://" + r.at
	r.seed()
	return r
}

// newGitHubBaseRepo returns the same repo on a fake GitHub.
func newGitHubBaseRepo(t *testing.T) baseRepo {
	t.Helper()
	r := baseRepo{t: t, fake: githubfake.New(t)}
	r.pulls = r.fake.AddRepo(t, "acme/control-plane")
	r.at, r.url = r.pulls.Path, r.pulls.URL
	r.seed()
	return r
}

func (r baseRepo) seed() {
	r.t.Helper()
	gitserver.Seed(r.t, r.at, "stage", map[string]string{"base-repo.yaml": r.file(1), "stage.yaml": "a: b\n"})
}

func newBaseRepoRoot(t *testing.T) *baseRepoRoot {
	t.Helper()
	r := &baseRepoRoot{Root: acc.NewRootFrom(t, "testdata/TestAccBaseRepo"), baseRepo: newBaseRepo(t)}
	r.start(map[string]any{})
	return r
}

// newBaseRepoOnGitHub returns the same root module with a repo on a fake GitHub, to which it delivers by pull request.
func newBaseRepoOnGitHub(t *testing.T) *baseRepoRoot {
	t.Helper()
	r := &baseRepoRoot{Root: acc.NewRootFrom(t, "testdata/TestAccBaseRepo"), baseRepo: newGitHubBaseRepo(t)}
	r.start(map[string]any{"github": map[string]any{"base_url": r.fake.URL, "token": r.fake.Token},
		"delivery": map[string]any{"strategy": "pull_request"}})
	return r
}

func (r *baseRepoRoot) start(vars map[string]any) {
	r.T.Helper()
	r.Vars = vars
	r.Set("repo", r.url)
}

func (r *baseRepoRoot) promote(digit int) {
	r.T.Helper()
	r.Set("promotion", promotionOf(digit))
}

// promotionOf returns a promotion of the commit with a digit.
func promotionOf(digit int) map[string]any {
	return map[string]any{
		"commit": commitOf(digit), "reason": fmt.Sprintf("Gate %d holds.", digit),
		"summary": fmt.Sprintf("Gate %d holds. [skip ci]", digit),
	}
}

// file returns the file with a commit, as the test wrote it first.
func (r baseRepo) file(digit int) string {
	return fmt.Sprintf(baseRepoFile, commitOf(digit), r.url)
}

// expectPinned fails the test unless the file on the branch pins the commit. The provider writes the commit without
// quotes.
func (r baseRepo) expectPinned(digit int) {
	r.t.Helper()
	want := r.file(digit)
	if got := gitserver.Tree(r.t, r.at, "stage"); got["base-repo.yaml"] != want || got["stage.yaml"] != "a: b\n" {
		r.t.Fatalf("the branch contains\n%s\nwant\n%s", got, want)
	}
}

func (r *baseRepoRoot) attribute(name string) any {
	r.T.Helper()
	return r.AttributesOf("kalypso_base_repo")[name]
}

// With the strategy push, an apply changes only the pinned commit in the file, with one commit. An apply without
// changes makes no commit.
func TestAccBaseRepo(t *testing.T) {
	t.Parallel()
	r := newBaseRepoRoot(t)
	r.promote(2)
	if out := r.Succeed("plan", "-no-color").Text(); !strings.Contains(
		out,
		"pins "+commitOf(1)+". The apply sets it to",
	) {
		t.Errorf("the plan does not name the commit that it replaces:\n%s", out)
	}
	r.Apply()
	r.expectPinned(2)
	r.ExpectEmptyPlan()
	head := gitserver.Rev(t, r.at, "stage")
	if r.attribute("commit_sha") != head || r.attribute("delivered") != true || r.attribute("pull_request") != nil {
		t.Errorf("the state is %v", r.AttributesOf("kalypso_base_repo"))
	}
	message := gitserver.Git(t, r.at, "log", "-1", "--format=%B", "stage")
	acc.ExpectTexts(t, message, "Set the base of stage to 2222", "Promoted commit: "+commitOf(2), "- Gate 2 holds.")
	if strings.Contains(message, "skip ci") {
		t.Errorf("the message contains the summary:\n%s", message)
	}
	r.ExpectIdentity(baseRepoAddress, map[string]any{"repo": r.url, "branch": "stage"})

	r.Set("promotion", map[string]any{"commit": commitOf(2), "summary": "Nothing newer."}) // no change
	r.ExpectEmptyPlan()
	// Foreign commits to other files change nothing, either.
	gitserver.Seed(t, r.at, "stage", map[string]string{"other.yaml": "c: d\n"})
	r.ExpectEmptyPlan()

	// A promotion that takes no other commit keeps the pinned commit, although the GitOps branch does not track it yet.
	for _, decision := range []string{"hold", "up_to_date"} {
		r.Set("promotion", map[string]any{"commit": commitOf(1), "decision": decision})
		r.ExpectEmptyPlan()
	}
	r.promote(3)
	plan := r.Succeed("plan", "-no-color").Stdout
	acc.ExpectTexts(t, plan, "-   commit: '"+commitOf(2), "+   commit: '"+commitOf(3),
		"Plan: 0 to add, 1 to change, 0 to destroy.")
	r.Apply()
	r.expectPinned(3)
	r.ExpectEmptyPlan()
	if log := gitserver.Log(t, r.at, "stage"); len(log) != 4 {
		t.Errorf("the branch has the commits %q", log)
	}

	head = gitserver.Rev(t, r.at, "stage")
	r.Succeed("destroy", "-no-color", "-auto-approve")
	if gitserver.Rev(t, r.at, "stage") != head {
		t.Error("the destroy changed the branch")
	}
}

// A foreign commit causes an error that names it, or is overwritten. It is accepted if it pins the commit to promote.
func TestAccBaseRepoDrift(t *testing.T) {
	t.Parallel()
	r := newBaseRepoRoot(t)
	r.promote(2)
	r.Apply()
	drift := gitserver.Seed(t, r.at, "stage", map[string]string{"base-repo.yaml": r.file(4)})
	r.ExpectError([]string{"Drift: BaseRepo changed outside Terraform",
		commitOf(2) + " after the last apply, and pins " + commitOf(4), "commit " + drift, "on_drift"}, "plan", "-no-color")
	r.Set("on_drift", "overwrite")
	acc.ExpectTexts(t, r.Succeed("plan", "-no-color").Text(),
		"Changes made outside Terraform are overwritten", "commit "+drift)
	r.Apply()
	r.expectPinned(2)
	r.Set("on_drift", "fail")
	r.expectEmptyPlanAfterApply()

	gitserver.Seed(t, r.at, "stage", map[string]string{"base-repo.yaml": r.file(5)})
	r.promote(5) // another person has set this commit in the meantime
	r.expectEmptyPlanAfterApply()
	r.promote(6)
	r.Apply()
	r.expectPinned(6)

	gitserver.Seed(t, r.at, "stage", map[string]string{"base-repo.yaml": "a: b\n"})
	r.ExpectError([]string{"The BaseRepo can't be changed", "must contain one BaseRepo"}, "plan", "-no-color")
	gitserver.Git(t, r.at, "update-ref", "-d", "refs/heads/stage")
	r.ExpectError([]string{"The branch no longer exists", "Branch not found"}, "plan", "-no-color")
}

// expectEmptyPlanAfterApply applies, since the state may have to change. It expects no commit, and an empty plan after
// it.
func (r *baseRepoRoot) expectEmptyPlanAfterApply() {
	r.T.Helper()
	head := gitserver.Rev(r.T, r.at, "stage")
	r.Apply()
	r.ExpectEmptyPlan()
	if gitserver.Rev(r.T, r.at, "stage") != head {
		r.T.Error("an apply without a change made a commit")
	}
}

// TestBaseRepoBadInput: a wrong argument fails the plan at that argument, and nothing is written.
func TestBaseRepoBadInput(t *testing.T) {
	t.Parallel()
	r := newBaseRepo(t)
	head := gitserver.Rev(t, r.at, "stage")
	gitserver.Seed(t, r.at, "empty", map[string]string{"README.md": "empty\n"})
	promotion := func(pairs ...any) map[string]any {
		p := map[string]any{"commit": commitOf(2)}
		for i := 0; i < len(pairs); i += 2 {
			p[fmt.Sprint(pairs[i])] = pairs[i+1]
		}
		return p
	}
	for name, tc := range map[string]struct {
		at    string // the argument of the error
		given map[string]any
		says  []string
	}{
		"no promotion": {"promotion", map[string]any{"promotion": nil}, []string{"Missing promotion"}},
		"a short commit": {"promotion", map[string]any{"promotion": promotion("commit", "abc")},
			[]string{"Invalid promoted commit", "full commit hash"}},
		"a commit of another repo": {"promotion", map[string]any{"promotion": promotion("control_plane",
			map[string]any{"repo": "https://git.acme.io/other", "branch": "main"})},
			[]string{"Promotion from another repo", "https://git.acme.io/other"}},
		"no branch": {"branch", map[string]any{"branch": "prod"}, []string{"Branch not found", `"prod"`}},
		"no file": {"promotion", map[string]any{"branch": "empty"},
			[]string{"No BaseRepo on the branch", "pass a kalypso_promotion as a whole"}},
		"an invalid branch name": {"branch", map[string]any{"branch": "a..b"}, []string{"Invalid branch name"}},
		"a blank message": {"commit_message", map[string]any{"commit_message": " \n"},
			[]string{"Invalid commit message"}},
		"an invalid reviewer": {"delivery", map[string]any{"delivery": map[string]any{"reviewers": []any{"a b"}}},
			[]string{"Invalid reviewer", "delivery.reviewers"}},
		"pull request without a Git host": {"delivery",
			map[string]any{"delivery": map[string]any{"strategy": "pull_request"}},
			[]string{"Pull requests need a Git host", "is a folder on this machine", `delivery.strategy = "push"`}},
		"pull request without a credential": {"delivery", map[string]any{"repo": "https://gitlab.com/acme/control-plane",
			"delivery": map[string]any{"strategy": "pull_request"}},
			[]string{"No credential for GitLab", "or the environment variable GITLAB_TOKEN."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := map[string]any{"repo": r.url, "branch": "stage", "promotion": promotion()}
			maps.Copy(given, tc.given)
			run := &acc.ProtocolRun{T: t, Config: map[string]any{}, Resource: protocol.Resource{Type: "kalypso_base_repo"}}
			applied, ds := run.TryRun(given)
			if applied || len(ds) != 1 || !ds.HasErrors() ||
				!ds[0].Attribute.Equal(tftypes.NewAttributePath().WithAttributeName(tc.at)) {
				t.Fatalf("applied: %t\n%s", applied, ds)
			}
			acc.ExpectTexts(t, strings.Join(strings.Fields(ds.String()), " "), tc.says...)
			if gitserver.Rev(t, r.at, "stage") != head {
				t.Error("a refused plan wrote to the branch")
			}
		})
	}
}

// If the promotion is known after apply, so is the content of the file. If the server refuses the push, the apply fails
// and does not change the state.
func TestAccBaseRepoUnknown(t *testing.T) {
	t.Parallel()
	r := newBaseRepoRoot(t)
	r.Set("unknown", true)
	r.promote(2)
	acc.ExpectTexts(t, r.Succeed("plan", "-no-color").Stdout, "+ content      = (known after apply)",
		"+ promotion    = (known after apply)")
	r.Apply()
	r.expectPinned(2)
	r.ExpectEmptyPlan()

	r.promote(3)
	acc.ExpectTexts(t, r.Succeed("plan", "-no-color").Stdout, "(known after apply)")
	gitserver.Hook(t, r.at, "pre-receive", "protected branch", 1)
	r.ExpectError([]string{"The server refused the push", "protected branch", "pull_request"},
		"apply", "-no-color", "-auto-approve")
	r.expectPinned(2)
	gitserver.Hook(t, r.at, "pre-receive", "", 0)
	r.Apply()
	r.expectPinned(3)
	r.ExpectEmptyPlan()
}

// If a branch lacks the file, the apply writes it with the base of the promotion, as Kalypso's workflows do.
func TestAccBaseRepoCreatesFile(t *testing.T) {
	t.Parallel()
	r := newBaseRepoRoot(t)
	gitserver.Seed(t, r.at, "empty", map[string]string{"README.md": "empty\n"})
	r.Set("branch", "empty")
	r.Set("promotion", map[string]any{
		"commit": commitOf(2), "control_plane": map[string]any{"repo": r.url, "branch": "main"},
	})
	r.Apply()
	r.ExpectEmptyPlan()
	want := "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: BaseRepo\nmetadata:\n  name: main\nspec:\n  repo: " + r.url +
		"\n  branch: main\n  path: .\n  commit: " + commitOf(
		2,
	) + "\n"
	if got := gitserver.Tree(t, r.at, "empty")["base-repo.yaml"]; got != want {
		t.Errorf("the file is\n%s", got)
	}
}

// An import reads the pinned commit from the branch. A move writes the file at the new location, and does not change
// the file at the previous one.
func TestAccBaseRepoImport(t *testing.T) {
	t.Parallel()
	r := newBaseRepoRoot(t)
	r.promote(1)
	r.ExpectError([]string{"Invalid import ID", "<repo>?ref=<branch>"}, "import", "-no-color", baseRepoAddress, r.url)
	r.ExpectError([]string{"Invalid import ID"}, "import", "-no-color", baseRepoAddress, r.url+"//a?ref=stage")
	r.ExpectError([]string{"Invalid import ID", `"https://(secret)@acme.io/a//b?ref=stage"`}, "import", "-no-color",
		baseRepoAddress, "https://me:canary@acme.io/a//b?ref=stage")
	r.ExpectError([]string{"Branch not found"}, "import", "-no-color", baseRepoAddress, r.url+"?ref=gone")
	r.Succeed("import", "-no-color", baseRepoAddress, r.url+"?ref=stage")
	r.ExpectEmptyPlan()

	r.promote(2)
	gitserver.Seed(t, r.at, "prod", map[string]string{"base-repo.yaml": r.file(1)})
	r.Set("branch", "prod")
	r.Apply()
	r.ExpectEmptyPlan()
	if got := gitserver.Tree(t, r.at, "stage")["base-repo.yaml"]; got != r.file(1) {
		t.Errorf("the file at the previous location has changed:\n%s", got)
	}
	if got := gitserver.Tree(t, r.at, "prod")["base-repo.yaml"]; !strings.Contains(got, commitOf(2)) {
		t.Errorf("the file at the new location has not changed:\n%s", got)
	}
	r.Succeed("state", "rm", baseRepoAddress)
	r.Set("promotion", map[string]any{"commit": commitOf(1), "decision": "hold"})
	r.Apply() // a resource whose state was lost makes no commit, either
	r.ExpectEmptyPlan()
	if got := gitserver.Tree(t, r.at, "prod")["base-repo.yaml"]; !strings.Contains(got, commitOf(2)) {
		t.Errorf("a promotion with the decision hold changed the file:\n%s", got)
	}
	r.promote(2)
	r.Succeed("state", "rm", baseRepoAddress)
	if r.ImportByIdentity(baseRepoAddress, fmt.Sprintf(`{ repo = %q, branch = "prod" }`, r.url)) {
		r.ExpectEmptyPlan()
	}
}

// An apply with an outdated plan fails and writes nothing.
func TestAccBaseRepoOutdatedPlan(t *testing.T) {
	t.Parallel()
	r := newBaseRepoRoot(t)
	r.promote(2)
	r.Apply()
	r.promote(3)
	r.Succeed("plan", "-no-color", "-out=plan")
	head := gitserver.Seed(t, r.at, "stage", map[string]string{"base-repo.yaml": r.file(4)})
	r.ExpectError([]string{"The branch moved after the plan was made", commitOf(4)}, "apply", "-no-color", "plan")
	if got := gitserver.Rev(t, r.at, "stage"); got != head {
		t.Error("the apply wrote to the branch")
	}
}

// With pull requests, a promoted commit gets a pull request, which the resource follows until it is merged or closed. A
// destroy closes the pull request.
func TestAccBaseRepoPullRequest(t *testing.T) {
	t.Parallel()
	r := newBaseRepoOnGitHub(t)
	r.promote(2)
	r.Set("delivery", map[string]any{"strategy": "pull_request", "reviewers": []string{"other/team"}})
	r.ExpectError([]string{"Cannot request reviewers", "team other/team does not belong to acme"}, "plan",
		"-no-color")
	r.Set("delivery", map[string]any{"strategy": "pull_request"})
	r.Apply()
	r.ExpectEmptyPlan()
	state := func(wants ...string) {
		t.Helper()
		var got []string
		for _, p := range r.pulls.PullRequests() {
			got = append(got, p.State)
		}
		if fmt.Sprint(got) != fmt.Sprint(wants) {
			t.Fatalf("the pull requests are %v, want %v", got, wants)
		}
	}
	state("open")
	first := r.pulls.PullRequests()[0]
	acc.ExpectTexts(t, first.Body, "**Promoted commit:**", "Gate 2 holds.", "`base-repo.yaml`")
	if first.Base != "stage" || !strings.HasPrefix(first.Head, "deployment/base-repo-stage-") ||
		!strings.HasPrefix(first.Title, "Set the base of stage to 2222") || first.Labels[0] != "promoted" {
		t.Errorf("the pull request is %+v", first)
	}
	if r.attribute("delivered") != false || r.attribute("commit_sha") != nil {
		t.Errorf("the state is %v", r.AttributesOf("kalypso_base_repo"))
	}

	r.promote(3) // the same pull request
	r.Apply()
	r.ExpectEmptyPlan()
	state("open")
	r.Set("promotion", map[string]any{"commit": commitOf(1), "decision": "hold"}) // the pull request stays open
	r.ExpectEmptyPlan()
	r.promote(3)
	merged := r.pulls.Merge(t, 1, "squash")
	r.Apply("-refresh-only")
	r.expectPinned(3)
	r.ExpectEmptyPlan()
	if r.attribute("delivered") != true || r.attribute("commit_sha") != merged {
		t.Errorf("the state is %v", r.AttributesOf("kalypso_base_repo"))
	}

	r.promote(4)
	r.Apply()
	state("merged", "open")
	r.pulls.Close(t, 2)
	r.Apply("-refresh-only")
	acc.ExpectTexts(t, r.expectEmptyPlanText(), "The pull request was closed", "pull request 2")
	r.promote(5)
	r.Apply()
	state("merged", "closed", "open")
	r.Set("delivery", map[string]any{"strategy": "push"})
	r.Apply()
	r.expectPinned(5)
	r.ExpectEmptyPlan()
	state("merged", "closed", "closed")

	r.Set("delivery", map[string]any{"strategy": "pull_request"})
	r.promote(6)
	r.Apply()
	r.Succeed("destroy", "-no-color", "-auto-approve")
	state("merged", "closed", "closed", "closed")
	r.expectPinned(5)
	if branches := gitserver.Git(t, r.at, "branch", "--list", "deployment/*"); strings.TrimSpace(branches) != "" {
		t.Errorf("the destroy left the branches %s", branches)
	}
}

// expectEmptyPlanText returns the text of a plan without a change.
func (r *baseRepoRoot) expectEmptyPlanText() string {
	r.T.Helper()
	out := r.Terraform("plan", "-no-color", "-detailed-exitcode")
	if out.Code != 0 {
		r.T.Fatalf("the plan is not empty:\n%s", out.Text())
	}
	return out.Text()
}

// If GitHub merges the pull request at once, the same apply delivers the commit. If the pull request is not merged in
// time, the apply fails, and the next apply continues with the pull request.
func TestAccBaseRepoPullRequestMerges(t *testing.T) {
	t.Parallel()
	r := newBaseRepoOnGitHub(t)
	r.Set("delivery", map[string]any{"strategy": "pull_request", "auto_merge": "squash"})
	r.promote(2)
	r.Apply()
	r.expectPinned(2)
	r.ExpectEmptyPlan()
	if r.AttributesOf("kalypso_base_repo")["delivered"] != true {
		t.Errorf("the state is %v", r.AttributesOf("kalypso_base_repo"))
	}

	r.Write("timeouts_override.tf", `resource "kalypso_base_repo" "this" { timeouts = { update = "10s" } }`)
	r.Set("delivery", map[string]any{"strategy": "pull_request", "wait_for_merge": true})
	r.promote(3)
	r.ExpectError([]string{"The pull request is not merged yet", "the next apply continues to wait"},
		"apply", "-no-color", "-auto-approve")
	r.pulls.Merge(t, 2, "merge")
	r.Apply()
	r.expectPinned(3)
	r.ExpectEmptyPlan()
	if pulls := r.pulls.PullRequests(); len(pulls) != 2 {
		t.Errorf("%d pull requests", len(pulls))
	}
}

// The pull request's branch is ours, but foreign commits on it are not overwritten.
func TestAccBaseRepoPullRequestWithForeignCommits(t *testing.T) {
	t.Parallel()
	r := newBaseRepoOnGitHub(t)
	r.promote(2)
	r.Apply()
	r.Succeed("state", "rm", baseRepoAddress)
	pulls := r.pulls.PullRequests()
	theirs := gitserver.Seed(t, r.at, pulls[0].Head, map[string]string{"extra.yaml": "x: y\n"})
	r.ExpectError([]string{"The pull request's branch is not ours", "people pushed to the branch"}, "plan", "-no-color")
	if got := gitserver.Rev(t, r.at, pulls[0].Head); got != theirs {
		t.Error("the foreign commit is gone")
	}
}
