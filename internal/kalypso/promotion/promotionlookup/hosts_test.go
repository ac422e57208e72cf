package promotionlookup_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/promotionlookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/giteaserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

func TestMain(m *testing.M) {
	code := m.Run()
	giteaserver.Stop()
	os.Exit(code)
}

const stageContext = "stage environment"

// chain is a repo on a host. Its branch main is the control plane, and prod is the GitOps branch of environment prod,
// to which [chain.initial] is promoted.
type chain struct {
	*testing.T
	world   *hostingtest.World
	people  *hostingtest.Repo
	local   string // a bare repo, from which branches are pushed
	git     *gitremote.Client
	host    githost.Host
	repo    githost.Repo // with the credential of the provider's own pipeline
	initial string
	rules   promotion.Rules
}

func newChain(t *testing.T, on hosts.Host) *chain {
	t.Helper()
	c := &chain{T: t, world: on.New(t), local: gitserver.InitBare(t)}
	c.people = c.world.AddRepo(t)
	c.initial = gitserver.Seed(t, c.local, "main", map[string]string{"version": "initial"})
	c.deliver("prod", c.initial)
	c.send("main")
	c.use(hostingtest.Writer)
	c.git = hosts.GitClient(t, c.host, c.people.URL)
	c.rules.Environment = "prod"
	return c
}

// use sets the credential for the host's API. The credential for Git does not change.
func (c *chain) use(credential hostingtest.Credential) {
	c.Helper()
	c.host = c.world.Host(c, credential)
	repo, err := c.host.Repo(c.people.URL)
	if err != nil {
		c.Fatal(err)
	}
	c.repo = repo
}

func (c *chain) send(branch string) {
	c.Helper()
	gitserver.Git(c, c.local, "push", "--quiet", "--force", c.people.Remote, "refs/heads/"+branch)
}

// commit pushes a commit to main.
func (c *chain) commit(version string) string {
	c.Helper()
	commit := gitserver.Seed(c, c.local, "main", map[string]string{"version": version})
	c.send("main")
	return commit
}

// deliver commits to a GitOps branch the file that names the promoted commit.
func (c *chain) deliver(branch, commit string) {
	c.Helper()
	gitserver.Seed(c, c.local, branch, map[string]string{record.PromotedCommitFile: commit})
	c.send(branch)
}

// set sets a status without a description, as the provider does.
func (c *chain) set(commit, context string, state githost.StatusState) {
	c.Helper()
	c.describe(commit, githost.Status{Context: context, State: state})
}

// describe sets a status with a description.
func (c *chain) describe(commit string, status githost.Status) {
	c.Helper()
	if _, err := c.repo.SetStatus(c.Context(), commit, status); err != nil {
		c.Fatal(err)
	}
}

// pass waits until a time has passed by the host's clock.
func (c *chain) pass(d time.Duration) {
	c.Helper()
	now := func() time.Time {
		read, err := c.repo.LatestStatuses(c.Context(), []string{c.initial}, []string{stageContext})
		if err != nil {
			c.Fatal(err)
		}
		return read.SeenAt
	}
	until := now().Add(d)
	if !c.world.Await(func() bool { return !now().Before(until) }) {
		c.Fatalf("the host's clock does not pass %s", d)
	}
}

func (c *chain) decide() *promotion.Choice { c.Helper(); return c.decideIn(c.Context()) }

func (c *chain) decideIn(ctx context.Context) *promotion.Choice {
	c.Helper()
	found, err := promotionlookup.Decide(ctx, promotionlookup.Request{
		Client: c.git, Host: c.host, Credential: true, Rules: c.rules,
		ControlPlane: promotionlookup.ControlPlane{Repo: c.people.URL, Branch: "main"},
		GitOps:       destination.Destination{Repo: c.people.URL, Branch: "prod", Path: "."},
	})
	if err != nil {
		c.Fatal(err)
	}
	return found
}

// expect makes a decision, and checks its kind, its commit and texts in it.
func (c *chain) expect(kind promotion.Kind, commit string, says ...string) *promotion.Choice {
	c.Helper()
	found := c.decide()
	c.check(found, kind, commit, says...)
	return found
}

func (c *chain) check(found *promotion.Choice, kind promotion.Kind, commit string, says ...string) {
	c.Helper()
	if found.Decision != kind || found.Commit != commit {
		c.Errorf("the decision is %s %s, want %s %s", found.Decision, found.Commit, kind, commit)
	}
	text := found.Summary + "\n" + found.Explanation
	for _, want := range says {
		want = strings.ReplaceAll(want, "LOGIN", c.world.Traits.Login)
		if !strings.Contains(text, want) {
			c.Errorf("the decision does not contain %q", want)
		}
	}
	if strings.Contains(text, "canary") {
		c.Error("the decision contains a secret")
	}
	if c.Failed() {
		c.Fatalf("the decision:\n%s", text)
	}
}

// afterStage returns the gate that opens if the environment stage runs the commit.
func afterStage(soak, renewedWithin time.Duration, by string) []promotion.Gate {
	return []promotion.Gate{{Name: "stage", Context: stageContext, Soak: soak, RenewedWithin: renewedWithin, By: by}}
}

// gates lists situations in which people and pipelines set statuses, and checks the decision of the promotion to prod.
var gates = []struct {
	rule string
	test func(*chain)
}{
	{"the status of the previous environment", func(c *chain) {
		c.rules.Gates = afterStage(0, 0, "")
		commit := c.commit("1")
		c.expect(promotion.Hold, c.initial, "1 newer commit waits")
		for _, state := range []githost.StatusState{githost.Pending, githost.Failure, githost.Errored} {
			c.set(commit, stageContext, state)
			c.expect(promotion.Hold, c.initial, fmt.Sprintf(`status "stage environment" is %s by LOGIN`, state))
		}
		c.set(commit, stageContext, githost.Success)
		c.expect(promotion.Promote, commit, `status "stage environment" is success by LOGIN`)
		c.deliver("prod", commit)
		c.expect(promotion.UpToDate, commit)
	}},
	{"the status of the previous environment, set by Kalypso's workflows", func(c *chain) {
		c.rules.Gates = afterStage(0, 0, "")
		first, second := c.commit("1"), ""
		deployed := githost.Status{Context: stageContext, State: githost.Pending, Description: "Deployed"}
		c.describe(first, deployed)
		c.expect(promotion.Promote, first, `status "stage environment" is pending by LOGIN`)
		second = c.commit("2")
		c.set(second, stageContext, githost.Pending)
		c.describe(second, deployed)
		want := second
		if c.world.Traits.UpdatesPending { // the host ignores a pending status after a pending one
			want = first
		}
		c.expect(promotion.Promote, want)
	}},
	{"the newest commit whose gates are open", func(c *chain) {
		c.rules.Gates, c.rules.Statuses = afterStage(0, 0, ""), []promotion.StatusGate{{Name: "ci"}}
		good, bad, none := c.commit("1"), c.commit("2"), c.commit("3")
		for _, commit := range []string{good, bad} {
			c.set(commit, stageContext, githost.Success)
			c.set(commit, "ci", githost.Success)
		}
		c.set(none, stageContext, githost.Success)
		c.set(bad, "ci", githost.Failure)
		found := c.expect(promotion.Promote, good, "2 newer commits wait", `status "ci" is failure by LOGIN`)
		if len(found.Waiting) != 2 || found.Waiting[0].Commit != none || found.Waiting[1].By != c.world.Traits.Login {
			c.Errorf("the waiting commits are %+v", found.Waiting)
		}
	}},
	{"a context in another case", func(c *chain) {
		c.rules.Statuses = []promotion.StatusGate{{Name: "CI"}}
		commit := c.commit("1")
		c.set(commit, "ci", githost.Success)
		c.expect(promotion.Promote, commit)
	}},
	{"a context with a slash", func(c *chain) {
		c.rules.Statuses = []promotion.StatusGate{{Name: "ci/build/linux"}}
		commit := c.commit("1")
		c.set(commit, "linux", githost.Success)
		c.expect(promotion.Hold, c.initial)
		c.set(commit, "ci/build/linux", githost.Success)
		c.expect(promotion.Promote, commit, `status "ci/build/linux" is success by LOGIN`)
	}},
	{"a status by another account", func(c *chain) {
		c.rules.Statuses = []promotion.StatusGate{{Name: "ci", By: hostingtest.Ann}, {Name: "qa"}}
		commit := c.commit("1")
		c.set(commit, "ci", githost.Success)
		c.people.SetStatus(commit, "qa", githost.Success)
		c.expect(promotion.Hold, c.initial, `status "ci" is success by LOGIN`, `only a status by "ann" counts`)
		c.people.SetStatus(commit, "ci", githost.Success)
		c.expect(promotion.Promote, commit, `status "ci" is success by ann`, `status "qa" is success by ann`)
		c.set(commit, "ci", githost.Success)
		c.expect(promotion.Hold, c.initial, `only a status by "ann" counts`)
	}},
	{"the status of the previous environment, set by another account", func(c *chain) {
		c.rules.Gates = afterStage(0, 0, c.world.Traits.Login)
		commit := c.commit("1")
		c.people.SetStatus(commit, stageContext, githost.Success)
		c.expect(promotion.Hold, c.initial, `is success by ann`, `only a status by "LOGIN" counts`)
		c.set(commit, stageContext, githost.Success)
		c.expect(promotion.Promote, commit)
	}},
	{"a soak", func(c *chain) {
		const soak = 2 * time.Second // Gitea has a real clock
		c.rules.Gates = afterStage(soak, 0, "")
		commit := c.commit("1")
		c.set(commit, stageContext, githost.Success)
		c.expect(promotion.Hold, c.initial, "it soaks for 2s from ")
		c.pass(soak + time.Second)
		c.expect(promotion.Hold, c.initial, "it soaks for 2s from ") // the environment must report after the soak
		c.set(commit, stageContext, githost.Success)
		c.expect(promotion.Promote, commit, `status "stage environment" is success by LOGIN`, "soaked for 2s since ")
		c.set(commit, stageContext, githost.Failure)
		c.set(commit, stageContext, githost.Success) // in the same second
		c.expect(promotion.Hold, c.initial, "it soaks for 2s from ")
	}},
	{"a soak during which another commit is delivered", func(c *chain) {
		const soak = 2 * time.Second
		c.rules.Gates = afterStage(soak, 0, "")
		first := c.commit("1")
		c.set(first, stageContext, githost.Success)
		second := c.commit("2")
		c.pass(time.Second)
		c.set(second, stageContext, githost.Success)
		c.pass(soak + time.Second)
		c.set(first, stageContext, githost.Success)
		c.expect(promotion.Hold, c.initial, "2 newer commits wait")
	}},
	{"a soak with a gap", func(c *chain) {
		c.rules.Gates = afterStage(2*time.Second, 2*time.Second, "")
		commit := c.commit("1")
		c.set(commit, stageContext, githost.Success)
		c.pass(4 * time.Second)
		c.set(commit, stageContext, githost.Success)
		c.expect(promotion.Hold, c.initial, "its soak began again, because no good status came from ")
	}},
	{"the commit of an open pull request", func(c *chain) {
		commit := c.commit("1")
		c.deliver("ours", commit)
		c.people.Open(c, "ours", "prod", "Promote", "Text\n\n"+githost.Marker("prod", "prod", "."))
		found := c.expect(promotion.Promote, commit)
		if found.Proposed != commit {
			c.Errorf("the proposed commit is %q", found.Proposed)
		}
	}},
	{"a host that does not answer", func(c *chain) {
		c.rules.Gates = afterStage(0, 0, "")
		commit := c.commit("1")
		c.set(commit, stageContext, githost.Success)
		for _, fault := range []hostingtest.Fault{hostingtest.Down, hostingtest.Dropped} {
			c.people.Fail(c, hostingtest.Statuses, -1, fault)
			ctx, cancel := context.WithTimeout(c.Context(), 5*time.Second) // another attempt would be after the deadline
			found := c.decideIn(ctx)
			cancel()
			c.check(found, promotion.Hold, c.initial)
			if len(found.Warnings) == 0 || !strings.Contains(fmt.Sprint(found.Warnings), "the host is not available") {
				c.Errorf("after %s, the warnings are %+v", fault, found.Warnings)
			}
		}
	}},
	{"a host that does not accept the credential", func(c *chain) {
		c.withoutStatuses(hostingtest.Wrong, "does not accept the credential")
	}},
	{"a host that does not show the repo", func(c *chain) {
		c.withoutStatuses(hostingtest.Foreign, "not found, or not visible to the credential")
	}},
	{"a commit that the host no longer has", func(c *chain) {
		c.rules.Gates = afterStage(0, 0, "")
		lost := c.commit("1")
		c.deliver("prod", lost)
		gitserver.Git(c, c.local, "update-ref", "refs/heads/main", c.initial)
		commit := c.commit("2")
		c.set(commit, stageContext, githost.Success)
		if found := c.decide(); found.Decision != promotion.Hold || found.Commit != lost {
			c.Errorf("the decision is %s %s: %s", found.Decision, found.Commit, found.Summary)
		}
	}},
}

// withoutStatuses checks that the promotion waits and gives the reason while the statuses can't be read with a
// credential. The next run that can read them promotes.
func (c *chain) withoutStatuses(credential hostingtest.Credential, why string) {
	c.Helper()
	c.rules.Gates = afterStage(0, 0, "")
	commit := c.commit("1")
	c.set(commit, stageContext, githost.Success)
	c.use(credential)
	found := c.expect(promotion.Hold, c.initial)
	if len(found.Warnings) == 0 || !strings.Contains(fmt.Sprint(found.Warnings), why) {
		c.Errorf("the warnings are %+v, want %q", found.Warnings, why)
	}
	c.use(hostingtest.Writer)
	c.expect(promotion.Promote, commit)
}

// TestManyCommits: an environment is 500 commits behind. A promotion with a soak needs about one request for each
// commit, and on GitHub, which answers for many commits in one request, at most four.
func TestManyCommits(t *testing.T) {
	slow.Skip(t)
	t.Parallel()
	const behind = 500
	hosts.Each(t, hosts.Prompt(), func(t *testing.T, on hosts.Host) {
		c := newChain(t, on)
		commits := c.history(behind)
		c.rules.Gates = afterStage(time.Second, 0, "")
		good := commits[behind-100]
		c.set(good, stageContext, githost.Success)
		for i := range 10 {
			c.set(good, fmt.Sprintf("other-%d environment", i), githost.Success)
			c.set(commits[behind-1-i], "ci", githost.Failure)
		}
		c.pass(2 * time.Second)
		c.set(good, stageContext, githost.Success)
		// a request for each commit, and the look-ups of the repo, the user, the pull request and the history
		limit := behind + 12
		if on.Name == "GitHub" {
			limit = 4
		}
		before, start := c.world.Requests(), time.Now()
		c.expect(promotion.Promote, good, "soaked for 1s since ")
		requests := c.world.Requests() - before
		t.Logf("%d requests to the API, at most %d; %s", requests, limit, time.Since(start))
		if requests > limit {
			t.Errorf("%d requests, want at most %d", requests, limit)
		}
	})
}

// history pushes commits to main, and returns them, oldest first.
func (c *chain) history(n int) (commits []string) {
	c.Helper()
	var stream strings.Builder
	for i := range n {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter Ann <ann@acme.io> %d +0000\ndata 1\nx\n", 1700000000+i)
		if i == 0 {
			fmt.Fprintf(&stream, "from %s\n", c.initial)
		}
	}
	cmd := exec.CommandContext(c.Context(), "git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = c.local, strings.NewReader(stream.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		c.Fatalf("%v: %s", err, out)
	}
	c.send("main")
	return strings.Fields(gitserver.Git(c, c.local, "rev-list", "--reverse", c.initial+"..main"))
}

// TestGates runs the situations in [gates] over all hosts.
func TestGates(t *testing.T) {
	t.Parallel()
	for _, row := range gates {
		t.Run(row.rule, func(t *testing.T) {
			t.Parallel()
			hosts.Each(t, hosts.Prompt(), func(t *testing.T, on hosts.Host) { row.test(newChain(t, on)) })
		})
	}
}
