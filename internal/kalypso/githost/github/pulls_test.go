package github_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// A pull request is opened with all values of the proposal. An edit sends only the requests that its changes need.
func TestOpenAndEditPullRequest(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.AddTeam("platform")
	wanted := p.proposal()
	wanted.Draft, wanted.Labels, wanted.Reviewers = true, []string{"platform", "promoted"},
		[]string{"ann", "acme/platform"}
	opened := must(t)(p.repo.Open(t.Context(), wanted))
	want := githost.PullRequest{
		Number: 1, ID: "PR_acme/gitops#1", URL: p.on.URL + "/pull/1", State: githost.Open, Title: "Title", Body: wanted.Body,
		Branch: "change", Target: "main",
		HeadCommit: gitserver.Rev(t, p.on.Path, "change"), Draft: true, Labels: wanted.Labels, Reviewers: wanted.Reviewers,
	}
	expectSame(t, want, opened)
	expectSame(t, want, must(t)(p.repo.Read(t.Context(), 1)))
	expectCalls(t, p, "POST /pulls", "POST /issues/1/labels", "POST /pulls/1/requested_reviewers", "GET /pulls/1")

	expectSame(t, want, must(t)(p.repo.Edit(t.Context(), opened, wanted)))
	expectCalls(t, p)

	p.branch("change")
	wanted.Title, wanted.Body, wanted.Draft = "Other", "Other\n"+marker, false
	wanted.Labels, wanted.RemoveLabels, wanted.Reviewers = []string{"Platform", "urgent"},
		[]string{"promoted", "never there"}, []string{"bob"}
	edited := must(t)(p.repo.Edit(t.Context(), opened, wanted))
	want.Title, want.Body, want.Draft, want.HeadCommit = wanted.Title, wanted.Body, false,
		gitserver.Rev(t, p.on.Path, "change")
	want.Labels, want.Reviewers = []string{"platform", "urgent"}, []string{"ann", "bob", "acme/platform"}
	expectSame(t, want, must(t)(p.repo.Read(t.Context(), 1)))
	slices.Sort(edited.Reviewers)
	slices.Sort(want.Reviewers)
	expectSame(t, want, edited)
	expectCalls(t, p, "PATCH /pulls/1", "POST /api/graphql", "POST /issues/1/labels", "DELETE /issues/1/labels/promoted",
		"POST /pulls/1/requested_reviewers", "GET /pulls/1")
	wanted.Draft = true
	if again := must(t)(p.repo.Edit(t.Context(), edited, wanted)); !again.Draft ||
		!must(t)(p.repo.Read(t.Context(), 1)).Draft {
		t.Error("the pull request is not a draft")
	}

	if closed := must(t)(p.repo.Close(t.Context(), 1)); closed.State != githost.Closed || closed.MergeCommit != "" ||
		closed.Body != wanted.Body {
		t.Errorf("closed: %+v", closed)
	}
	if closed := must(t)(p.repo.Close(t.Context(), 1)); closed.State != githost.Closed {
		t.Errorf("closed a second time: %+v", closed)
	}
}

func expectSame(t *testing.T, want, got githost.PullRequest) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func expectCalls(t *testing.T, p *place, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, p.calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// Each rejection of GitHub gives its own kind of error.
func TestRefusedProposals(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	gitserver.Git(t, p.on.Path, "branch", "same", "main")
	open := func(change func(*githost.PullRequestContent)) error {
		w := p.proposal()
		change(&w)
		_, err := p.repo.Open(t.Context(), w)
		return err
	}
	expectError(t, open(func(w *githost.PullRequestContent) { w.Branch = "same" }), githost.ErrNothingToMerge,
		`"Validation Failed: No commits between main and same" (HTTP 422)`)
	expectError(t, open(func(w *githost.PullRequestContent) { w.Branch = "unknown" }), githost.ErrBranchNotFound,
		"open a pull request from unknown to main in acme/gitops")
	expectError(t, open(func(w *githost.PullRequestContent) { w.Title = strings.Repeat("ü", p.repo.MaxTitle+1) }),
		githost.ErrRejected, "title is too long")
	expectError(t, open(func(w *githost.PullRequestContent) { w.Body = strings.Repeat("ü", p.repo.MaxBody+1) }),
		githost.ErrRejected, "body is too long")

	// The pull request exists although its reviewer could not be requested.
	wanted := p.proposal()
	wanted.Labels, wanted.Reviewers = []string{"platform"}, []string{"acme/unknown"}
	opened, err := p.repo.Open(t.Context(), wanted)
	expectError(t, err, githost.ErrRejected, "Reviews may only be requested from collaborators")
	if opened == nil || opened.Number != 1 || len(opened.Labels) != 1 || len(opened.Reviewers) != 0 {
		t.Fatalf("opened %+v", opened)
	}
	wanted.Reviewers = []string{"other/platform"}
	_, err = p.repo.Edit(t.Context(), *opened, wanted)
	expectError(t, err, githost.ErrRejected, "team other/platform does not belong to acme, the owner of the repo")
}

// In a repo without drafts, an edit makes all changes but the draft, and its error is at the draft.
func TestRepoWithoutDrafts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.NoDrafts = true
	wanted := p.proposal()
	opened := must(t)(p.repo.Open(t.Context(), wanted))
	wanted.Draft, wanted.Title = true, "Other"
	edited, err := p.repo.Edit(t.Context(), opened, wanted)
	expectError(t, err, githost.ErrForbidden, "does not have permission to convert the pull request")
	var e *githost.Error
	if !errors.As(err, &e) || e.Field != githost.FieldDraft || e.Host != "GitHub" ||
		!strings.HasPrefix(e.Grant, "Grant the token or app this permission in the repo.") {
		t.Errorf("the error is %+v", e)
	}
	if edited == nil || edited.Draft || edited.Title != "Other" {
		t.Errorf("edited: %+v", edited)
	}
	wanted = p.proposal()
	wanted.Draft, wanted.Target = true, "another"
	gitserver.Git(t, p.on.Path, "branch", "another", "main")
	_, err = p.repo.Open(t.Context(), wanted)
	expectError(t, err, githost.ErrRejected, "Draft pull requests are not supported in this repository.")
}

// TestMissingReviewers: a reviewer who was requested once, or has reviewed, is never requested again.
func TestMissingReviewers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.AddTeam("platform")
	wanted := p.proposal()
	wanted.Reviewers = []string{"ann", "bob", "acme/platform"}
	number := must(t)(p.repo.Open(t.Context(), wanted)).Number
	for i := range 150 {
		p.on.Review(t, number, fmt.Sprint("passer-by-", i), "")
	}
	p.on.Review(t, number, "Ann", "")
	p.on.Review(t, number, "ann", "")
	p.on.Review(t, number, "eve", "platform")
	now := must(t)(p.repo.Read(t.Context(), number))
	p.calls()
	for want, reviewers := range map[string][]string{
		"":               {"ANN", "bob", "eve", "acme/Platform"},
		"new acme/other": {"ann", "new", "acme/platform", "acme/other"},
	} {
		got, err := p.repo.MissingReviewers(t.Context(), now, reviewers)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("of %v, %v are missing (%v)", reviewers, got, err)
		}
	}
	p.calls()
	if got, err := p.repo.MissingReviewers(t.Context(), now, []string{"bob"}); err != nil || got != nil {
		t.Errorf("missing reviewers: %v (%v)", got, err)
	}
	expectCalls(t, p)
}

// Auto-merge waits for required checks. If there are none, the commit that was read is merged at once.
func TestMergeWhenReady(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.Require("main", "ci")
	opened := must(t)(p.repo.Open(t.Context(), p.proposal()))
	waiting := must(t)(p.repo.MergeWhenReady(t.Context(), opened, githost.Rebase))
	if waiting.State != githost.Open || waiting.AutoMerge != githost.Rebase {
		t.Errorf("the pull request is %+v", waiting)
	}
	expectSame(t, waiting, must(t)(p.repo.Read(t.Context(), 1)))
	p.calls()
	must(t)(p.repo.MergeWhenReady(t.Context(), waiting, githost.Rebase))
	expectCalls(t, p)
	squashing := must(t)(p.repo.MergeWhenReady(t.Context(), waiting, githost.Squash))
	expectSame(t, squashing, must(t)(p.repo.Read(t.Context(), 1)))
	people := must(t)(p.repo.MergeWhenReady(t.Context(), squashing, ""))
	expectSame(t, people, must(t)(p.repo.Read(t.Context(), 1)))
	if squashing.AutoMerge != githost.Squash || people.AutoMerge != "" {
		t.Errorf("auto-merge is %q, then %q", squashing.AutoMerge, people.AutoMerge)
	}
	_, err := p.repo.MergeWhenReady(t.Context(), squashing, "")
	expectError(t, err, githost.ErrRejected, "disable auto-merge of pull request 1")
	must(t)(p.repo.MergeWhenReady(t.Context(), people, githost.Rebase))
	if _, err := p.repo.SetStatus(t.Context(), opened.HeadCommit,
		githost.Status{Context: "ci", State: githost.Success}); err != nil {
		t.Fatal(err)
	}
	if got := must(t)(p.repo.Read(t.Context(), 1)); got.State != githost.Merged {
		t.Errorf("the pull request is %+v", got)
	}
	_, err = p.repo.MergeWhenReady(t.Context(), opened, githost.Rebase)
	expectError(t, err, githost.ErrRejected, "Pull request is closed")
	unknown := opened
	unknown.ID = "PR_unknown"
	_, err = p.repo.MergeWhenReady(t.Context(), unknown, githost.Rebase)
	expectError(t, err, githost.ErrNotVisible, "Could not resolve")

	p.on.Require("main")
	p.branch("change")
	opened = must(t)(p.repo.Open(t.Context(), p.proposal()))
	p.branch("change")
	_, err = p.repo.MergeWhenReady(t.Context(), opened, githost.Squash)
	expectError(t, err, githost.ErrRejected, "Head branch was modified")
	expectWaits(t, p, seconds(1, 2, 4, 8))
	opened = must(t)(p.repo.Read(t.Context(), opened.Number))
	// A check that is not required does not delay the merge. GitHub refuses it until it has noticed our push.
	p.on.SetStatus("", opened.HeadCommit, "other", "pending")
	p.fake.Fail("PUT", "/merge", 2, githubfake.HeadNotMoved)
	if got := must(t)(p.repo.MergeWhenReady(t.Context(), opened, githost.Squash)); got.State != githost.Merged {
		t.Errorf("the pull request is %+v", got)
	}
	expectWaits(t, p, seconds(1, 2))
	p.branch("another")
	wanted := p.proposal()
	wanted.Branch = "another"
	opened = must(t)(p.repo.Open(t.Context(), wanted))
	p.fake.Fail("PUT", "/merge", 2, githubfake.BaseMoved)
	if got := must(t)(p.repo.MergeWhenReady(t.Context(), opened, githost.Squash)); got.State != githost.Merged {
		t.Errorf("after the base moved, the pull request is %+v", got)
	}
	expectWaits(t, p, seconds(1, 2))
	p.fake.Fail("", "/graphql", 1, githubfake.ServerError(403, 0))
	_, err = p.repo.MergeWhenReady(t.Context(), opened, githost.Squash)
	expectError(t, err, githost.ErrForbidden, "enable auto-merge of pull request 3 of acme/gitops")
}

// A status is found by its context, whose case does not matter, among any number of statuses.
func TestStatus(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	commit := gitserver.Rev(t, p.on.Path, "change")
	want := githost.Status{Context: "kalypso/dev", State: githost.Success}
	if _, err := p.repo.SetStatus(t.Context(), commit, want); err != nil {
		t.Fatal(err)
	}
	for i := range 250 {
		p.on.SetStatus("", commit, "other/"+strings.Repeat("x", i), "failure")
	}
	if got, err := p.repo.Status(t.Context(), commit, "Kalypso/Dev"); err != nil || got == nil ||
		!p.repo.SameStatus(want, *got) {
		t.Errorf("the status is %+v, %v", got, err)
	}
	none := strings.Repeat("0", 40)
	_, err := p.repo.Status(t.Context(), none, "x")
	expectError(t, err, githost.ErrCommitNotFound, "No commit found for SHA: "+none)
}
