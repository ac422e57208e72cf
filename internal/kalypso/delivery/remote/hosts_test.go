package remote_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/report"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/azuredevopsfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/gitlabfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// newReviewedIn returns a rendering on a host that is not GitHub, and the folder of its repo.
func newReviewedIn(t *testing.T, world *hostingtest.World) (r *reviewed, folder string) {
	t.Helper()
	repo := world.AddRepo(t)
	gitserver.Seed(t, repo.Remote, "dev", map[string]string{"README.md": "hello\n"})
	host := world.Host(t, hostingtest.Writer)
	return newReviewedOn(t, hosts.GitClient(t, host, repo.URL), host, repo.URL), repo.Remote
}

// TestLateHead: a host shows an older head of an open pull request for a while. After each apply and each refresh, the
// head commit is still the head of our branch. Otherwise a plan after an apply would not be empty if an output has the
// head commit.
func TestLateHead(t *testing.T) {
	t.Parallel()
	for name, newWorld := range map[string]func(*testing.T) *hostingtest.World{
		"Azure DevOps": hosts.AzureDevOps(hostfake.WithLag(1000)), "GitLab": hosts.GitLab(hostfake.WithLag(1000)),
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
				{"after the pull request was opened", func() {}},
				{"after another value was pushed", func() { r.value = "2" }},
				{"after a label was added", func() { r.desired.PullRequest.Labels = []string{"a"} }},
				{"after the environment was frozen", func() { r.freeze("an incident") }},
				{"after the environment was unfrozen", func() { r.freeze("") }},
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
			expect("after people pushed")
		})
	}
}

// TestCheckSettings: a plan that writes asks the host whether a policy forbids the merge method, and whether the
// reviewers exist. A plan that writes nothing does not ask.
func TestCheckSettings(t *testing.T) {
	t.Parallel()
	world := hosts.AzureDevOps()(t)
	fake, _ := world.Server.(*azuredevopsfake.Server)
	repo := fake.AddRepo(t, "gitops")
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
	d := r.decide()
	if _, keeps := d.(*delivery.Keep); !keeps {
		t.Fatalf("the plan is %T", d)
	}
	check(0)
}

// onGitLab returns a proposed rendering on GitLab, and its project, which people use.
func onGitLab(t *testing.T) (*reviewed, *gitlabfake.Project) {
	t.Helper()
	world := hosts.GitLab()(t)
	fake, _ := world.Server.(*gitlabfake.Server)
	project := fake.AddProject(t, "acme/gitops")
	gitserver.Seed(t, project.Dir, "dev", map[string]string{"README.md": "hello\n"})
	host := world.Host(t, hostingtest.Writer)
	r := newReviewedOn(t, hosts.GitClient(t, host, project.URL), host, project.URL)
	r.apply()
	return r, project
}

// TestUnwantedDraft: if people make a pull request a draft and no draft is configured, this is drift, and the apply
// makes the pull request ready. If a draft is configured and people make it ready, it is left alone.
func TestUnwantedDraft(t *testing.T) {
	t.Parallel()
	r, project := onGitLab(t)
	expect := func(plan string, draft bool) {
		t.Helper()
		r.refresh()
		now := project.PullRequests()[0]
		if r.plan() != plan || now.Draft != draft {
			t.Errorf("the plan is %q with %+v, want %q with draft %v", r.plan(), now, plan, draft)
		}
	}
	opened := project.PullRequests()[0]
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

// TestPushWhileMerging: while GitLab merges a pull request, nothing is pushed to its branch, so that only commits are
// merged that people could review. Once the pull request is merged, the next apply proposes the change.
func TestPushWhileMerging(t *testing.T) {
	t.Parallel()
	r, project := onGitLab(t)
	branch := project.PullRequests()[0].Head
	head := gitserver.Rev(t, project.Dir, branch)
	project.Lock(t, 1, 1000)
	r.value = "2"
	r.refresh()
	err := r.applyPlanned()
	var merging *pullrequest.MergingError
	if !errors.As(err, &merging) || gitserver.Rev(t, project.Dir, branch) != head {
		t.Fatalf("the error is %v, and the branch is at %s, want %s", err, gitserver.Rev(t, project.Dir, branch), head)
	}
	at := r.desired.Destination
	if p := report.Error(at, err); p.Summary != "The pull request is being merged" ||
		!strings.Contains(p.Detail, "still merging pull request 1 (") {
		t.Errorf("the problem is %+v", p)
	}
	project.Lock(t, 1, 3) // the apply waits
	if err := r.applyPlanned(); err != nil {
		t.Fatal(err)
	}
	all := project.PullRequests()
	if len(all) != 2 || all[0].State != "merged" || all[1].State != "open" || r.plan() != "nothing" {
		t.Errorf("the pull requests are %+v, and the plan %s", all, r.plan())
	}
	project.Lock(t, 2, 1000)
	r.apply() // changes nothing
}
