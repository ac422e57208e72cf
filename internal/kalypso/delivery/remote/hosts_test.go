package remote_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/report"
	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/azuredevopsfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/gitlabfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// newReviewedIn returns a rendering on a host other than GitHub, with the folder of its repo.
func newReviewedIn(t *testing.T, world hostingtest.World) (r *reviewed, folder string) {
	t.Helper()
	repo := world.AddRepo(t)
	gitserver.Seed(t, repo.Remote(), "dev", map[string]string{"README.md": "hello\n"})
	host := world.Host(t, hostingtest.Writer)
	return newReviewedOn(t, hosts.GitClient(t, host, repo.URL()), host, repo.URL()), repo.Remote()
}

// TestLateHead: the head commit of an open pull request is the head of our branch, after each apply and each refresh,
// although the host still shows an older one. So a plan after an apply is empty with an output of it.
func TestLateHead(t *testing.T) {
	t.Parallel()
	for name, newWorld := range map[string]func(*testing.T) hostingtest.World{
		"Azure DevOps": hosts.AzureDevOps(azuredevopsfake.WithLag(1000)), "GitLab": hosts.GitLab(gitlabfake.WithLag(1000)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, folder := newReviewedIn(t, newWorld(t))
			expect := func(when string) {
				t.Helper()
				if head := gitserver.Rev(t, folder, r.shown.Branch); r.shown.HeadCommit != head {
					t.Errorf("%s, the head commit is %s, want %s", when, r.shown.HeadCommit, head)
				}
			}
			for _, step := range []struct {
				name string
				with func()
			}{
				{"opened", func() {}},
				{"changed", func() { r.value = "2" }},
				{"labelled", func() { r.desired.PullRequest.Labels = []string{"a"} }},
				{"frozen", func() { r.freeze("an incident") }},
				{"no longer frozen", func() { r.freeze("") }},
			} {
				step.with()
				r.apply()
				expect(step.name)
				r.refresh()
				expect(step.name + ", and refreshed")
				if plan := r.plan(); plan != "nothing" {
					t.Errorf("%s: the next plan is %s", step.name, plan)
				}
			}
			gitserver.Seed(t, folder, r.shown.Branch, map[string]string{"theirs.txt": "1"})
			r.refresh()
			expect("people pushed")
		})
	}
}

// TestCheckSettings: a plan that writes asks the host whether a policy forbids the merge method, and whether it knows
// the reviewers. A plan that writes nothing does not.
func TestCheckSettings(t *testing.T) {
	t.Parallel()
	world := hosts.AzureDevOps()(t)
	on, _ := world.(*hosts.AzureDevOpsWorld)
	repo := on.Fake.AddRepo(t, "gitops")
	gitserver.Seed(t, repo.Dir, "dev", map[string]string{"README.md": "hello\n"})
	host := world.Host(t, hostingtest.Writer)
	r := newReviewedOn(t, hosts.GitClient(t, host, repo.URL), host, repo.URL)
	repo.Require("dev", "ci")
	repo.LimitStrategies("dev", false, map[string]any{"allowSquash": true})
	check := func(want int) {
		t.Helper()
		if errs := r.remote.CheckSettings(t.Context(), r.decide()); len(errs) != want {
			t.Errorf("the errors are %v, want %d", errs, want)
		}
	}
	settings := &r.desired.PullRequest
	settings.AutoMerge, settings.Reviewers = githost.Merge, []string{"ann", "nobody"}
	check(2)
	r.desired.Known = inventory.Partial
	check(0)
	r.desired.Known, settings.AutoMerge, settings.Reviewers = inventory.Whole, githost.Squash, []string{"ann"}
	check(0)
	r.apply()
	settings.AutoMerge = githost.Rebase
	check(1)
	settings.AutoMerge = githost.Squash
	repo.LimitStrategies("dev", false, map[string]any{})
	if d := r.decide(); d.Action != delivery.Keep {
		t.Fatalf("the plan is %v", d.Action)
	}
	check(0)
}

// onGitLab returns a rendering that was proposed on a GitLab, whose project people use.
func onGitLab(t *testing.T) (*reviewed, *gitlabfake.Project) {
	t.Helper()
	world := hosts.GitLab()(t)
	on, _ := world.(*hosts.GitLabWorld)
	project := on.Fake.AddProject(t, "acme/gitops")
	gitserver.Seed(t, project.Dir, "dev", map[string]string{"README.md": "hello\n"})
	host := world.Host(t, hostingtest.Writer)
	r := newReviewedOn(t, hosts.GitClient(t, host, project.URL), host, project.URL)
	r.apply()
	return r, project
}

// TestUnwantedDraft: a pull request that is a draft without the configuration is drift, and the apply makes it ready. A
// configured draft that people made ready stays so.
func TestUnwantedDraft(t *testing.T) {
	t.Parallel()
	r, project := onGitLab(t)
	expect := func(plan string, draft bool) {
		t.Helper()
		r.refresh()
		now := project.MergeRequests()[0]
		if r.plan() != plan || now.Draft != draft {
			t.Errorf("the plan is %q with %+v, want %q with draft %v", r.plan(), now, plan, draft)
		}
	}
	opened := project.MergeRequests()[0]
	expect("nothing", false)
	project.Edit(t, 1, "Draft: "+opened.Title, opened.Body)
	expect("write", true)
	r.apply()
	expect("nothing", false)
	r.freeze("an incident")
	r.apply()
	expect("nothing", true)
	r.freeze("")
	r.apply()
	expect("nothing", false)
	r.desired.PullRequest.Draft = true
	expect("write", false)
	r.apply()
	expect("nothing", true)
	project.Edit(t, 1, opened.Title, opened.Body)
	expect("nothing", false)
}

// TestLocked: while GitLab merges a pull request, nothing is pushed to its branch, so that the merge contains only what
// people saw. Once it is merged, the next apply proposes the change.
func TestLocked(t *testing.T) {
	t.Parallel()
	r, project := onGitLab(t)
	branch := project.MergeRequests()[0].Source
	head := gitserver.Rev(t, project.Dir, branch)
	project.Lock(t, 1, 1000)
	r.value = "2"
	r.refresh()
	err := r.applyPlanned()
	var merging *pullrequest.MergingError
	if !errors.As(err, &merging) || gitserver.Rev(t, project.Dir, branch) != head {
		t.Fatalf("the error is %v, and the branch at %s, want %s", err, gitserver.Rev(t, project.Dir, branch), head)
	}
	at := r.desired.Destination
	if p := report.Error(at, err); p.Summary != "The pull request is being merged" ||
		!strings.Contains(p.Detail, "still merging pull request 1 (") {
		t.Errorf("it is reported as %+v", p)
	}
	project.Lock(t, 1, 3) // the apply waits
	if err := r.applyPlanned(); err != nil {
		t.Fatal(err)
	}
	all := project.MergeRequests()
	if len(all) != 2 || all[0].State != "merged" || all[1].State != "opened" || r.plan() != "nothing" {
		t.Errorf("the pull requests are %+v, and the plan %s", all, r.plan())
	}
	project.Lock(t, 2, 1000)
	r.apply() // changes nothing
}
