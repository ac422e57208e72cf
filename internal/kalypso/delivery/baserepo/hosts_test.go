package baserepo_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/giteaserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

func TestMain(m *testing.M) {
	code := m.Run()
	giteaserver.Stop()
	os.Exit(code)
}

// controlPlane is a control plane on a host. A BaseRepo on its branch stage pins a commit. It contains the arguments
// and the state of an apply, too.
type controlPlane struct {
	*testing.T
	world  *hostingtest.World
	people *hostingtest.Repo
	local  string // bare clone of the control plane
	remote baserepo.Remote
	want   *baserepo.Desired
	state  *baserepo.State
	shown  *githost.PullRequest // pull request that the last apply or refresh showed
}

// commitOf returns a hash that consists of one digit.
func commitOf(digit int) string { return strings.Repeat(fmt.Sprint(digit), 40) }

func newControlPlane(t *testing.T, on hosts.Host) *controlPlane {
	t.Helper()
	p := &controlPlane{T: t, world: on.New(t), local: gitserver.InitBare(t)}
	p.people = p.world.AddRepo(t)
	url := p.people.URL
	gitserver.Seed(t, p.local, "main", map[string]string{"README.md": "hello\n"})
	p.send("main")
	file, err := document.New(document.BaseRepo{Name: "main", Repo: url, Branch: "main", Path: ".", Commit: commitOf(1)})
	if err != nil {
		t.Fatal(err)
	}
	p.push("stage", string(file))
	host := p.world.Host(t, hostingtest.Writer)
	p.remote = baserepo.Remote{
		Git: hosts.GitClient(t, host, url), Host: func() (githost.Host, error) { return host, nil },
	}
	p.want = &baserepo.Desired{
		At: baserepo.EnvironmentBranch{Repo: url, Branch: "stage"}, Strategy: destination.PullRequest,
		PullRequest: pullrequest.Settings{BranchPrefix: "ours/"},
		Author:      gitbranch.Author{Name: "Kalypso", Email: "kalypso@acme.io", When: time.Unix(1700000000, 0)},
	}
	p.promote(2)
	return p
}

// push pushes a commit with a file to a branch.
func (p *controlPlane) push(branch, file string) {
	p.Helper()
	gitserver.Seed(p, p.local, branch, map[string]string{document.File: file})
	p.send(branch)
}

func (p *controlPlane) send(branch string) {
	p.Helper()
	gitserver.Git(p, p.local, "push", "--quiet", "--force", p.people.Remote, "refs/heads/"+branch)
}

// fetch updates the clone from the host.
func (p *controlPlane) fetch() {
	p.Helper()
	gitserver.Git(p, p.local, "fetch", "--quiet", "--prune", "--update-head-ok", p.people.Remote,
		"+refs/heads/*:refs/heads/*")
}

// promote lets the promotion choose a commit.
func (p *controlPlane) promote(digit int) {
	p.want.Promotion = promotion.Promotion{Commit: commitOf(digit)}
}

// plan refreshes the state, and decides as a plan does.
func (p *controlPlane) plan() baserepo.Decision {
	p.Helper()
	if p.state != nil {
		read, err := p.remote.Refresh(p.Context(), p.state)
		if err != nil {
			p.Fatal(err)
		}
		p.state, p.shown = read.State, read.PullRequest
	}
	planned := baserepo.Decide(p.want, p.state)
	if planned.Err != nil {
		p.Fatal(planned.Err)
	}
	return planned
}

// apply plans and applies, and fails the test if anything is left to write.
func (p *controlPlane) apply() {
	p.Helper()
	if p.plan().Write {
		if _, err := p.remote.Check(p.Context(), p.want, p.state); err != nil {
			p.Fatal(err)
		}
		done, err := p.remote.Apply(p.Context(), p.want, p.state)
		if err != nil {
			p.Fatal(err)
		}
		p.state = done.State
		p.shown = done.PullRequest
	}
	if again := p.plan(); again.Write {
		p.Errorf("the plan after the apply writes: %+v, with the proposal %+v", again, p.state.Proposal)
	}
}

// await refreshes the state until the host shows what it did itself, such as an auto-merge.
func (p *controlPlane) await(what string, seen func() bool) {
	p.Helper()
	shows := p.world.Await(func() bool {
		p.plan()
		return seen()
	})
	if !shows {
		p.Fatalf("the host never shows %s: %+v", what, p.state)
	}
}

// expect compares three things: the commit that the branch pins, the delivered commit in the state, and the pull
// requests.
func (p *controlPlane) expect(branch, delivered int, pullRequests ...string) {
	p.Helper()
	p.fetch()
	file, err := document.Parse([]byte(gitserver.Tree(p, p.local, "stage")[document.File]))
	if err != nil {
		p.Fatal(err)
	}
	got := append([]string{file.Commit[:1], p.state.Delivered[:1]}, p.see()...)
	want := append([]string{fmt.Sprint(branch), fmt.Sprint(delivered)}, pullRequests...)
	if diff := cmp.Diff(want, got); diff != "" {
		p.Fatalf("commit on the branch, delivered commit, pull requests (-want +got):\n%s", diff)
	}
}

// see returns a text for each pull request.
func (p *controlPlane) see() (all []string) {
	p.Helper()
	for _, pr := range p.people.PullRequests() {
		text := fmt.Sprintf("%s to %s: %s", pr.State, pr.Target, strings.TrimRight(pr.Title, "0123456789"))
		text += pr.Title[len(pr.Title)-1:]
		if pr.Draft {
			text += ", draft"
		}
		if strings.Contains(pr.Body, "Do not merge") {
			text += ", withheld"
		}
		if pr.AutoMerge != "" {
			text += ", auto-merge"
		}
		if !slices.Contains(pr.Labels, "promoted") {
			text += ", unlabelled"
		}
		all = append(all, text)
	}
	return all
}

// pins lists what can happen to the commit that an environment's BaseRepo pins.
var pins = []struct {
	rule string
	test func(*controlPlane)
}{
	{"one pull request follows the promotion until it is merged", func(p *controlPlane) {
		var want []string
		for i, method := range githost.MergeMethods {
			first, second := 2*(i+1), 2*(i+1)+1
			p.state, p.want.PullRequest.BranchPrefix = nil, string(method)+"/"
			for _, digit := range []int{first, second} {
				p.promote(digit)
				p.apply()
				p.expect(max(1, first-1), max(1, first-1), append(slices.Clone(want), opened(digit))...)
			}
			p.people.Merge(p, i+1, method)
			p.await("the merge", func() bool { return p.state.Proposal == nil })
			want = append(want, strings.Replace(opened(second), "open", "merged", 1))
			p.expect(second, second, want...)
			if head := gitserver.Rev(p, p.local, "stage"); p.state.Since != head || p.plan().Write {
				p.Errorf("after a merge by %s, the state is %+v, and the head is %s", method, p.state, head)
			}
		}
	}},
	{"auto-merge waits for the check", func(p *controlPlane) {
		p.people.Require("stage", "ci")
		p.want.PullRequest.AutoMerge = githost.Squash
		p.apply()
		p.expect(1, 1, opened(2)+", auto-merge")
		p.promote(3)
		p.apply()
		p.expect(1, 1, opened(3)+", auto-merge")
		p.people.SetStatus(p.state.Proposal.Head, "ci", githost.Success)
		p.await("the merge", func() bool { return p.state.Proposal == nil })
		p.expect(3, 3, strings.Replace(opened(3), "open", "merged", 1))
	}},
	{"people close the pull request", func(p *controlPlane) {
		p.apply()
		p.people.Close(p, 1)
		if planned := p.plan(); planned.Write || planned.Closed != 1 {
			p.Errorf("the plan is %+v", planned)
		}
		p.promote(3)
		p.apply()
		closed := strings.Replace(opened(2), "open", "closed", 1)
		p.expect(1, 1, closed, opened(3))
		p.people.Close(p, 2)
		p.want.PullRequest.Reopen = true
		p.apply()
		p.expect(1, 1, closed, strings.Replace(opened(3), "open", "closed", 1), opened(3))
	}},
	{"people push the commit", func(p *controlPlane) {
		p.apply()
		p.push("stage", strings.ReplaceAll(p.state.File, commitOf(1), commitOf(2)))
		p.apply()
		p.expect(2, 2, strings.Replace(opened(2), "open", "closed", 1))
	}},
	{"people push another commit", func(p *controlPlane) {
		p.apply()
		p.push("stage", strings.ReplaceAll(p.state.File, commitOf(1), commitOf(9)))
		if planned := p.plan(); !planned.Drifted || len(p.state.Drift) != 1 {
			p.Errorf("the plan is %+v, the state %+v", planned, p.state)
		}
	}},
	{"the environment is frozen, and then not any more", func(p *controlPlane) {
		p.apply()
		p.want.Promotion.Reason = promotion.Reason{Decision: promotion.Frozen, Summary: "An incident."}
		p.apply()
		p.expect(1, 1, opened(2)+", draft, withheld")
		p.promote(2)
		p.apply()
		p.expect(1, 1, opened(2))
	}},
	{"nothing is promoted yet", func(p *controlPlane) {
		p.want.Promotion.Commit = ""
		if planned := p.plan(); planned.Write || planned.IdleReason == "" {
			p.Errorf("the plan is %+v", planned)
		}
	}},
	{"the strategy changes to push", func(p *controlPlane) {
		p.apply()
		p.want.Strategy = destination.Push
		p.promote(3)
		p.apply()
		p.expect(3, 3, strings.Replace(opened(2), "open", "closed", 1))
	}},
	{"the resource is destroyed", func(p *controlPlane) {
		p.apply()
		for range 2 { // the second time, the pull request is already closed
			if err := p.remote.Forget(p.Context(), p.state); err != nil {
				p.Fatal(err)
			}
		}
		p.expect(1, 1, strings.Replace(opened(2), "open", "closed", 1))
		if left := gitserver.Git(p, p.local, "branch", "--list", "ours/*"); left != "" {
			p.Errorf("our branches still exist: %s", left)
		}
	}},
	{"the state is lost", func(p *controlPlane) {
		p.apply()
		p.state = nil
		p.promote(3)
		p.apply()
		p.expect(1, 1, opened(3))
	}},
	{"the state is lost, and people pushed to our branch", func(p *controlPlane) {
		p.apply()
		p.state = nil
		p.fetch()
		p.push(p.people.PullRequests()[0].Branch, "theirs")
		var foreign *pullrequest.ForeignError
		if _, err := p.remote.Check(p.Context(), p.want, nil); !errors.As(err, &foreign) {
			p.Errorf("the error is %v", err)
		}
	}},
}

// opened returns the text of an open pull request for a commit.
func opened(digit int) string {
	return fmt.Sprintf("open to stage: Set the base of stage to %d", digit)
}

// TestHosts specifies what happens to the pull request of a BaseRepo on each host.
func TestHosts(t *testing.T) {
	t.Parallel()
	for _, row := range pins {
		t.Run(row.rule, func(t *testing.T) {
			t.Parallel()
			hosts.Each(t, hosts.All(), func(t *testing.T, on hosts.Host) { row.test(newControlPlane(t, on)) })
		})
	}
}

// TestLateHead: a host shows an older head of an open pull request for a while. After an apply or a refresh, the head
// commit is still the head of our branch.
func TestLateHead(t *testing.T) {
	t.Parallel()
	p := newControlPlane(t, hosts.Host{New: hosts.AzureDevOps(hostfake.WithLag(1000))})
	for _, promotion := range []promotion.Promotion{
		{Commit: commitOf(2)}, {Commit: commitOf(3)},
		{Commit: commitOf(3), Reason: promotion.Reason{Decision: promotion.Frozen, Summary: "An incident."}},
	} {
		p.want.Promotion = promotion
		done, err := p.remote.Apply(t.Context(), p.want, p.state)
		if err != nil {
			t.Fatal(err)
		}
		p.state = done.State
		p.plan()
		p.fetch()
		head := gitserver.Rev(t, p.local, p.shown.Branch)
		if done.PullRequest.HeadCommit != head || p.shown.HeadCommit != head {
			t.Errorf("the head commit is %s, then %s, want %s", done.PullRequest.HeadCommit, p.shown.HeadCommit, head)
		}
	}
}
