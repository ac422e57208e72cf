package source_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
)

// baseRepoRun is a kalypso_base_repo by pull request on a fake GitHub, run through the protocol.
type baseRepoRun struct {
	acc.ProtocolRun
	baseRepo
	given map[string]any
}

func newBaseRepoRun(t *testing.T) *baseRepoRun {
	t.Helper()
	r := &baseRepoRun{baseRepo: newGitHubBaseRepo(t)}
	r.T, r.Resource = t, protocol.Resource{Type: "kalypso_base_repo"}
	r.Config = map[string]any{
		"github": map[string]any{"base_url": r.fake.URL, "token": r.fake.Token},
		"git_credentials": []any{
			map[string]any{"url": r.fake.URL, "username": "x", "password": r.fake.Token},
		},
	}
	r.given = map[string]any{
		"repo": r.url, "branch": "stage", "delivery": map[string]any{"strategy": "pull_request"},
	}
	return r
}

// plan refreshes and plans. It returns the action of Terraform, "" for none, the plan, and the diagnostics of both.
func (r *baseRepoRun) plan() (action string, made *protocol.Plan, text string) {
	t := r.t
	t.Helper()
	s := r.Start()
	existed := r.Resource.Exists()
	refreshed := s.Refresh(t.Context(), &r.Resource)
	if refreshed.HasErrors() || r.Resource.Exists() != existed {
		t.Fatalf("refresh: %s", refreshed)
	}
	made, ds := s.Plan(t.Context(), &r.Resource, maps.Clone(r.given))
	if made == nil || len(made.Replaces) > 0 {
		t.Fatalf("plan: %s", ds)
	}
	switch {
	case !existed:
		action = "create"
	case made.Changes():
		action = "update"
	}
	return action, made, strings.Join(strings.Fields(refreshed.String()+ds.String()), " ")
}

// apply plans and applies, expects an empty plan after it, and returns the diagnostics of plan and apply.
func (r *baseRepoRun) apply() string {
	t := r.t
	t.Helper()
	action, made, text := r.plan()
	if action != "" {
		after, ds := r.Start().Apply(t.Context(), made, maps.Clone(r.given))
		if ds.HasErrors() {
			t.Fatalf("apply: %s", ds)
		}
		r.Resource = *after
		text += " " + strings.Join(strings.Fields(ds.String()), " ")
	}
	r.expectEmptyPlan()
	return text
}

func (r *baseRepoRun) expectEmptyPlan() {
	r.t.Helper()
	if action, made, text := r.plan(); action != "" {
		r.t.Errorf("the plan is not empty: %s\n%v\n%s", action, protocol.Lines(made.Planned), text)
	}
}

// expectKept plans and applies a promotion that takes no other commit. It fails the test unless the plan has the wanted
// action, and its warnings contain the texts.
func (r *baseRepoRun) expectKept(promotion map[string]any, want string, texts ...string) string {
	r.t.Helper()
	r.given["promotion"] = promotion
	action, _, text := r.plan()
	if action != want {
		r.t.Errorf("the plan's action is %q, want %q:\n%s", action, want, text)
	}
	acc.ExpectTexts(r.t, text, texts...)
	return r.apply()
}

// While nothing is promoted yet, or the environment is frozen, nothing is written. While the environment is frozen, an
// open pull request is a draft. On a host without drafts, everything but the draft is set.
func TestBaseRepoStops(t *testing.T) {
	t.Parallel()
	for _, drafts := range []bool{true, false} {
		t.Run(fmt.Sprintf("drafts %t", drafts), func(t *testing.T) {
			t.Parallel()
			r := newBaseRepoRun(t)
			if !drafts {
				r.pulls.NoDrafts = true
			}
			testBaseRepoStops(t, r, drafts)
		})
	}
}

func testBaseRepoStops(t *testing.T, r *baseRepoRun, drafts bool) {
	t.Helper()
	expect := func(withheld bool) {
		t.Helper()
		pull := r.pulls.PullRequests()[0]
		if pull.State != "open" || pull.Draft != (withheld && drafts) ||
			strings.Contains(pull.Body, "Do not merge") != withheld {
			t.Errorf("the pull request is %+v, withheld %t", pull, withheld)
		}
	}
	r.expectKept(map[string]any{"commit": nil, "summary": "No gate holds."}, "create", "The BaseRepo is not changed")
	state := protocol.Lines(r.Resource.State)
	if content, known := state["content"]; len(r.pulls.PullRequests()) > 0 || state["delivered"] != "false" || known {
		t.Errorf("the content is %q and the state %v", content, state)
	}
	r.given["promotion"] = promotionOf(2)
	r.apply()
	expect(false)
	r.expectKept(map[string]any{"commit": nil}, "", "The BaseRepo is not changed")
	expect(false)
	frozen := map[string]any{"commit": commitOf(1), "decision": "frozen", "summary": "An incident."}
	out := r.expectKept(frozen, "update", "The BaseRepo is not changed", "An incident.", "Pull request 1 is a draft")
	if strings.Contains(out, "The pull request is not a draft") == drafts {
		t.Errorf("the apply with drafts %t:\n%s", drafts, out)
	}
	expect(true)
	r.expectKept(frozen, "", "Pull request 1 is a draft")
	r.given["promotion"] = promotionOf(2)
	r.apply()
	expect(false)
	r.pulls.Merge(t, 1, "squash")
	r.expectEmptyPlan()
	r.expectPinned(2)
	r.expectKept(frozen, "", "An incident.")
	r.expectPinned(2)
}

// If the windows of the promotion close after the pull request was opened, the pull request becomes a draft until the
// windows open. A promotion that was planned in an open window is not applied after the window has closed.
func TestBaseRepoWindows(t *testing.T) {
	t.Parallel()
	r := newBaseRepoRun(t)
	promoted := func(commit int, openUntil string) map[string]any {
		p := maps.Clone(promotionOf(commit))
		p["decision"], p["open_until"] = "promote", openUntil
		return p
	}
	draft := func(want bool) {
		t.Helper()
		if pulls := r.pulls.PullRequests(); len(pulls) != 1 || pulls[0].State != "open" || pulls[0].Draft != want ||
			strings.Contains(pulls[0].Body, "Do not merge") != want {
			t.Errorf("the pull requests are %+v, want a draft: %t", pulls, want)
		}
	}
	const always, past = "2999-01-01T00:00:00Z", "2001-01-01T00:00:00Z"
	r.given["promotion"] = promoted(2, always)
	r.apply()
	draft(false)
	closed := map[string]any{"commit": commitOf(1), "decision": "hold", "closed": "closed until 2999-01-01T00:00:00Z"}
	r.expectKept(closed, "update", "The windows of the promotion are closed until 2999-01-01T00:00:00Z.",
		"Pull request 1 is a draft")
	draft(true)
	r.expectKept(closed, "", "Pull request 1 is a draft")
	r.given["promotion"] = promoted(2, always)
	r.apply()
	draft(false)
	r.pulls.Merge(t, 1, "squash")
	r.expectEmptyPlan()
	r.expectPinned(2)

	r.expectKept(closed, "")
	r.given["promotion"] = promoted(3, past)
	action, made, text := r.plan()
	if action != "update" {
		t.Fatalf("the plan's action is %q:\n%s", action, text)
	}
	_, ds := r.Start().Apply(t.Context(), made, maps.Clone(r.given))
	if !strings.Contains(ds.String(), "The window closed at "+past+"; plan again.") {
		t.Error(ds)
	}
	if n := len(r.pulls.PullRequests()); n != 1 {
		t.Errorf("%d pull requests", n)
	}
	r.expectPinned(2)
}
