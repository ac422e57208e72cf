package github_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// One request returns the statuses and check runs of many commits, whoever set them, with GitHub's own time.
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
	p.clock.pass(time.Hour)
	p.on.SetStatusAs("acme-ci[bot]", first, "stage environment", "pending", "Deployed")
	p.on.SetStatusAs("eve", last, "ci", "error", "")
	p.on.AddCheckRun(last, "build", "success", "github-actions")
	p.on.AddCheckRun(last, "build", "skipped", "github-actions")
	p.on.AddCheckRun(last, "test", "", "github-actions")
	p.clock.pass(3 * time.Minute)
	got, err := p.repo.LatestStatuses(t.Context(), append(commits, strings.Repeat("ab", 20)))
	if err != nil {
		t.Fatal(err)
	}
	hour, now := start.Add(time.Hour), start.Add(time.Hour+3*time.Minute)
	want := &hosting.Statuses{Viewer: "kalypso-bot", SeenAt: now, ByCommit: map[string][]hosting.Status{
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
	}}
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

// A commit with more than 100 statuses costs one request more, however many such commits there are.
func TestLatestStatusesPages(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	main, change := gitserver.Rev(t, p.on.Path, "main"), gitserver.Rev(t, p.on.Path, "change")
	for i := range 130 {
		p.on.SetStatusAs("ci", main, fmt.Sprintf("env%d environment", i), "success", "")
		p.on.SetStatusAs("ci", change, fmt.Sprintf("env%d environment", i), "success", "")
	}
	got, err := p.repo.LatestStatuses(t.Context(), []string{main, change})
	if err != nil || len(got.ByCommit[main]) != 130 || len(got.ByCommit[change]) != 130 {
		t.Errorf("%d and %d statuses, %v", len(got.ByCommit[main]), len(got.ByCommit[change]), err)
	}
	if calls := p.calls(); len(calls) != 2 {
		t.Errorf("%d requests: %v", len(calls), calls)
	}
	history, more, err := p.repo.StatusHistory(t.Context(), main)
	if err != nil || more || len(history) != 130 {
		t.Errorf("%d in the history, %v, %v", len(history), more, err)
	}
}

// Who may not see the repo, or lacks a permission, gets an error and no statuses.
func TestLatestStatusesRights(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.fake.AddToken("canaryForeign", "eve", nil)
	commits := []string{gitserver.Rev(t, p.on.Path, "main")}
	_, err := p.as(github.Config{Token: "canaryForeign"}).LatestStatuses(t.Context(), commits)
	expectError(t, err, hosting.ErrNotVisible, "read the statuses of 1 commits in acme/gitops")
	app := p.fake.AddApp(t)
	app.Permissions = map[string]string{"contents": "read", "statuses": "read"}
	_, err = p.as(github.Config{App: &github.App{ID: app.ID, InstallationID: app.InstallationID,
		PrivateKey: app.PrivateKey}}).
		LatestStatuses(t.Context(), commits)
	expectError(t, err, hosting.ErrForbidden, "checks: read")
}
