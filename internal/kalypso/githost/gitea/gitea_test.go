package gitea_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/gitea"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/giteaserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// place is a repo with a commit on main, and a branch change with one more commit.
type place struct {
	hostingtest.Test
	on    *giteaserver.Repo
	clock *hostingtest.Clock
	repo  githost.Repo
	local string // a bare repo, from which branches are pushed
}

// waited returns the waits on the test's clock since the last call, in seconds.
func (p *place) waited() (seconds []float64) {
	for _, wait := range p.clock.Waited() {
		seconds = append(seconds, wait.Seconds())
	}
	return seconds
}

func newPlace(t *testing.T) *place {
	t.Helper()
	clock := hostingtest.NewClockNow()
	p := &place{
		Test: hostingtest.NewTest(t, clock), clock: clock, on: giteaserver.Shared(t).AddRepo(t, "gitops", "ann"),
		local: gitserver.InitBare(t),
	}
	gitserver.Seed(t, p.local, "main", map[string]string{"README.md": "hello\n"})
	gitserver.Git(t, p.local, "branch", "change", "main")
	gitserver.Seed(t, p.local, "change", map[string]string{"change.txt": "a\n"})
	gitserver.Git(t, p.local, "push", "--quiet", "--force", p.on.Remote(), "refs/heads/main", "refs/heads/change")
	p.repo = p.as(httpapi.Access{Token: p.on.Token})
	return p
}

// push adds a commit to a branch.
func (p *place) push(branch, file, content string) string {
	p.Helper()
	commit := gitserver.Seed(p, p.local, branch, map[string]string{file: content})
	gitserver.Git(p, p.local, "push", "--quiet", p.on.Remote(), "refs/heads/"+branch)
	return commit
}

func (p *place) as(c httpapi.Access) githost.Repo {
	p.Helper()
	if c.BaseURL == "" {
		c.BaseURL = giteaserver.Shared(p).URL
	}
	c.Clock, c.Credential = p.clock, "token in gitea of the provider"
	host, err := gitea.New(c)
	if err != nil {
		p.Fatal(err)
	}
	repo, err := host.Repo(strings.Replace(p.on.URL, giteaserver.Shared(p).URL, c.BaseURL, 1))
	if err != nil {
		p.Fatal(err)
	}
	return repo
}

func (p *place) open() githost.PullRequest {
	p.Helper()
	return p.Must(p.openBy(p.repo, hostingtest.Proposal()))
}

// openBy opens a pull request. It waits until Gitea knows the branch, which can take a moment after a push.
func (p *place) openBy(repo githost.Repo, content githost.PullRequestContent) (pr *githost.PullRequest, err error) {
	p.Helper()
	p.until(func() bool {
		pr, err = repo.Open(p.Context(), content)
		return !errors.Is(err, githost.ErrBranchNotFound)
	})
	return pr, err
}

// refused fails the test unless an error is of this kind and contains the text. It returns the error.
func (p *place) refused(err, kind error, said string) githost.Error {
	p.Helper()
	var e *githost.Error
	if !errors.Is(err, kind) || !errors.As(err, &e) || !strings.Contains(err.Error(), said) ||
		strings.Contains(err.Error(), p.on.Token) {
		p.Fatalf("got %v, want %v that contains %q", err, kind, said)
	}
	return *e
}

// calls returns the requests after the first ones, whose number is since, as method and path below the repo.
func (p *place) calls(since int) (all []string) {
	for _, r := range p.on.Requests()[since:] {
		path := strings.TrimPrefix(r.Path, "/repos/"+p.on.Owner+"/"+p.on.Name)
		all = append(all, r.Method+" "+labelID.ReplaceAllString(path, "/labels/ID"))
	}
	return all
}

// labelID matches the ID of a label in a path. The server, not the repo, numbers labels, so that IDs vary.
var labelID = regexp.MustCompile(`/labels/\d+$`)

func (p *place) expectCalls(since int, want ...string) {
	p.Helper()
	if diff := cmp.Diff(want, p.calls(since)); diff != "" {
		p.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestURLs: a repo belongs to the host if its URL has the server and the folder of base_url. A URL for SSH has no
// folder.
func TestURLs(t *testing.T) {
	t.Parallel()
	const commit = "https://git.acme.io/forge/acme/gitops/commit/a"
	host, err := gitea.New(httpapi.Access{BaseURL: "https://git.acme.io/forge/"})
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"https://git.acme.io/forge/acme/gitops":          commit,
		"https://GIT.acme.io:443/forge/acme/gitops.git/": commit,
		"git@git.acme.io:acme/gitops.git":                commit,
		"ssh://git@git.acme.io:2222/acme/gitops":         commit,
		"https://git.acme.io/acme/gitops":                "the path of a Gitea repo is forge/owner/name",
		"https://git.acme.io/forge/acme":                 "the path of a Gitea repo is forge/owner/name",
		"https://git.acme.io/forge/acme/sub/gitops":      "the path of a Gitea repo is forge/owner/name",
		"https://git.acme.io/forge/acme/%2e%2e":          "the path of a Gitea repo is forge/owner/name",
		"https://git.acme.io:8443/forge/acme/gitops":     "git.acme.io is another server",
		"http://git.acme.io/forge/acme/gitops":           "git.acme.io is another server",
		"https://git.acme.io.evil.io/forge/acme/gitops":  "git.acme.io.evil.io is another server",
		"git@git.acme.io.evil.io:acme/gitops.git":        "git.acme.io.evil.io is another server",
		"/srv/git/gitops":                                "this machine is another server",
	} {
		repo, err := host.Repo(url)
		switch {
		case err == nil && repo.CommitURL("a") != want:
			t.Errorf("%s: got %s", url, repo.CommitURL("a"))
		case err != nil && (!errors.Is(err, githost.ErrOtherHost) || !strings.HasSuffix(err.Error(), want)):
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, base := range []string{"", "git.acme.io", "ssh://git.acme.io", "https:///forge"} {
		if _, err := gitea.New(httpapi.Access{BaseURL: base}); err == nil {
			t.Errorf("%q is a base URL", base)
		}
	}
}

// TestServerBelowPath: base_url may have a path.
func TestServerBelowPath(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	repo := p.as(httpapi.Access{Token: p.on.Token, BaseURL: giteaserver.Shared(t).URL + giteaserver.Folder})
	opened := p.Must(repo.Open(t.Context(), hostingtest.Proposal()))
	if read := p.Must(repo.Read(t.Context(), opened.Number)); read.HeadCommit != p.on.Head(t, "change") {
		t.Errorf("the pull request is %+v", read)
	}
}

// TestRequests checks which requests each operation sends.
func TestRequests(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	wanted := hostingtest.Proposal()
	wanted.Labels, wanted.Reviewers = []string{"env", "promoted"}, []string{"ann", p.on.Owner + "/platform"}
	opened := p.Must(p.repo.Open(t.Context(), wanted))
	p.expectCalls(0, "POST /pulls", "POST /issues/1/labels", "POST /issues/1/labels", "POST /labels", "POST /labels",
		"POST /issues/1/labels", "POST /pulls/1/requested_reviewers", "GET /pulls/1")
	at := len(p.on.Requests())
	p.Must(p.repo.Edit(t.Context(), opened, wanted))
	p.expectCalls(at)
	wanted.Labels, wanted.RemoveLabels = []string{"env"}, []string{"promoted", "Env"}
	wanted.Body = "Other\n\n" + hostingtest.Marker
	edited := p.Must(p.repo.Edit(t.Context(), opened, wanted))
	p.expectCalls(at, "PATCH /pulls/1", "GET /pulls/1", "DELETE /issues/1/labels/ID")
	if !slices.Equal(edited.Labels, []string{"env"}) {
		t.Errorf("labels: %v", edited.Labels)
	}
	at = len(p.on.Requests())
	p.Must(p.repo.Read(t.Context(), 1))
	p.expectCalls(at, "GET /pulls/1", "GET /issues/1/timeline", "GET /issues/1/timeline")
	at = len(p.on.Requests())
	if _, err := p.repo.Find(t.Context(), hostingtest.Query); err != nil {
		t.Fatal(err)
	}
	p.expectCalls(at, "GET /pulls", "GET /pulls/1", "GET /issues/1/timeline", "GET /issues/1/timeline")
	p.Must(p.repo.Close(t.Context(), 1))
	for range 2 { // the login is read once
		at = len(p.on.Requests())
		if _, err := p.repo.Find(t.Context(), hostingtest.Query); err != nil {
			t.Fatal(err)
		}
	}
	p.expectCalls(at, "GET /pulls", "GET /pulls")
}

// TestLabels: if several pull requests are opened at the same time with a new label, the label is created once.
func TestLabels(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var wait sync.WaitGroup
	for i := range 5 {
		branch := fmt.Sprint("branch-", i)
		gitserver.Git(t, p.local, "branch", branch, "main")
		p.push(branch, "a.txt", branch)
		wait.Go(func() {
			wanted := hostingtest.Proposal()
			wanted.Branch, wanted.Labels = branch, []string{"Env: dev, stage", "promoted"}
			if pr, err := p.repo.Open(t.Context(), wanted); err != nil || !slices.Equal(pr.Labels, wanted.Labels) {
				t.Errorf("opened %+v, %v", pr, err)
			}
		})
	}
	wait.Wait()
	type label struct{ Name string }
	var labels []label
	p.on.API.Send(t, http.MethodGet, "/labels", nil, &labels)
	if !slices.Equal(labels, []label{{"Env: dev, stage"}, {"promoted"}}) {
		t.Errorf("the repo's labels: %q", labels)
	}
}

// TestForks: a pull request of a fork, from a branch of the same name, is not ours.
func TestForks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	gitserver.Git(t, p.local, "push", "--quiet", p.on.Fork(t, "ann"), "refs/heads/change")
	number := p.on.Open(t, "ann", "ann:change", "main", "From a fork", hostingtest.Marker)
	for _, query := range []githost.Query{
		{Branch: "change", Target: "main", Marker: hostingtest.Marker}, {Target: "main", Marker: hostingtest.Marker},
	} {
		if found, err := p.repo.Find(t.Context(), query); found != nil || err != nil {
			t.Errorf("found %v, %v", found, err)
		}
	}
	if ours := p.open(); ours.Number == number {
		t.Error("the pull request of the fork was adopted")
	}
}

// TestEmptyRepo: in a repo without a commit, Find returns no pull request. Gitea answers 404 then; since the repo may
// get its first commit during the request, the request is repeated.
func TestEmptyRepo(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	query := githost.Query{Target: "main", Marker: hostingtest.Marker}
	opened := p.open()
	p.on.Fail(http.MethodGet, "/pulls", 1, hostfake.Failure{Status: http.StatusNotFound})
	if found := p.Must(p.repo.Find(t.Context(), query)); found.Number != opened.Number {
		t.Errorf("found %+v", found)
	}
	p.on = p.on.AddOwn(t, "empty")
	found, err := p.as(httpapi.Access{Token: p.on.Token}).Find(t.Context(), query)
	if found != nil || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
}

// TestRenamedRepo: the old name of a repo still works.
func TestRenamedRepo(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.Set(t, map[string]any{"name": "renamed"})
	opened := p.open()
	wanted := hostingtest.Proposal()
	wanted.Title = "Other"
	if edited := p.Must(p.repo.Edit(t.Context(), opened, wanted)); edited.Title != "Other" {
		t.Errorf("the pull request is %+v", edited)
	}
	status := githost.Status{Context: "dev", State: githost.Success}
	if _, err := p.repo.SetStatus(t.Context(), opened.HeadCommit, status); err != nil {
		t.Error(err)
	}
}

// TestReviewers: a review can't be requested from a team of another organization, an unknown user or team, the author,
// or a team if the owner of the repo is a user.
func TestReviewers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	err := p.repo.CheckSupport(githost.Settings{Reviewers: []string{"ann", "other/platform"}})
	e := p.refused(err, githost.ErrRejected,
		"team other/platform does not belong to "+p.on.Owner)
	if e.Field != githost.FieldReviewers || len(p.on.Requests()) > 0 {
		t.Errorf("the error is at %q, after %v", e.Field, p.calls(0))
	}
	opened := p.open()
	for reviewer, said := range map[string]string{
		"unknown": "User 'unknown' not exist", p.on.Owner + "/unknown": "Team 'unknown' not exist",
		p.on.Login: "poster of pr can't be reviewer",
	} {
		wanted := hostingtest.Proposal()
		wanted.Reviewers = []string{reviewer}
		_, err := p.repo.Edit(t.Context(), opened, wanted)
		if e := p.refused(err, githost.ErrRejected, said); e.Field != githost.FieldReviewers {
			t.Errorf("%s: the error is at %q", reviewer, e.Field)
		}
	}
	p.on = p.on.AddOwn(t, "own")
	p.push("main", "b.txt", "b\n")
	gitserver.Git(t, p.local, "push", "--quiet", p.on.Remote(), "refs/heads/change")
	wanted := hostingtest.Proposal()
	wanted.Reviewers = []string{p.on.Owner + "/platform"}
	_, err = p.openBy(p.as(httpapi.Access{Token: p.on.Token}), wanted)
	p.refused(err, githost.ErrRejected, "the server did not ask "+p.on.Owner+"/platform; "+p.on.Owner+" may be a user")
}

// TestMissingReviewers: after a member of a team has reviewed, Gitea no longer lists the team as a reviewer. So the
// timeline is read, to not request it again.
func TestMissingReviewers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	team := p.on.Owner + "/platform"
	p.on.AddTeam(t, "others")
	wanted := hostingtest.Proposal()
	wanted.Reviewers = []string{team}
	opened := p.Must(p.repo.Open(t.Context(), wanted))
	p.on.Review(t, opened.Number, "ann")
	now := p.Must(p.repo.Read(t.Context(), opened.Number))
	missing, err := p.repo.MissingReviewers(
		t.Context(),
		now,
		[]string{strings.ToUpper(team), "Ann", p.on.Owner + "/others"},
	)
	if err != nil || !slices.Equal(missing, []string{p.on.Owner + "/others"}) {
		t.Errorf("missing reviewers: %v (%v)", missing, err)
	}
}

// TestDrafts: the prefix that marks a draft is removed from people's titles. Any title of ours is the same when it is
// read again.
func TestDrafts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	opened := p.open()
	for stored, want := range map[string]struct {
		title string
		draft bool
	}{
		"wip:Title": {"Title", true}, "[WiP] Title": {"Title", true}, "Draft: Title": {"Draft: Title", false},
		"- Title": {"- Title", false}, "Work": {"Work", false}, "- - WIP: Title": {"- WIP: Title", false},
	} {
		p.on.Change(t, opened.Number, map[string]any{"title": stored})
		read := p.Must(p.repo.Read(t.Context(), opened.Number))
		if read.Title != want.title || read.Draft != want.draft {
			t.Errorf("%q is %q, draft %v", stored, read.Title, read.Draft)
		}
	}
	for _, title := range []string{"WIP: x", "- WIP: x", "- - [wip]", "- x", "wip"} {
		for _, draft := range []bool{true, false} {
			wanted := hostingtest.Proposal()
			wanted.Title, wanted.Draft = title, draft
			p.Must(p.repo.Edit(t.Context(), p.Must(p.repo.Read(t.Context(), opened.Number)), wanted))
			if read := p.Must(p.repo.Read(t.Context(), opened.Number)); read.Title != title || read.Draft != draft {
				t.Errorf("%q, draft %v, is %q, draft %v", title, draft, read.Title, read.Draft)
			}
		}
	}
}

// TestOtherDraftPrefixes: if the settings of a server have other prefixes for drafts, our draft is an error.
func TestOtherDraftPrefixes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.Fail(http.MethodPost, "/pulls", 1, hostfake.Failure{Status: http.StatusCreated, Body: `{"number": 1}`})
	wanted := hostingtest.Proposal()
	wanted.Draft = true
	opened, err := p.repo.Open(t.Context(), wanted)
	const says = `drafts by the prefix "WIP: "`
	if e := p.refused(err, githost.ErrRejected, says); e.Field != githost.FieldDraft || opened == nil {
		t.Errorf("the error is at %q, and the pull request is %v", e.Field, opened)
	}
}

// TestAutoMerge: if people schedule or cancel auto-merge, a read shows it, but not the method. Our auto-merge replaces
// theirs, whatever its method was.
func TestAutoMerge(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.Require("main", "ci")
	opened := p.open()
	p.on.AutoMerge(t, opened.Number, "ann", "squash")
	now := p.Must(p.repo.Read(t.Context(), opened.Number))
	if now.AutoMerge != githost.UnknownMethod {
		t.Errorf("auto-merge is %q", now.AutoMerge)
	}
	at := len(p.on.Requests())
	now = p.Must(p.repo.MergeWhenReady(t.Context(), now, githost.Merge))
	if now.AutoMerge != githost.Merge || !slices.Contains(p.calls(at), "DELETE /pulls/1/merge") {
		t.Errorf("auto-merge is %q after %v", now.AutoMerge, p.calls(at))
	}
	p.on.CancelMerge(t, opened.Number)
	if now := p.Must(p.repo.Read(t.Context(), opened.Number)); now.AutoMerge != "" {
		t.Errorf("auto-merge is %q", now.AutoMerge)
	}
	// Auto-merge that is already off can be disabled once more, and enabled with another method.
	p.Must(p.repo.MergeWhenReady(t.Context(), now, ""))
	now = p.Must(p.repo.MergeWhenReady(t.Context(), now, githost.Squash))
	p.on.SetStatus("ann", now.HeadCommit, "ci", "success")
	p.until(func() bool { return p.Must(p.repo.Read(t.Context(), 1)).State == githost.Merged })
	if parents := gitserver.Git(t, p.fetched(), "rev-list", "--parents", "-1", "main"); len(strings.Fields(parents)) != 2 {
		t.Errorf("the pull request was not squashed: %s", parents)
	}
}

// fetched returns the local repo, with the server's main.
func (p *place) fetched() string {
	p.Helper()
	gitserver.Git(p, p.local, "fetch", "--quiet", p.on.Remote(), "+refs/heads/main:refs/heads/main")
	return p.local
}

func (p *place) until(condition func() bool) {
	p.Helper()
	giteaserver.Await(p, "the condition is still false", condition)
}

// TestAutoMergeScheduledByPeople: people schedule auto-merge after we have read the pull request. Scheduling it with
// the same method is no error.
func TestAutoMergeScheduledByPeople(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.Require("main", "ci")
	opened := p.open()
	p.on.AutoMerge(t, opened.Number, "ann", "squash")
	if now := p.Must(p.repo.MergeWhenReady(t.Context(), opened, githost.Squash)); now.AutoMerge != githost.Squash {
		t.Errorf("auto-merge is %q", now.AutoMerge)
	}
}

// TestBranchThatMoves: if a branch moves while Gitea reads it, the request for a merge is repeated.
func TestBranchThatMoves(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.Require("main", "ci")
	opened := p.open()
	p.on.Fail(http.MethodPost, "/merge", 2, hostfake.Failure{Status: 409, Body: `{"message": "head out of date"}`})
	if now := p.Must(p.repo.MergeWhenReady(t.Context(), opened, githost.Merge)); now.AutoMerge != githost.Merge {
		t.Errorf("auto-merge is %q", now.AutoMerge)
	}
	if waits := p.waited(); len(waits) < 2 || waits[0] != 1 || waits[1] != 2 {
		t.Errorf("waits: %v", waits)
	}
}

// TestForbiddenMethod: Gitea would schedule a merge method that the repo forbids, and never merge. So we refuse it.
func TestForbiddenMethod(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.Set(t, map[string]any{"allow_rebase": false})
	opened := p.open()
	at := len(p.on.Requests())
	_, err := p.repo.MergeWhenReady(t.Context(), opened, githost.Rebase)
	e := p.refused(err, githost.ErrRejected, `the settings of the repo do not allow the merge method "rebase"`)
	if e.Field != githost.FieldAutoMerge {
		t.Errorf("the error is at %q", e.Field)
	}
	p.expectCalls(at, "GET ")
}

// TestConflict: Gitea gives the same answer if there is a conflict and while it still checks for conflicts. We try five
// times, and the error names both causes.
func TestConflict(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.push("main", "change.txt", "conflict\n")
	opened := p.open()
	p.waited()
	_, err := p.repo.MergeWhenReady(t.Context(), opened, githost.Merge)
	e := p.refused(err, githost.ErrRejected, "it conflicts with main, or Gitea's check for conflicts takes too long")
	if diff := cmp.Diff([]float64{1, 2, 4, 8}, p.waited()); diff != "" || e.Field != githost.FieldAutoMerge {
		t.Errorf("the error is at %q; waits (-want +got):\n%s", e.Field, diff)
	}
}

// TestMergeRefused: Gitea does not merge a draft, or for a user who may not merge. The error contains its message.
func TestMergeRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	wanted := hostingtest.Proposal()
	wanted.Draft = true
	opened := p.Must(p.repo.Open(t.Context(), wanted))
	_, err := p.repo.MergeWhenReady(t.Context(), opened, githost.Merge)
	p.refused(err, githost.ErrRejected, "Work in progress PRs cannot be merged")
	wanted.Draft = false
	opened = p.Must(p.repo.Edit(t.Context(), opened, wanted))
	p.on.API.Send(t, http.MethodPost, "/branch_protections", map[string]any{
		"rule_name": "main", "enable_merge_whitelist": true, "merge_whitelist_usernames": []string{"ann"},
	}, nil)
	_, err = p.repo.MergeWhenReady(t.Context(), opened, githost.Merge)
	if e := p.refused(err, githost.ErrForbidden, "User not allowed to merge PR"); e.Grant == "" ||
		e.Field != githost.FieldAutoMerge {
		t.Errorf("got %+v", e)
	}
}

// TestRetries: after a temporary failure, a request is repeated, after the time that the server asks for. After a lost
// answer, no operation is done twice.
func TestRetries(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		failure hostfake.Failure
		want    []float64
	}{
		"429 with Retry-After": {hostfake.Failure{Status: 429, Header: map[string]string{"Retry-After": "42"}},
			[]float64{42, 42}},
		"429":                               {hostfake.Failure{Status: 429}, []float64{60, 120}},
		"500":                               {hostfake.Failure{Status: 500, Body: `{"message": ""}`}, []float64{1, 2}},
		"502":                               {hostfake.Failure{Status: 502, Body: "<html>"}, []float64{1, 2}},
		"dropped request":                   {hostfake.Failure{Drop: true}, []float64{1, 2}},
		"lost answer":                       {hostfake.Failure{Drop: true, After: true}, []float64{1, 2}},
		"504 of a request that took effect": {hostfake.Failure{Status: 504, After: true}, []float64{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.on.Require("main", "ci")
			p.on.Fail(http.MethodPost, "/pulls", 2, tt.failure)
			wanted := hostingtest.Proposal()
			wanted.Reviewers = []string{p.on.Owner + "/platform"}
			opened := p.Must(p.repo.Open(t.Context(), wanted))
			p.expectWaits(tt.want)
			if opened.Number != 1 {
				t.Errorf("opened %+v", opened)
			}
			p.on.Fail(http.MethodPost, "/merge", 2, tt.failure)
			if now := p.Must(p.repo.MergeWhenReady(t.Context(), opened, githost.Squash)); now.AutoMerge != githost.Squash {
				t.Errorf("the pull request is %+v", now)
			}
			p.on.Fail(http.MethodDelete, "/merge", 2, tt.failure)
			now := p.Must(p.repo.Read(t.Context(), 1))
			if now := p.Must(p.repo.MergeWhenReady(t.Context(), now, "")); now.AutoMerge != "" {
				t.Errorf("the pull request is %+v", now)
			}
			p.on.Fail(http.MethodPatch, "/pulls/1", 2, tt.failure)
			if closed := p.Must(p.repo.Close(t.Context(), 1)); closed.State != githost.Closed {
				t.Errorf("the pull request is %+v", closed)
			}
		})
	}
}

func (p *place) expectWaits(want []float64) {
	p.Helper()
	if diff := cmp.Diff(want, p.waited()); diff != "" {
		p.Errorf("waits (-want +got):\n%s", diff)
	}
}

// TestUnavailableUntilDeadline: if all attempts fail until the deadline, the error is of the kind of the last failure.
func TestUnavailableUntilDeadline(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for status, kind := range map[int]error{429: githost.ErrRateLimited, 503: githost.ErrUnavailable} {
		p.on.Fail("", "/pulls", 20, hostfake.Failure{Status: status, Body: `{"message": "not now, ` + p.on.Token + `"}`})
		ctx, cancel := context.WithDeadline(t.Context(), p.clock.Now().Add(90*time.Second))
		_, err := p.repo.Read(ctx, 1)
		cancel()
		p.refused(err, kind, "not now, ")
		p.on.ClearFailures()
	}
}

// TestInvalidAnswers: the error is clear if another program answers, or Gitea answers with an error without a message.
func TestInvalidAnswers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for answer, want := range map[string]struct {
		status int
		kind   error
		said   string
	}{
		"<html>":                         {200, githost.ErrRejected, "invalid character '<'"},
		"":                               {403, githost.ErrForbidden, "Forbidden"},
		`{"StdErr": "x"}`:                {409, githost.ErrRejected, "Conflict"},
		`{"message":"a","errors":["b"]}`: {422, githost.ErrRejected, `"a: b"`},
	} {
		p.on.Fail("", "/pulls/1", 1, hostfake.Failure{Status: want.status, Body: answer})
		_, err := p.repo.Read(t.Context(), 1)
		p.refused(err, want.kind, want.said)
	}
	p.on.Fail("", "/pulls/1", 1,
		hostfake.Failure{Status: 302, Header: map[string]string{"Location": "https://evil.io/login"}})
	_, err := p.repo.Read(t.Context(), 1)
	p.refused(err, githost.ErrRejected, "outside its API")
}

// TestStatusStates: states that other hosts do not have, such as a warning, are read as errored. The case of a context
// does not matter.
func TestStatusStates(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	commit := p.on.Head(t, "change")
	for _, state := range []string{"success", "warning", "skipped", "whatever"} {
		p.on.SetStatus("ann", commit, "CI", state)
		got, err := p.repo.Status(t.Context(), commit, "ci")
		want := githost.Errored
		if state == "success" {
			want = githost.Success
		}
		if err != nil || got == nil || got.State != want || got.Creator != "ann" {
			t.Errorf("the status %s is read as %+v, %v", state, got, err)
		}
	}
	p.on.SetStatus("ann", commit, "ci", "failure")
	latest, err := p.repo.LatestStatuses(t.Context(), []string{commit}, []string{"Ci"})
	if err != nil || len(latest.ByCommit[commit]) != 1 || latest.ByCommit[commit][0].State != githost.Failure {
		t.Errorf("the latest are %+v, %v", latest, err)
	}
}

// TestManyCommits: the statuses of 500 commits are read within a minute, with one request for each commit.
func TestManyCommits(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var script strings.Builder
	for i := range 500 {
		fmt.Fprintf(&script, "commit refs/heads/many\nmark :%d\ncommitter A <a@acme.io> 1700000000 +0000\ndata 2\n%c\n", i+1,
			'a'+rune(i%26))
	}
	gitserver.FastImport(t, p.local, script.String())
	gitserver.Git(t, p.local, "push", "--quiet", p.on.Remote(), "refs/heads/many")
	commits := strings.Fields(gitserver.Git(t, p.local, "rev-list", "many"))
	p.on.SetStatus("ann", commits[499], "dev", "success")
	at, from := len(p.on.Requests()), time.Now()
	got, err := p.repo.LatestStatuses(t.Context(), commits, []string{"dev"})
	took := time.Since(from)
	if err != nil || len(commits) != 500 || len(got.ByCommit[commits[499]]) != 1 || got.Viewer != p.on.Login {
		t.Errorf("got %v, %v of %d commits", got, err, len(commits))
	}
	if made := len(p.on.Requests()) - at; made != 501 || took > time.Minute {
		t.Errorf("%d requests, %s", made, took)
	}
	t.Logf("501 requests took %s", took)
}
