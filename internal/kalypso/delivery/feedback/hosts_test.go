package feedback_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/feedback"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/giteaserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/teamtext"
)

func TestMain(m *testing.M) {
	code := m.Run()
	giteaserver.Stop()
	os.Exit(code)
}

// team is a repo of a team on a host, with a commit.
type team struct {
	*testing.T
	world  *hostingtest.World
	host   githost.Host
	repo   githost.Repo
	repoOf *hostingtest.Repo
	url    string
	commit string
	said   feedback.Sent
}

func newTeam(t *testing.T, on hosts.Host) *team {
	t.Helper()
	world := on.New(t)
	people := world.AddRepo(t)
	w := &team{T: t, world: world, host: world.Host(t, hostingtest.Writer), repoOf: people, url: people.URL}
	local := gitserver.InitBare(t)
	w.commit = gitserver.Seed(t, local, "team", map[string]string{"workload.yaml": "kind: Workload\n"})
	gitserver.Git(t, local, "push", "--quiet", people.Remote, "team")
	repo, err := w.host.Repo(w.url)
	if err != nil {
		t.Fatal(err)
	}
	w.repo = repo
	return w
}

// message returns a message about the workload shop. The workload fails with an error, or is fine if failure is empty.
func (w *team) message(state githost.StatusState, text, failure string) *feedback.Message {
	m := &feedback.Message{Environment: "dev", Workloads: []string{"shop"}}
	s := feedback.Status{Repo: w.url, Commit: w.commit}
	s.Status = githost.Status{Context: "kalypso/dev", State: state, Description: text}
	m.Statuses = append(m.Statuses, s)
	if failure == "" {
		return m
	}
	i := feedback.Issue{Workload: "shop", Repo: w.url, Marker: githost.IssueMarker("dev", "0", "shop"), Fault: "f1"}
	i.Content.Title, i.Content.Body = describe.Issue(describe.Failure{
		Environment: "dev", Workload: "shop", Marker: i.Marker, Fault: i.Fault,
		Reasons: []describe.Reason{{Object: "Template", Summary: "It fails", Text: failure}},
	})
	i.Content.Labels = []string{"kalypso"}
	m.Issues = append(m.Issues, i)
	return m
}

// sends sends a message, and fails the test unless this takes so many requests. -1 allows any number. Afterwards,
// nothing must be left to send.
func (w *team) sends(m *feedback.Message, requests int) {
	w.Helper()
	before := w.world.Requests()
	said, errs := feedback.NewPlan(m, w.said).Send(w.Context(), w.host)
	if len(errs) > 0 {
		w.Fatalf("errors: %v", errs)
	}
	if got := w.world.Requests() - before; requests >= 0 && got != requests {
		w.Errorf("%d requests, want %d", got, requests)
	}
	w.said = said
	if !feedback.NewPlan(m, said).Empty() {
		w.Errorf("the plan after Send is not empty: %s", feedback.NewPlan(m, said).Line())
	}
	before = w.world.Requests()
	_, errs = feedback.NewPlan(m, said).Send(w.Context(), w.host)
	if len(errs) > 0 || w.world.Requests() != before {
		w.Errorf("an empty plan takes %d requests: %v", w.world.Requests()-before, errs)
	}
}

// status fails the test unless the commit has this status.
func (w *team) status(state githost.StatusState, text string) {
	w.Helper()
	s, err := w.repo.Status(w.Context(), w.commit, "kalypso/dev")
	if err != nil || s == nil || s.State != state || s.Description != text {
		w.Errorf("the status is %+v, %v", s, err)
	}
}

// closed fails the test unless the issues, the oldest first, are closed or open as wanted.
func (w *team) closed(want ...bool) {
	w.Helper()
	all, err := w.repo.Issues.List(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	var got []bool
	for i := range all {
		got = append(got, all[len(all)-1-i].Closed)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Errorf("closed issues (-want +got):\n%s", diff)
	}
}

// TestSend: on each host, a team is told about a failure and about its end. If the state is lost, the issue is found by
// its marker. An issue that people closed is not opened again.
func TestSend(t *testing.T) {
	t.Parallel()
	hosts.Each(t, hosts.Prompt(), func(t *testing.T, on hosts.Host) {
		w := newTeam(t, on)
		w.sends(w.message(githost.Success, "1 target", ""), -1)
		w.status(githost.Success, "1 target")
		if w.repo.Issues == nil { // an issue on the host that had the server before is forgotten
			w.said.Issues = map[string]feedback.SentIssue{"shop": {Repo: w.url, Number: 1}}
			w.sends(w.message(githost.Success, "1 target", ""), 0)
			return
		}
		fails := w.message(githost.Failure, "target perf: it fails", "line 1\n/close\n@ann")
		w.sends(fails, -1)
		w.status(githost.Failure, "target perf: it fails")
		w.closed(false)

		w.said.Issues = nil // the state is lost
		w.sends(fails, -1)
		w.closed(false)

		number := w.said.Issues["shop"].Number
		issue := fails.Issues[0]
		content := githost.IssueContent{Title: issue.Content.Title, Body: issue.Content.Body, Closed: true}
		if _, err := w.repo.Issues.Edit(t.Context(), number, content); err != nil { // as people do
			t.Fatal(err)
		}
		edited := w.message(githost.Failure, "target perf: it fails", "line 2")
		w.sends(edited, 1) // reads the issue
		w.closed(true)
		edited.Issues[0].Fault = "f2"
		edited.Issues[0].Content.Body = strings.ReplaceAll(edited.Issues[0].Content.Body, "f1", "f2")
		w.sends(edited, 2) // reads and edits the issue
		w.closed(false)
		w.sends(w.message(githost.Success, "1 target", ""), -1)
		w.status(githost.Success, "1 target")
		w.closed(true)
		w.sends(fails, -1) // the workload fails again with the first error
		w.closed(false)
	})
}

// TestSendHostileTexts: hosts accept statuses and issues with hostile texts of teams, and the texts have no effect.
func TestSendHostileTexts(t *testing.T) {
	t.Parallel()
	hosts.Each(t, hosts.Prompt(), func(t *testing.T, on hosts.Host) {
		w := newTeam(t, on)
		for _, text := range teamtext.Hostile {
			said := feedback.StatusText(text)
			if said != printable.Line(said) || len([]rune(said)) > 140 {
				t.Errorf("%.40q is the status %q", text, said)
			}
			m := w.message(githost.Failure, said, text+"\n"+text)
			if w.repo.Issues == nil {
				m.Issues = nil
			}
			w.sends(m, -1)
			w.status(githost.Failure, said)
			if w.repo.Issues == nil {
				continue
			}
			got, err := w.repo.Issues.Read(t.Context(), w.said.Issues["shop"].Number)
			if err != nil || got.Closed || !githost.HasMarker(got.Body, m.Issues[0].Marker) {
				t.Errorf("%q: the issue is %+v, %v", text, got, err)
			}
		}
	})
}

// TestSendErrors: errors of the same kind are reported once for a host. What could not be sent is in the next plan
// again.
func TestSendErrors(t *testing.T) {
	t.Parallel()
	w := newTeam(t, hosts.Host{New: hosts.GitHub()})
	reader := w.world.Host(t, hostingtest.Reader)
	m := w.message(githost.Failure, "x", "it fails")
	other := m.Statuses[0]
	other.Commit = strings.Repeat("0", 39) + "1"
	m.Statuses = append(m.Statuses, other)
	plan := feedback.NewPlan(m, feedback.Sent{})
	said, errs := plan.Send(t.Context(), reader)
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "the host does not allow this") {
		t.Errorf("the errors are %v", errs)
	}
	if line := feedback.NewPlan(m, said).Line(); line != "feedback: 2 statuses, 1 issue opened" {
		t.Errorf("the next plan is %q", line)
	}
	_, errs = plan.Send(t.Context(), w.world.Host(t, hostingtest.Wrong))
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "does not accept the credential") {
		t.Errorf("the errors are %v", errs)
	}
}

// TestSendToHiddenRepo: if the credential loses sight of the repo, the issue of a mended workload stays due. The issue
// of a workload that is gone is forgotten, since its repo may be gone too.
func TestSendToHiddenRepo(t *testing.T) {
	t.Parallel()
	hosts.Each(t, hosts.Prompt(), func(t *testing.T, on hosts.Host) {
		w := newTeam(t, on)
		if w.repo.Issues == nil {
			return
		}
		w.sends(w.message(githost.Failure, "x", "it fails"), -1)
		mended := w.message(githost.Success, "x", "")
		mended.Statuses = nil
		foreign := w.world.Host(t, hostingtest.Foreign)
		said, errs := feedback.NewPlan(mended, w.said).Send(t.Context(), foreign)
		if len(errs) != 1 || len(said.Issues) != 1 {
			t.Errorf("the errors are %v, and the issues %v", errs, said.Issues)
		}
		w.said = said
		w.sends(mended, -1)
		w.closed(true)
		mended.Workloads = nil
		said, errs = feedback.NewPlan(mended, said).Send(t.Context(), foreign)
		if len(errs)+len(said.Issues) > 0 {
			t.Errorf("the errors are %v, and the issues %v", errs, said.Issues)
		}
	})
}

// TestSendToForeignIssue: if people deleted the repo and created it again, the number in the state may belong to
// another issue: one of people, our own one about another workload or environment, or a stranger's copy of the issue.
// This issue is not changed.
func TestSendToForeignIssue(t *testing.T) {
	t.Parallel()
	w := newTeam(t, hosts.Host{New: hosts.GitHub()})
	fails, fine := w.message(githost.Failure, "x", "it fails"), w.message(githost.Success, "x", "")
	ours, copied := fails.Issues[0], fails.Issues[0].Content
	about := func(marker string) githost.IssueContent {
		content := copied
		content.Body = strings.ReplaceAll(copied.Body, ours.Marker, marker)
		return content
	}
	for name, open := range map[string]func() int{
		"people":              w.opens(githost.IssueContent{Title: "Theirs", Body: "Text"}),
		"another workload":    w.opens(about(githost.IssueMarker("dev", "0", "web"))),
		"another environment": w.opens(about(githost.IssueMarker("prod", "0", "shop"))),
		"another key":         w.opens(about(githost.IssueMarker("dev", "1", "shop"))),
		"the list of many":    w.opens(about(githost.IssueMarker("dev", "0", ""))),
		"a stranger's copy":   func() int { return w.repoOf.OpenIssue(t, hostingtest.Cora, copied.Title, copied.Body) },
	} {
		number := open()
		theirs, err := w.repo.Issues.Read(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		for _, marker := range []string{ours.Marker, ""} { // an early state has no marker
			w.said = feedback.Sent{Issues: map[string]feedback.SentIssue{
				"shop": {Repo: w.url, Number: number, Marker: marker, Text: "another"},
			}}
			w.sends(fails, -1)
			if now := w.said.Issues["shop"].Number; now == number || now == 0 {
				t.Errorf("%s: the issue of the workload is %d", name, now)
			}
			w.sends(fine, -1)
			w.said.Issues = map[string]feedback.SentIssue{"shop": {Repo: w.url, Number: number, Marker: marker}}
			w.sends(fine, -1)
			if now, err := w.repo.Issues.Read(t.Context(), number); err != nil || *now != *theirs {
				t.Errorf("%s: the issue is %+v, %v, and was %+v", name, now, err, theirs)
			}
		}
		content := githost.IssueContent{Title: theirs.Title, Closed: true} // no issue of ours for the next one
		if theirs.Own {
			if _, err := w.repo.Issues.Edit(t.Context(), number, content); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// opens returns a function that opens an issue as our account, and returns its number.
func (w *team) opens(content githost.IssueContent) func() int {
	return func() int {
		opened, err := w.repo.Issues.Open(w.Context(), content)
		if err != nil {
			w.Fatal(err)
		}
		return opened.Number
	}
}
