package feedback_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/feedback"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// fleet is a fleet of teams, whose workloads fail and are mended, and the applies of its environment.
type fleet struct {
	*testing.T
	rnd   *rand.Rand
	fake  *githubfake.Server
	host  githost.Host
	repos []*githubfake.Repo

	failing map[string]*failing // by workload
	record  int                 // on the branch
	said    feedback.Sent
	names   int
	theirs  map[string]hostfake.Issue // issues of other accounts, by repo and number
	lists   int                       // how many lists of many workloads a stranger copied
}

// failing is a workload that fails.
type failing struct {
	repo  *githubfake.Repo
	fault string
	since int // the number of applies without a fault since then
}

func newFleet(t *testing.T, rnd *rand.Rand) *fleet {
	t.Helper()
	f := &fleet{T: t, rnd: rnd, fake: githubfake.New(t)}
	f.failing, f.theirs = map[string]*failing{}, map[string]hostfake.Issue{}
	for i := range 4 {
		f.repos = append(f.repos, f.fake.AddRepo(t, fmt.Sprintf("team%d/repo", i)))
	}
	host, err := github.New(github.Config{Access: httpapi.Access{
		BaseURL: f.fake.URL, Token: f.fake.Token, Credential: "token", Clock: hostingtest.NewClock(f.fake.Now()),
	}})
	if err != nil {
		t.Fatal(err)
	}
	f.host = host
	return f
}

// change makes workloads fail, fail in another way, be renamed or be mended, and strangers act.
func (f *fleet) change() {
	f.record++
	for _, name := range sortedKeys(f.failing) {
		w := f.failing[name]
		switch f.rnd.IntN(6) {
		case 0, 1:
			delete(f.failing, name)
		case 2:
			w.fault = fmt.Sprint("fault", f.rnd.IntN(3))
		case 3:
			delete(f.failing, name)
			f.fail(w.repo)
		}
	}
	for range f.rnd.IntN(4) {
		f.fail(f.repos[f.rnd.IntN(len(f.repos))])
	}
	if f.rnd.IntN(8) == 0 { // a team renames many
		for range 30 {
			f.fail(f.repos[0])
		}
	}
	if names := sortedKeys(f.failing); len(names) > 0 { // a stranger copies the issue of a workload
		w := f.message(names[f.rnd.IntN(len(names)):][:1]).Issues[0]
		f.copied(f.failing[w.Workload].repo, w.Content.Title, w.Content.Body)
	}
	for _, repo := range f.repos { // and the newest list of each repo
		for _, i := range slices.Backward(repo.Issues.All()) {
			marker, _ := githost.FindIssueMarker(i.Body)
			if i.Author == hostfake.BotLogin && marker == (githost.IssueID{Environment: "dev", Key: "0"}) {
				f.copied(repo, i.Title, i.Body)
				f.lists++
				break
			}
		}
	}
}

// copied opens an issue of a stranger, who may close it.
func (f *fleet) copied(repo *githubfake.Repo, title, body string) {
	number := repo.OpenIssue(f, "eve", title, body)
	one, _ := repo.Issues.Update(number, func(i *hostfake.Issue) { i.Closed = f.rnd.IntN(2) == 0 })
	f.theirs[fmt.Sprint(repo.Name, number)] = one
}

func (f *fleet) fail(repo *githubfake.Repo) {
	f.names++
	f.failing[fmt.Sprintf("w%04d", f.names)] = &failing{repo: repo, fault: "fault0"}
}

// message returns a message about failing workloads.
func (f *fleet) message(names []string) *feedback.Message {
	m := &feedback.Message{Environment: "dev", Key: "0", Before: fmt.Sprint(f.record - 1), After: fmt.Sprint(f.record)}
	for i := range f.names {
		m.Workloads = append(m.Workloads, fmt.Sprintf("w%04d", i+1))
	}
	for _, repo := range f.repos {
		m.IssueRepos = append(m.IssueRepos, repo.URL)
	}
	for _, name := range names {
		w := f.failing[name]
		i := feedback.Issue{Workload: name, Repo: w.repo.URL, Marker: githost.IssueMarker("dev", "0", name), Fault: w.fault}
		i.Content.Title, i.Content.Body = describe.Issue(describe.Failure{
			Environment: "dev", Workload: name, Marker: i.Marker, Fault: i.Fault,
			Reasons: []describe.Reason{{Object: "Template", Summary: "It fails", Text: w.fault}},
		})
		m.Issues = append(m.Issues, i)
	}
	return m
}

// apply pushes, if changed, and gives the feedback. The apply may be killed after its push, or an answer be lost.
func (f *fleet) apply(changed, faults bool) {
	m := f.message(sortedKeys(f.failing))
	switch {
	case !changed:
		m.Before = m.After
	case f.record == 1: // the first apply finds no record
		m.Before = ""
	}
	ctx, kill := context.WithCancel(f.Context())
	defer kill()
	killed, lost := false, false
	if faults {
		switch f.rnd.IntN(3) {
		case 0:
			left := f.rnd.IntN(12)
			f.fake.Before("", "/", func() bool {
				left--
				if left < 0 && !killed {
					killed = true
					kill()
				}
				return killed
			})
		case 1:
			lost = true
			method := []string{http.MethodPost, http.MethodPatch, http.MethodGet}[f.rnd.IntN(3)]
			f.fake.Fail(method, "/issues", 1, hostfake.AnswerLost())
		}
	}
	said, _ := feedback.NewPlan(m, f.said).Send(ctx, f.host)
	f.fake.ClearFailures()
	if killed {
		return
	}
	f.said = said
	for _, w := range f.failing {
		if !lost {
			w.since++
		}
	}
}

// open returns our open issues, by repo and title.
func (f *fleet) open() (all []string) {
	for _, repo := range f.repos {
		for _, i := range repo.Issues.All() {
			if !i.Closed && i.Author == hostfake.BotLogin {
				all = append(all, repo.Name+" "+i.Title)
			}
		}
	}
	return all
}

// check fails the test if a failing workload is in no open issue of its repo after some applies, or if an issue of
// another account was edited.
func (f *fleet) check(applies int) {
	f.Helper()
	for name, w := range f.failing {
		told := slices.ContainsFunc(w.repo.Issues.All(), func(i hostfake.Issue) bool {
			return i.Author == hostfake.BotLogin && !i.Closed && strings.Contains(i.Body, name)
		})
		if !told && w.since >= applies {
			f.Errorf("after %d applies, the team %s is not told about %s", w.since, w.repo.Name, name)
		}
	}
	for _, repo := range f.repos {
		for _, now := range repo.Issues.All() {
			if len(now.Comments) > 1 && strings.HasPrefix(now.Title, "Workload ") { // no mended one fails again
				f.Errorf("%s has the comments %q", now.Title, now.Comments)
			}
			if then, is := f.theirs[fmt.Sprint(repo.Name, now.Number)]; is {
				if diff := cmp.Diff(then, now); diff != "" {
					f.Errorf("an issue of another account was changed (-then +now):\n%s", diff)
				}
			}
		}
	}
}

func sortedKeys[V any](of map[string]V) []string {
	var keys []string
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// TestRandomFeedback: over random changes, kills and lost answers, each team is told after the next two complete
// applies, and once all workloads are mended, a single apply leaves no issue of ours open. Issues of other accounts,
// although they are copies of ours, of workloads and of lists, silence nothing and are not changed.
func TestRandomFeedback(t *testing.T) {
	t.Parallel()
	lists := 0
	for seed := range seeds.Of(t, 40, 1000) {
		f := newFleet(t, rand.New(rand.NewPCG(seed, 0)))
		for range 8 {
			f.change()
			f.apply(true, true)
			for range 1 + f.rnd.IntN(2) {
				f.apply(false, f.rnd.IntN(3) == 0)
			}
			f.check(3)
		}
		f.failing = map[string]*failing{}
		f.record++
		f.apply(true, false)
		if open := f.open(); len(open) > 0 {
			t.Errorf("%d of our issues stay open, first %s", len(open), open[0])
		}
		f.check(3)
		f.fake.ResetLog()
		f.apply(false, false)
		if asked := f.fake.Requests(); len(asked) > 0 || f.said.HasIssues() {
			t.Errorf("an apply with nothing to say sends %d requests, and knows %+v", len(asked), f.said)
		}
		lists += f.lists
		if t.Failed() {
			return
		}
	}
	if lists == 0 {
		t.Error("no stranger copied a list")
	}
	t.Logf("strangers copied %d lists", lists)
}
