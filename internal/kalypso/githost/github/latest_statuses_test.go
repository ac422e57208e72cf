package github_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// One request returns the statuses and check runs of many commits, set by any account, with the times of GitHub's
// clock.
func TestLatestStatuses(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var commits []string
	for range 60 {
		p.branch("change")
		commits = append(commits, gitserver.Rev(t, p.on.Path, "change"))
	}
	first, last := commits[0], commits[59]
	p.on.SetStatusAs("acme-ci[bot]", first, "stage environment", "failure", "Failed to deploy")
	start := p.clock.Now().UTC()
	p.clock.Pass(time.Hour)
	p.on.SetStatusAs("acme-ci[bot]", first, "stage environment", "pending", "Deployed")
	p.on.SetStatusAs("eve", last, "ci", "error", "")
	p.on.AddCheckRun(last, "build", "success", "github-actions")
	p.on.AddCheckRun(last, "build", "skipped", "github-actions")
	p.on.AddCheckRun(last, "test", "", "github-actions")
	p.clock.Pass(3 * time.Minute)
	got, err := p.repo.LatestStatuses(t.Context(), append(commits, strings.Repeat("ab", 20)), nil)
	if err != nil {
		t.Fatal(err)
	}
	hour, now := start.Add(time.Hour), start.Add(time.Hour+3*time.Minute)
	want := &githost.Statuses{Viewer: "kalypso-bot", SeenAt: now, Unread: map[string]string{}}
	want.ByCommit = map[string][]githost.Status{
		first: {{Context: "stage environment", State: "pending", Description: "Deployed", Creator: "acme-ci[bot]",
			SetAt: hour, SeenAt: now}},
		last: {
			{Context: "ci", State: "error", Creator: "eve", SetAt: hour, SeenAt: now},
			{Context: "build", State: "success", Creator: "github-actions[bot]", CheckRun: true, SetAt: hour, SeenAt: now},
			{Context: "build", State: "error", Description: "skipped", Creator: "github-actions[bot]", CheckRun: true,
				SetAt: hour, SeenAt: now},
			{Context: "test", State: "pending", Description: "in_progress", Creator: "github-actions[bot]", CheckRun: true,
				SetAt: hour, SeenAt: now},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if calls := p.calls(); len(calls) != 1 {
		t.Errorf("%d requests: %v", len(calls), calls)
	}
	history, more, err := p.repo.StatusHistory(t.Context(), first)
	if err != nil || more || len(history) != 2 || history[0].Description != "Deployed" || history[1].SetAt != start {
		t.Errorf("the history is %v, %v, %v", history, more, err)
	}
}

// If a commit has more than 100 statuses, only those with the given names are read, with one more request for all such
// commits.
func TestLatestStatusesOfMany(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	main, change := gitserver.Rev(t, p.on.Path, "main"), gitserver.Rev(t, p.on.Path, "change")
	for i := range 1200 {
		p.on.SetStatusAs("ci", main, fmt.Sprintf("env%d environment", i), "success", "")
	}
	for i := range 130 {
		p.on.SetStatusAs("ci", change, fmt.Sprintf("env%d environment", i), "failure", "")
		p.on.AddCheckRun(change, fmt.Sprintf("job%d", i), "success", "github-actions")
	}
	p.on.AddCheckRun(change, "job129", "failure", "other")
	names := []string{"env129 environment", `a "quoted" name`, "job129"}
	got, err := p.repo.LatestStatuses(t.Context(), []string{main, change}, names)
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, s := range append(got.ByCommit[main], got.ByCommit[change]...) {
		seen = append(seen, fmt.Sprint(s.Context, " ", s.State, " ", s.Creator, " ", s.CheckRun))
	}
	want := []string{
		"env129 environment success ci false", "env129 environment failure ci false",
		"job129 success github-actions[bot] true", "job129 failure other[bot] true",
	}
	if diff := cmp.Diff(want, seen); diff != "" || len(got.Unread) > 0 {
		t.Errorf("(-want +got):\n%s\n%v", diff, got.Unread)
	}
	if calls := p.calls(); len(calls) != 2 {
		t.Errorf("%d requests: %v", len(calls), calls)
	}
	history, more, err := p.repo.StatusHistory(t.Context(), change)
	if err != nil || more || len(history) != 130 {
		t.Errorf("%d in the history, %v, %v", len(history), more, err)
	}
}

// If a commit has more check runs with one name than are read, it is reported as unread. The other commits are read.
func TestUnreadCommit(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	main, change := gitserver.Rev(t, p.on.Path, "main"), gitserver.Rev(t, p.on.Path, "change")
	for i := range 110 {
		p.on.AddCheckRun(main, "ci", "success", fmt.Sprintf("app%d", i))
		p.on.AddCheckRun(change, fmt.Sprintf("job%d", i), "success", "github-actions")
	}
	p.on.AddCheckRun(change, "ci", "success", "github-actions")
	got, err := p.repo.LatestStatuses(t.Context(), []string{main, change}, []string{"ci"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{main: `it has more than 20 check suites or 10 check runs "ci", which are not read`}
	if diff := cmp.Diff(want, got.Unread); diff != "" || len(got.ByCommit[change]) != 1 {
		t.Errorf("(-want +got):\n%s\n%v", diff, got.ByCommit[change])
	}
}

// A credential that may not see the repo, or lacks a permission, gets an error and no statuses.
func TestLatestStatusesWithoutPermission(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.fake.AddToken("canaryForeign", "eve", nil)
	commits := []string{gitserver.Rev(t, p.on.Path, "main")}
	_, err := p.as(github.Config{Access: httpapi.Access{Token: "canaryForeign"}}).LatestStatuses(t.Context(), commits, nil)
	expectError(t, err, githost.ErrNotVisible, "read the statuses of 1 commits in acme/gitops")
	app := p.fake.AddApp(t)
	app.Permissions = map[string]string{"contents": "read", "statuses": "read"}
	_, err = p.as(github.Config{App: &github.App{ID: app.ID, InstallationID: app.InstallationID,
		PrivateKey: app.PrivateKey}}).
		LatestStatuses(t.Context(), commits, nil)
	expectError(t, err, githost.ErrForbidden, "checks: read")
}
