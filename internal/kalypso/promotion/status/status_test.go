package status_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/status"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

var (
	first  = strings.Repeat("0a", 20)
	second = strings.Repeat("0b", 20)
)

// given returns arguments with a commit and a state, and without a deployment.
func given() status.Arguments {
	return status.Arguments{
		Repo: "https://github.com/acme/gitops", Commit: first, Context: "kalypso/dev", State: "pending",
		Description: "Rolling out", TargetURL: "https://ci.acme.io/runs/1",
	}
}

// deployed returns arguments with a deployment, which gives the commit, the state and the description.
func deployed() status.Arguments {
	return status.Arguments{
		Repo: "https://github.com/acme/gitops", Context: "kalypso/dev", TargetURL: "https://ci.acme.io/runs/1",
		Deployment: &status.Deployment{PromotedCommit: first, Verdict: "pending", Summary: "1 of 2 clusters current."},
	}
}

func with(a status.Arguments, change func(*status.Arguments)) status.Arguments {
	change(&a)
	return a
}

// TestDueAfterChange: a new status is due if its repo, commit, context or content changes or is unknown. The summary of
// a deployment, which changes with every observation, makes no status due.
func TestDueAfterChange(t *testing.T) {
	for name, tc := range map[string]struct {
		prior  func() status.Arguments
		change func(*status.Arguments)
		due    bool
	}{
		"no change":           {given, func(*status.Arguments) {}, false},
		"repo":                {given, func(a *status.Arguments) { a.Repo += ".git" }, true},
		"commit":              {given, func(a *status.Arguments) { a.Commit = second }, true},
		"context":             {given, func(a *status.Arguments) { a.Context = "kalypso/prod" }, true},
		"case of context":     {given, func(a *status.Arguments) { a.Context = "Kalypso/dev" }, true},
		"state":               {given, func(a *status.Arguments) { a.State = "success" }, true},
		"description":         {given, func(a *status.Arguments) { a.Description = "Rolled out" }, true},
		"no description":      {given, func(a *status.Arguments) { a.Description = "" }, true},
		"URL":                 {given, func(a *status.Arguments) { a.TargetURL = "" }, true},
		"another renew_after": {given, func(a *status.Arguments) { a.RenewAfter = time.Hour }, false},

		"unknown repo":        {given, func(a *status.Arguments) { a.Repo = unknown.Text }, true},
		"unknown commit":      {given, func(a *status.Arguments) { a.Commit = unknown.Text }, true},
		"unknown context":     {given, func(a *status.Arguments) { a.Context = unknown.Text }, true},
		"unknown state":       {given, func(a *status.Arguments) { a.State = unknown.Text }, true},
		"unknown description": {given, func(a *status.Arguments) { a.Description = unknown.Text }, true},
		"unknown URL":         {given, func(a *status.Arguments) { a.TargetURL = unknown.Text }, true},

		"same deployment":     {deployed, func(*status.Arguments) {}, false},
		"promoted commit":     {deployed, func(a *status.Arguments) { a.Deployment.PromotedCommit = second }, true},
		"no promoted commit":  {deployed, func(a *status.Arguments) { a.Deployment.PromotedCommit = "" }, true},
		"verdict":             {deployed, func(a *status.Arguments) { a.Deployment.Verdict = "success" }, true},
		"summary":             {deployed, func(a *status.Arguments) { a.Deployment.Summary = "2 of 2." }, false},
		"URL of a deployment": {deployed, func(a *status.Arguments) { a.TargetURL = "" }, true},

		"unknown promoted commit": {
			deployed, func(a *status.Arguments) { a.Deployment.PromotedCommit = unknown.Text }, true,
		},
		"unknown verdict": {deployed, func(a *status.Arguments) { a.Deployment.Verdict = unknown.Text }, true},
		"unknown summary": {deployed, func(a *status.Arguments) { a.Deployment.Summary = unknown.Text }, true},

		"a deployment with the same description": {
			func() status.Arguments { return with(given(), func(a *status.Arguments) { a.Description = "" }) },
			func(a *status.Arguments) { a.Commit, a.State, a.Deployment = "", "", deployed().Deployment }, false,
		},
		"a deployment instead of a description": {
			given,
			func(a *status.Arguments) {
				a.Commit, a.State, a.Description, a.Deployment = "", "", "", deployed().Deployment
			},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			wanted := with(tc.prior(), tc.change)
			if got := wanted.Due(tc.prior(), status.Times{}, githost.EqualStatus); got != tc.due {
				t.Errorf("due is %v, want %v", got, tc.due)
			}
		})
	}
}

// TestDueByAge: a status is due again if it was older than renew_after when it was read. At exactly this age it is not
// due yet.
func TestDueByAge(t *testing.T) {
	set := time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		after time.Duration
		times status.Times
		due   bool
	}{
		"younger than renew_after": {time.Hour, status.Times{SetAt: set, SeenAt: set.Add(59 * time.Minute)}, false},
		"exactly renew_after old":  {time.Hour, status.Times{SetAt: set, SeenAt: set.Add(time.Hour)}, false},
		"older than renew_after":   {time.Hour, status.Times{SetAt: set, SeenAt: set.Add(time.Hour + time.Second)}, true},
		"no renew_after":           {0, status.Times{SetAt: set, SeenAt: set.Add(1000 * time.Hour)}, false},
		"no status":                {time.Hour, status.Times{}, false},
		"a status without a time":  {time.Hour, status.Times{SeenAt: set}, false},
		"an answer without a time": {time.Hour, status.Times{SetAt: set}, false},
		"a status of the future":   {time.Hour, status.Times{SetAt: set.Add(2 * time.Hour), SeenAt: set}, false},
	} {
		for kind, a := range map[string]status.Arguments{"no deployment": given(), "deployment": deployed()} {
			t.Run(name+", "+kind, func(t *testing.T) {
				a.RenewAfter = tc.after
				if got := a.Due(a, tc.times, githost.EqualStatus); got != tc.due {
					t.Errorf("due is %v, want %v", got, tc.due)
				}
			})
		}
	}
}

// TestNotRenewable: a status is not renewed on a host that ignores a status with the same state.
func TestNotRenewable(t *testing.T) {
	a := given()
	a.RenewAfter = time.Hour
	old := status.Times{SetAt: time.Unix(0, 0), SeenAt: time.Unix(0, 0).Add(2 * time.Hour)}
	fixed := func(want, have githost.Status) bool { return want.State == have.State }
	if a.Due(a, old, fixed) || !a.Due(a, old, githost.EqualStatus) {
		t.Error("the status is due on a host that can't renew it, or not due on a host that can")
	}
}

// TestDueAfterDrift: it is drift if another account changed the state, the description or the URL. It is no drift if
// only the case of the context, the description of a deployment, or the account is different.
func TestDueAfterDrift(t *testing.T) {
	for name, tc := range map[string]struct {
		change          func(*githost.Status)
		given, deployed bool // whether the status of these arguments is due
	}{
		"no change":       {func(*githost.Status) {}, false, false},
		"case of context": {func(s *githost.Status) { s.Context = "Kalypso/DEV" }, false, false},
		"state":           {func(s *githost.Status) { s.State = githost.Errored }, true, true},
		"description":     {func(s *githost.Status) { s.Description = "Overruled" }, true, false},
		"no description":  {func(s *githost.Status) { s.Description = "" }, true, false},
		"URL":             {func(s *githost.Status) { s.TargetURL = "https://acme.io" }, true, true},
		"no URL":          {func(s *githost.Status) { s.TargetURL = "" }, true, true},
		"creator":         {func(s *githost.Status) { s.Creator = "eve" }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			for a, due := range map[*status.Arguments]bool{new(given()): tc.given, new(deployed()): tc.deployed} {
				found := a.Status()
				tc.change(&found)
				if got := a.Due(a.Observe(found, githost.EqualStatus), status.Times{}, githost.EqualStatus); got != due {
					t.Errorf("due is %v, want %v, for %+v", got, due, *a)
				}
			}
		})
	}
}

// TestSameStatus: a status is neither drift nor due if the host considers it the same as ours. A host that can't change
// a pending status considers any two pending statuses the same. There, too, a status for another commit, context or
// state is due.
func TestSameStatus(t *testing.T) {
	bothPending := func(want, have githost.Status) bool {
		return want.State == have.State && want.State == githost.Pending || githost.EqualStatus(want, have)
	}
	pending := with(given(), func(a *status.Arguments) { a.State = "pending" })
	for name, tc := range map[string]struct {
		change func(*status.Arguments)
		due    bool
	}{
		"description and URL": {func(a *status.Arguments) { a.Description, a.TargetURL = "Other", "" }, false},
		"commit":              {func(a *status.Arguments) { a.Commit = second }, true},
		"context":             {func(a *status.Arguments) { a.Context = "other" }, true},
		"repo":                {func(a *status.Arguments) { a.Repo = "https://github.com/acme/other" }, true},
		"state":               {func(a *status.Arguments) { a.State = "success" }, true},
	} {
		if got := with(pending, tc.change).Due(pending, status.Times{}, bothPending); got != tc.due {
			t.Errorf("%s: due is %t", name, got)
		}
	}
	found := githost.Status{State: githost.Pending, Description: "Of another apply"}
	if diff := cmp.Diff(pending, pending.Observe(found, bothPending)); diff != "" {
		t.Errorf("drift (-want +got):\n%s", diff)
	}
	found.State = githost.Success
	if got := pending.Observe(found, bothPending); got.State != "success" || got.Description != found.Description {
		t.Errorf("observed %+v", got)
	}
}

// TestObserve: Observe returns arguments with the host's values, and does not change the arguments on which it is
// called.
func TestObserve(t *testing.T) {
	found := githost.Status{Context: "KALYPSO/dev", State: githost.Failure, Description: "Overruled", Creator: "eve"}
	want := with(given(), func(a *status.Arguments) {
		a.State, a.Description, a.TargetURL = "failure", "Overruled", ""
	})
	if diff := cmp.Diff(want, given().Observe(found, githost.EqualStatus)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	before := deployed()
	want = with(deployed(), func(a *status.Arguments) { a.TargetURL, a.Deployment.Verdict = "", "failure" })
	if diff := cmp.Diff(want, before.Observe(found, githost.EqualStatus)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(deployed(), before); diff != "" {
		t.Errorf("the given arguments changed:\n%s", diff)
	}
	imported := status.Arguments{Repo: given().Repo, Commit: first, Context: "kalypso/dev"}
	if diff := cmp.Diff(given(), imported.Observe(given().Status(), githost.EqualStatus)); diff != "" {
		t.Errorf("the imported arguments (-want +got):\n%s", diff)
	}
}

// TestStatus: the status has the values of the arguments or of the deployment. A long summary of a deployment is cut
// after a number of characters, not bytes, and ends with "…".
func TestStatus(t *testing.T) {
	full := strings.Repeat("ü", status.MaxDescription)
	summed := func(summary string) status.Arguments {
		return with(deployed(), func(a *status.Arguments) { a.Deployment.Summary = summary })
	}
	pending := func(description string) githost.Status {
		return githost.Status{
			Context: "kalypso/dev", State: githost.Pending, Description: description, TargetURL: "https://ci.acme.io/runs/1",
		}
	}
	for name, tc := range map[string]struct {
		given  status.Arguments
		target string
		want   githost.Status
	}{
		"no deployment": {given(), first, pending("Rolling out")},
		"no description": {status.Arguments{Commit: first, State: "error"}, first,
			githost.Status{State: githost.Errored}},
		"deployment":   {deployed(), first, pending("1 of 2 clusters current.")},
		"full summary": {summed(full), first, pending(full)},
		"long summary": {summed(full + "ü"), first, pending(strings.Repeat("ü",
			status.MaxDescription-1) + "…")},
		"deployment without a promoted commit": {
			status.Arguments{Commit: second, Deployment: &status.Deployment{Verdict: "pending"}}, "",
			githost.Status{State: githost.Pending},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.given.Status()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := tc.given.Target(); got != tc.target {
				t.Errorf("the target is %q, want %q", got, tc.target)
			}
		})
	}
}
