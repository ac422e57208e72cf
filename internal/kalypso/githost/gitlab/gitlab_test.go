package gitlab_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/gitlab"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/gitlabfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// place is a project of the fake with a commit on main, and a branch change with one more commit.
type place struct {
	hostingtest.Test
	*hostingtest.World
	Fake *gitlabfake.Server
	on   *gitlabfake.Project
	repo githost.Repo
}

// projectPath is the path of the project.
const projectPath = "acme/platform/gitops"

func newPlace(t *testing.T, options ...hostfake.Option) *place {
	t.Helper()
	p := &place{World: hosts.GitLab(options...)(t)}
	p.Fake, _ = p.Server.(*gitlabfake.Server)
	p.Test = hostingtest.NewTest(t, p.Clock)
	p.on = p.Fake.AddProject(t, projectPath)
	gitserver.Seed(t, p.on.Dir, "main", map[string]string{"README.md": "hello\n"})
	p.branch("change")
	p.repo = p.as(hostingtest.Writer)
	return p
}

// branch adds a commit to a branch that starts at the head of main.
func (p *place) branch(name string) string {
	p.Helper()
	if gitserver.Rev(p, p.on.Dir, name) == "" {
		gitserver.Git(p, p.on.Dir, "branch", name, "main")
	}
	return gitserver.Seed(p, p.on.Dir, name, map[string]string{name: gitserver.Rev(p, p.on.Dir, name)})
}

func (p *place) as(c hostingtest.Credential) githost.Repo {
	p.Helper()
	repo, err := p.Host(p.T, c).Repo(p.on.URL)
	if err != nil {
		p.Fatal(err)
	}
	return repo
}

// calls returns the requests to the API since the last call, as method and path below the project.
func (p *place) calls() []string {
	var all []string
	for _, r := range p.Fake.Requests() {
		all = append(all, r.Method+" "+strings.TrimPrefix(r.Path, "/projects/100"))
	}
	p.Fake.ResetLog()
	return all
}

func (p *place) expectCalls(want ...string) {
	p.Helper()
	if diff := cmp.Diff(want, p.calls()); diff != "" {
		p.Errorf("calls (-want +got):\n%s", diff)
	}
}

const lookup = "GET /projects/acme%2Fplatform%2Fgitops"

// TestRequests: the project and each user are looked up once. An edit takes one request, or none if it changes nothing.
func TestRequests(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	wanted := hostingtest.Proposal()
	wanted.Draft, wanted.Labels, wanted.Reviewers = true, []string{"platform"}, []string{"ann"}
	opened := p.Must(p.repo.Open(t.Context(), wanted))
	p.expectCalls(lookup, "GET /users", "POST /merge_requests")
	p.Must(p.repo.Edit(t.Context(), opened, wanted))
	p.expectCalls()
	wanted.Title, wanted.Body, wanted.Draft = "Other", "Other\n\n"+hostingtest.Marker, false
	wanted.Labels, wanted.RemoveLabels, wanted.Reviewers = []string{"urgent"}, []string{"platform"}, []string{"Ann", "bob"}
	edited := p.Must(p.repo.Edit(t.Context(), opened, wanted))
	p.expectCalls("GET /users", "GET /merge_requests/1", "PUT /merge_requests/1")
	if edited.Title != "Other" || edited.Draft || strings.Join(edited.Labels, " ") != "urgent" ||
		strings.Join(edited.Reviewers, " ") != "ann bob" {
		t.Errorf("edited: %+v", edited)
	}
	p.Must(p.repo.Find(t.Context(), hostingtest.Query))
	p.expectCalls("GET /merge_requests")
	p.Must(p.repo.Close(t.Context(), 1))
	p.expectCalls("GET /merge_requests/1", "PUT /merge_requests/1")
	p.Must(p.repo.Find(t.Context(), hostingtest.Query))
	p.expectCalls("GET /merge_requests", "GET /merge_requests")
}

// TestParallelLookup: if several repos of one project are used at the same time, the project is looked up once. After
// an error it is looked up again.
func TestParallelLookup(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.Fake.Fail("GET", "/projects/acme", 1, gitlabfake.Error(http.StatusForbidden, "403 Forbidden"))
	host := p.Host(t, hostingtest.Writer)
	find := func() error {
		repo, err := host.Repo(p.on.URL)
		if err == nil {
			_, err = repo.Find(t.Context(), hostingtest.Query)
		}
		return err
	}
	p.Refused(find(), githost.ErrForbidden, "", "find the merge request of branch change")
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			if err := find(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	lookups := 0
	for _, call := range p.calls() {
		if call == lookup {
			lookups++
		}
	}
	if lookups != 2 {
		t.Errorf("%d look-ups", lookups)
	}
}

// TestMovedProject: requests use the number of a project, so that they work after it has moved.
func TestMovedProject(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.Move("acme/moved")
	p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
	p.expectCalls(lookup, "GET ", "POST /merge_requests")
}

// TestRepoURLs: a project is in groups of any depth. Its HTTPS URL contains the folder of the server, its SSH URL does
// not.
func TestRepoURLs(t *testing.T) {
	t.Parallel()
	const none = ""
	for _, tt := range []struct{ base, url, page string }{
		{"", "https://gitlab.com/acme/gitops", "https://gitlab.com/acme/gitops/-/commit/abc"},
		{"", "https://GitLab.com/acme/a/b/c.d/gitops.git", "https://gitlab.com/acme/a/b/c.d/gitops/-/commit/abc"},
		{"", "git@gitlab.com:acme/gitops.git", "https://gitlab.com/acme/gitops/-/commit/abc"},
		{"", "ssh://git@altssh.gitlab.com:443/acme/gitops.git", "https://gitlab.com/acme/gitops/-/commit/abc"},
		{"https://acme.io/git/", "https://acme.io/git/acme/gitops", "https://acme.io/git/acme/gitops/-/commit/abc"},
		{"https://acme.io/git/api/v4/", "git@acme.io:acme/gitops", "https://acme.io/git/acme/gitops/-/commit/abc"},
		{"https://acme.io:8443", "ssh://git@acme.io:2222/acme/gitops", "https://acme.io:8443/acme/gitops/-/commit/abc"},
		{"https://acme.io/git", "https://acme.io/acme/gitops", none},
		{"https://acme.io", "ssh://git@altssh.gitlab.com:443/acme/gitops.git", none},
		{"", "https://gitlab.com.acme.io/acme/gitops", none}, {"", "https://xgitlab.com/acme/gitops", none},
		{"", "https://gitlab.com:8443/acme/gitops", none}, {"", "http://gitlab.com/acme/gitops", none},
		{"", "https://gitlab.com/gitops", none}, {"", "https://gitlab.com/acme/-/gitops", none},
		{"", "https://gitlab.com/acme/../gitops", none}, {"", "https://gitlab.com/acme//gitops", none},
		{"", "/srv/gitlab.com/acme/gitops", none},
	} {
		host, err := gitlab.New(httpapi.Access{BaseURL: tt.base})
		if err != nil {
			t.Fatal(err)
		}
		page := none
		if repo, err := host.Repo(tt.url); err == nil {
			page = repo.CommitURL("abc")
		}
		if page != tt.page {
			t.Errorf("%s on %q: the page is %q, want %q", tt.url, tt.base, page, tt.page)
		}
	}
	for _, base := range []string{"gitlab.acme.io", "ftp://acme.io", "https://", ":"} {
		if _, err := gitlab.New(httpapi.Access{BaseURL: base}); err == nil {
			t.Errorf("%q is a base URL", base)
		}
	}
}

// TestErrors: each answer of GitLab gives the kind of error whose advice helps.
func TestErrors(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	number := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal())).Number
	read := func() error { _, err := p.repo.Read(p.Within(time.Minute), number); return err }
	for _, tt := range []struct {
		answer hostfake.Failure
		kind   error
		said   string
	}{
		{hostfake.Failure{Status: 401, Body: `{"error":"invalid_token","error_description":"Token was revoked."}`},
			githost.ErrUnauthenticated, `"invalid_token: Token was revoked." (HTTP 401)`},
		{hostfake.Failure{Status: 403, Body: `{"error":"insufficient_scope","scope":"api"}`}, githost.ErrForbidden,
			"insufficient_scope"},
		{gitlabfake.Error(404, "404 Project Not Found"), githost.ErrNotVisible, "404 Project Not Found"},
		{gitlabfake.Error(404, "404 Commit Not Found"), githost.ErrCommitNotFound, ""},
		{gitlabfake.Error(404, "404 References for commit Not Found"), githost.ErrCommitOnNoBranch, "on no branch"},
		{hostfake.Failure{Status: 409,
			Body: `{"message":["Another open merge request already exists for this source branch: !5"]}`},
			githost.ErrExists, "!5"},
		{hostfake.Failure{Status: 422, Body: `{"message":["Source branch \"x\" does not exist"]}`},
			githost.ErrBranchNotFound, ""},
		{hostfake.Failure{Status: 400, Body: `{"message":{"base":["The source branch x does not exist"]}}`},
			githost.ErrBranchNotFound, ""},
		{gitlabfake.Error(405, "Non GET methods are not allowed for moved projects"), githost.ErrRejected,
			"use its new URL"},
		{hostfake.Failure{Status: 400, Body: `{"message":{"title":["is too long (maximum is 255 characters)"],"b":["x"]}}`},
			githost.ErrRejected, `"b x: title is too long (maximum is 255 characters)"`},
		{gitlabfake.RateLimit(4000), githost.ErrRateLimited, ""},
		{hostfake.Failure{Status: 429, Header: map[string]string{
			"RateLimit-Reset": fmt.Sprint(p.Clock.Now().Add(time.Hour).Unix())}}, githost.ErrRateLimited, ""},
		{hostfake.Failure{Status: 302, Header: map[string]string{"Location": "/users/sign_in"}},
			githost.ErrUnauthenticated, "a sign-in page"},
		{hostfake.Failure{Status: 302, Header: map[string]string{"Location": "https://evil.io/api/v4/x"}},
			githost.ErrRejected, "outside its API"},
		{hostfake.Failure{Status: 200, Body: "<html>"}, githost.ErrRejected, ""},
		{hostfake.Failure{Status: 400, Body: `{"message":"Bearer glpat-canaryTokenOfTheFake"}`}, githost.ErrRejected,
			"(secret)"},
	} {
		p.Fake.Fail("GET", "/merge_requests/1", 1, tt.answer)
		p.Refused(read(), tt.kind, "", "read merge request 1 of "+projectPath)
		p.Fake.Fail("GET", "/merge_requests/1", 1, tt.answer)
		p.Refused(read(), tt.kind, "", tt.said)
	}
	if err := read(); err != nil {
		t.Error(err)
	}
}

// TestReadScope: if a token may only read, the error names the missing scope.
func TestReadScope(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.Fake.AddToken("canaryReader", "bob", hostfake.Everywhere(hostfake.Write), "read_api")
	_, err := p.as(hostingtest.Reader).Open(t.Context(), hostingtest.Proposal())
	p.Refused(err, githost.ErrForbidden, "", "insufficient_scope")
	var e *githost.Error
	if errors.As(err, &e) && !strings.Contains(e.Grant, "the scope api") {
		t.Errorf("the error advises %q", e.Grant)
	}
}

// TestRetries: after a temporary failure or a broken connection, the whole request is sent again. If the first request
// took effect, no second merge request is opened.
func TestRetries(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]hostfake.Failure{
		"busy server": gitlabfake.Error(502, "Bad Gateway"), "dropped request": hostfake.Dropped(),
		"rate limit":  gitlabfake.RateLimit(1),
		"lost answer": hostfake.AnswerLost(),
	} {
		p := newPlace(t)
		p.Fake.Fail("POST", "/merge_requests", 2, failure)
		wanted := hostingtest.Proposal()
		wanted.Draft, wanted.Labels = true, []string{"platform"}
		opened := p.Must(p.repo.Open(p.Within(time.Hour), wanted))
		if all := p.on.PullRequests(); len(all) != 1 || all[0].Title != "Draft: Title" || len(all[0].Labels) != 1 ||
			opened.Number != 1 || opened.Title != "Title" {
			t.Errorf("%s: %+v", name, all)
		}
		if diff := cmp.Diff([]time.Duration{time.Second, 2 * time.Second},
			p.Clock.Waited()); diff != "" && name == "busy server" {
			t.Errorf("waits (-want +got):\n%s", diff)
		}
	}
}

// TestForks: merge requests of forks are not ours, even if their branches have our names.
func TestForks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.OpenFromFork(t, "eve", "change", "main", "From a fork", "Text\n\n"+hostingtest.Marker)
	if found, err := p.repo.Find(t.Context(), hostingtest.Query); found != nil || err != nil {
		t.Errorf("found %+v, %v", found, err)
	}
	if opened := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal())); opened.Number != 2 {
		t.Errorf("opened %+v", opened)
	}
}

// TestMergeInProgressIsReadAgain: while GitLab merges a merge request, it is read again. After a minute it is reported
// as open.
func TestMergeInProgressIsReadAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
	p.on.Lock(t, 1, 4)
	if now := p.Must(p.repo.Close(t.Context(), 1)); now.State != githost.Merged || now.MergeCommit == "" {
		t.Errorf("the merge request is %+v", now)
	}
	p.branch("other")
	wanted := hostingtest.Proposal()
	wanted.Branch = "other"
	p.Must(p.repo.Open(t.Context(), wanted))
	p.on.Lock(t, 2, 1000)
	p.Clock.Waited()
	if now := p.Must(p.repo.Read(t.Context(), 2)); now.State != githost.Open {
		t.Errorf("the merge request is %+v", now)
	}
	var waited time.Duration
	for _, d := range p.Clock.Waited() {
		waited += d
	}
	if waited < 30*time.Second || waited > time.Minute {
		t.Errorf("it waited %s", waited)
	}
	found := p.Must(p.repo.Find(t.Context(), githost.Query{Branch: "other", Target: "main", Marker: hostingtest.Marker}))
	if found.State != githost.Open {
		t.Errorf("found %+v", found)
	}
}

// TestDroppedReviewers: GitLab may drop reviewers without an error. Then we return an error that names them.
func TestDroppedReviewers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.OneReviewer = true
	wanted := hostingtest.Proposal()
	wanted.Reviewers = []string{"ann", "bob"}
	opened, err := p.repo.Open(t.Context(), wanted)
	p.Refused(err, githost.ErrRejected, githost.FieldReviewers,
		"GitLab keeps one reviewer on this plan, and asks ann instead of bob")
	_, err = p.repo.Edit(t.Context(), *opened, wanted)
	p.Refused(err, githost.ErrRejected, githost.FieldReviewers, "GitLab keeps one reviewer on this plan")
	wanted.Reviewers = []string{"ann", "nobody"}
	now, err := p.repo.Edit(t.Context(), *opened, wanted)
	p.Refused(err, githost.ErrRejected, githost.FieldReviewers, "GitLab has no user nobody")
	if strings.Join(now.Reviewers, " ") != "ann" {
		t.Errorf("reviewers of the merge request: %v", now.Reviewers)
	}
	p = newPlace(t)
	wanted.Reviewers = []string{"outsider"}
	_, err = p.repo.Open(t.Context(), wanted)
	p.Refused(err, githost.ErrRejected, githost.FieldReviewers, "GitLab did not ask outsider: the user may not see")
}

// TestMergeCommit: with each merge method, the merge commit is the head of the target branch after the merge.
func TestMergeCommit(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"squash", "merge"} {
		for _, fast := range []bool{true, false} {
			p := newPlace(t)
			if fast {
				p.on.FastForward = true
			}
			p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
			head := p.on.Merge(t, 1, method)
			if now := p.Must(p.repo.Read(t.Context(), 1)); now.State != githost.Merged || now.MergeCommit != head {
				t.Errorf("%s, fast-forward %v: %+v, main is %s", method, fast, now, head)
			}
		}
	}
}

// TestMergeRefused: a refused merge is tried five times, since GitLab may still check the merge request in the
// background. If the user may not merge, it is tried once.
func TestMergeRefused(t *testing.T) {
	t.Parallel()
	for _, failure := range []hostfake.Failure{
		gitlabfake.Error(405, "405 Method Not Allowed"), gitlabfake.Error(422, "Branch cannot be merged"),
		gitlabfake.Error(409, "SHA does not match HEAD of source branch: abc"),
	} {
		p := newPlace(t)
		opened := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
		p.Fake.Fail("PUT", "/merge_requests/1/merge", 5, failure)
		_, err := p.repo.MergeWhenReady(t.Context(), opened, githost.Merge)
		p.Refused(err, githost.ErrRejected, githost.FieldAutoMerge, `its state is "mergeable"`)
		want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}
		if diff := cmp.Diff(want, p.Clock.Waited()); diff != "" {
			t.Errorf("waits (-want +got):\n%s", diff)
		}
		p.Fake.Fail("PUT", "/merge_requests/1/merge", 4, failure)
		if now := p.Must(p.repo.MergeWhenReady(t.Context(), opened, githost.Squash)); now.State != githost.Merged {
			t.Errorf("the merge request is %+v", now)
		}
	}
	p := newPlace(t)
	opened := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
	p.on.NoMerge = true
	_, err := p.repo.MergeWhenReady(t.Context(), opened, githost.Merge)
	p.Refused(err, githost.ErrForbidden, githost.FieldAutoMerge, "enable auto-merge of merge request 1")
	opened.AutoMerge = githost.Merge
	_, err = p.repo.MergeWhenReady(t.Context(), opened, "")
	p.Refused(err, githost.ErrForbidden, githost.FieldAutoMerge, "disable auto-merge of merge request 1")
	if waits := p.Clock.Waited(); len(waits) > 0 {
		t.Errorf("it waited %v", waits)
	}
}

// TestMergeWithoutPipeline: many versions of GitLab refuse auto-merge if there is no pipeline. Then the commit is
// merged at once, by its hash. They accept auto-merge while a pipeline runs.
func TestMergeWithoutPipeline(t *testing.T) {
	t.Parallel()
	for _, lag := range []int{0, 2} {
		p := newPlace(t, hostfake.WithLag(lag))
		p.Fake.OldMerge = true
		opened := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
		merged := p.Must(p.repo.MergeWhenReady(t.Context(), opened, githost.Merge))
		if merged.State != githost.Merged || merged.MergeCommit != gitserver.Rev(t, p.on.Dir, "main") {
			t.Errorf("the merge request is %+v", merged)
		}
		p.branch("running")
		wanted := hostingtest.Proposal()
		wanted.Branch = "running"
		now := p.Must(p.repo.Open(t.Context(), wanted))
		p.on.SetStatus("ann", now.HeadCommit, "ci", "running")
		p.Fake.Fail("PUT", "/merge_requests/2/merge", 1, gitlabfake.Error(405, "405 Method Not Allowed"))
		now = p.Must(p.repo.MergeWhenReady(t.Context(), now, githost.Squash))
		if now.AutoMerge != githost.Squash {
			t.Errorf("the merge request is %+v", now)
		}
	}
	p := newPlace(t)
	p.Fake.OldMerge = true
	p.on.Require("main", "ci")
	opened := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
	_, err := p.repo.MergeWhenReady(t.Context(), opened, githost.Merge)
	p.Refused(err, githost.ErrRejected, githost.FieldAutoMerge, `its state is "ci_must_pass"`)
}

// TestMergeMethods: auto-merge can be changed from squash to merge, although GitLab stores squash as a setting of the
// merge request.
func TestMergeMethods(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.Require("main", "ci")
	now := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
	for _, method := range []githost.MergeMethod{githost.Squash, githost.Merge} {
		now = p.Must(p.repo.MergeWhenReady(t.Context(), now, method))
		if all := p.on.PullRequests(); all[0].AutoMerge != string(method) || now.AutoMerge != method {
			t.Errorf("%s: %+v, %+v", method, all[0], now)
		}
	}
}

// TestCancelTwice: it is no error if auto-merge is already off when it is canceled, whichever answer this version of
// GitLab gives.
func TestCancelTwice(t *testing.T) {
	t.Parallel()
	for _, failure := range []hostfake.Failure{{After: true}, gitlabfake.Error(406, "406 Not Acceptable"),
		gitlabfake.Error(405, "405 Method Not Allowed")} {
		p := newPlace(t)
		now := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
		now.AutoMerge = githost.Merge
		p.Fake.Fail("POST", "/cancel_merge", 1, failure)
		if off := p.Must(p.repo.MergeWhenReady(t.Context(), now, "")); off.AutoMerge != "" || off.State != githost.Open {
			t.Errorf("the merge request is %+v", off)
		}
	}
	p := newPlace(t)
	p.on.Require("main", "ci")
	opened := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
	now := p.Must(p.repo.MergeWhenReady(t.Context(), opened, githost.Merge))
	p.Fake.Fail("POST", "/cancel_merge", 1, gitlabfake.Error(405, "405 Method Not Allowed"))
	_, err := p.repo.MergeWhenReady(t.Context(), now, "")
	p.Refused(err, githost.ErrRejected, githost.FieldAutoMerge, "disable auto-merge of merge request 1")
}

// TestPendingStatusIsNotRepeated: a pending status is not set to pending again. The status that follows has no
// description and URL of the pending one.
func TestPendingStatusIsNotRepeated(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	commit := gitserver.Rev(t, p.on.Dir, "change")
	set := func(s githost.Status) githost.Status {
		t.Helper()
		s.Context = "dev"
		got, err := p.repo.SetStatus(t.Context(), commit, s)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := githost.Status{State: githost.Pending, Description: "on its way", TargetURL: "https://acme.io/1"}
	set(first)
	if got := set(githost.Status{State: githost.Pending, Description: "still"}); !githost.EqualStatus(first, got) {
		t.Errorf("a second pending status: %+v", got)
	}
	p.calls()
	if got := set(githost.Status{State: githost.Success}); got.Description != "" || got.TargetURL != "" ||
		got.State != githost.Success {
		t.Errorf("success: %+v", got)
	}
	p.expectCalls("POST /statuses/"+commit, "POST /statuses/"+commit)
	set(githost.Status{State: githost.Failure, Description: "why"})
	p.expectCalls("POST /statuses/" + commit)
}

// TestRunningStatusIsNotSetToPending: a running status, which a job with our token may have set, is not set to pending.
func TestRunningStatusIsNotSetToPending(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	commit := gitserver.Rev(t, p.on.Dir, "change")
	p.on.SetStatus("kalypso-bot", commit, "dev", "running")
	got, err := p.repo.SetStatus(t.Context(), commit, githost.Status{Context: "dev", State: githost.Pending})
	if s, posted := p.on.Status(commit, "dev"); err != nil || got.State != githost.Pending || s.State != "running" ||
		posted != 1 {
		t.Errorf("the status is %+v (%s, %d), %v", got, s.State, posted, err)
	}
}

// TestBusyStatus: while GitLab sets another status of the commit, it refuses ours. Then setting it is tried up to five
// times.
func TestBusyStatus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		times int
		kind  error
		waits []time.Duration
	}{
		{3, nil, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
		{5, githost.ErrRejected, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}},
	} {
		p := newPlace(t)
		commit := gitserver.Rev(t, p.on.Dir, "change")
		p.Fake.Fail("POST", "/statuses/", tt.times, gitlabfake.Error(http.StatusConflict,
			"Another update to this commit status is in progress"))
		got, err := p.repo.SetStatus(t.Context(), commit, githost.Status{Context: "dev", State: githost.Success})
		if tt.kind != nil {
			p.Refused(err, tt.kind, "", "Another update")
		} else if err != nil || got.State != githost.Success {
			t.Errorf("the status is %+v, %v", got, err)
		}
		if diff := cmp.Diff(tt.waits, p.Clock.Waited()); diff != "" {
			t.Errorf("waits (-want +got):\n%s", diff)
		}
	}
}

// TestStatusOnNoBranch: GitLab refuses a status on a commit that is on no branch.
func TestStatusOnNoBranch(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	commit := p.branch("gone")
	gitserver.Git(t, p.on.Dir, "update-ref", "-d", "refs/heads/gone")
	_, err := p.repo.SetStatus(t.Context(), commit, githost.Status{Context: "dev", State: githost.Success})
	p.Refused(err, githost.ErrCommitNotFound, "", "the commit is on no branch")
	if !errors.Is(err, githost.ErrCommitOnNoBranch) {
		t.Error(err)
	}
}

// TestJobStates: GitLab shows the jobs of CI as statuses, which have more states than ours.
func TestJobStates(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	commit := gitserver.Rev(t, p.on.Dir, "change")
	want := map[string]githost.StatusState{}
	for state, of := range map[githost.StatusState]string{
		githost.Success: "success", githost.Failure: "failed", githost.Errored: "canceled skipped",
		githost.Pending: "pending created waiting_for_resource preparing running scheduled manual canceling",
	} {
		for _, job := range strings.Fields(of) {
			p.on.SetStatus("ann", commit, job, job)
			want[job] = state
		}
	}
	got, err := p.repo.LatestStatuses(t.Context(), []string{commit}, nil)
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]githost.StatusState{}
	for _, s := range got.ByCommit[commit] {
		states[s.Context] = s.State
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestManyStatuses: 500 commits take one request each, at most 8 at the same time. If a commit has more statuses than a
// page, only the given contexts are read.
func TestManyStatuses(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	commit := gitserver.Rev(t, p.on.Dir, "change")
	for i := range 130 {
		p.on.SetStatus("ann", commit, fmt.Sprint("job", i), "success")
	}
	p.on.SetStatus("ann", commit, "job0", "failure")
	commits := slices.Repeat([]string{gitserver.Rev(t, p.on.Dir, "main")}, 499)
	got, err := p.repo.LatestStatuses(t.Context(), append(commits, commit), []string{"job0", "job129", "none"})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, s := range got.ByCommit[commit] {
		seen = append(seen, fmt.Sprint(s.Context, " ", s.State))
	}
	if diff := cmp.Diff([]string{"job0 failure", "job129 success"}, seen); diff != "" || len(got.Unread) > 0 {
		t.Errorf("-want +got:\n%s\n%v", diff, got.Unread)
	}
	if calls := p.calls(); len(calls) != 2+500+3 {
		t.Errorf("%d requests", len(calls))
	}
	if most := p.Fake.MostAtOnce(); most > 8 || most < 2 {
		t.Errorf("%d requests at the same time", most)
	}
	history, more, err := p.repo.StatusHistory(t.Context(), commit)
	if err != nil || more || len(history) != 131 || history[0].Context != "job0" {
		t.Errorf("%d in the history, %v, %v", len(history), more, err)
	}
}
