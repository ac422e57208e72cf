package azuredevops_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/azuredevops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/azuredevopsfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// place is a repo of the fake with a commit on main, and a branch change with one more commit.
type place struct {
	hostingtest.Test
	*hostingtest.World
	Fake *azuredevopsfake.Server
	on   *azuredevopsfake.Repo
	repo githost.Repo
}

func newPlace(t *testing.T, options ...hostfake.Option) *place {
	t.Helper()
	p := &place{World: hosts.AzureDevOps(options...)(t)}
	p.Fake, _ = p.Server.(*azuredevopsfake.Server)
	p.Test = hostingtest.NewTest(t, p.Clock)
	p.on = p.Fake.AddRepo(t, "gitops")
	gitserver.Seed(t, p.on.Dir, "main", map[string]string{"README.md": "hello\n"})
	p.branch("change")
	repo, err := p.Host(t, hostingtest.Writer).Repo(p.on.URL)
	if err != nil {
		t.Fatal(err)
	}
	p.repo = repo
	return p
}

// branch adds a commit to a new branch that starts at the head of main.
func (p *place) branch(name string) string {
	p.Helper()
	gitserver.Git(p, p.on.Dir, "branch", name, "main")
	return gitserver.Seed(p, p.on.Dir, name, map[string]string{name: name})
}

// TestErrors: each answer of Azure gives the kind of error whose advice helps.
func TestErrors(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	number := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal())).Number
	read := func() error { _, err := p.repo.Read(p.Within(time.Minute), number); return err }
	moved := func(to string) hostfake.Failure {
		return hostfake.Failure{Status: 302, Header: map[string]string{"Location": to}}
	}
	for _, tt := range []struct {
		answer hostfake.Failure
		kind   error
		said   string
	}{
		{azuredevopsfake.SignIn(), githost.ErrUnauthenticated, "a sign-in page"},
		{moved("https://acme.visualstudio.com/_signin?realm=x"), githost.ErrUnauthenticated, "a sign-in page"},
		{moved("https://evil.io/acme/_apis/git"), githost.ErrRejected, "outside its API"},
		{azuredevopsfake.Error(401, "UnauthorizedRequestException", "TF400813: The user is not authorized."),
			githost.ErrUnauthenticated, "TF400813"},
		{azuredevopsfake.Error(403, "", "TF401027: You need the Git 'GenericRead' permission."), githost.ErrForbidden,
			"TF401027"},
		{azuredevopsfake.Error(403, "", "A policy of the organization denies it."), githost.ErrForbidden, "policy"},
		{azuredevopsfake.Error(404, "GitRepositoryNotFoundException", "TF401019: The Git repository does not exist."),
			githost.ErrNotVisible, "TF401019"},
		{azuredevopsfake.Error(404, "", "TF200016: The following project does not exist."), githost.ErrNotVisible, ""},
		{azuredevopsfake.Error(404, "", "VS800075: The project does not exist."), githost.ErrNotVisible, ""},
		{azuredevopsfake.Error(409, "", "TF401179: An active pull request already exists."), githost.ErrExists, ""},
		{azuredevopsfake.Error(400, "", "TF401398: The pull request cannot be activated."), githost.ErrBranchNotFound, ""},
		{azuredevopsfake.Error(400, "", "TF401028: The reference 'x' does not exist."), githost.ErrBranchNotFound, ""},
		{azuredevopsfake.Error(400, "", "TF401028: The reference 'x' has moved."), githost.ErrRejected, "has moved"},
		{hostfake.Failure{Status: 429, Header: map[string]string{"Retry-After": "4000"}}, githost.ErrRateLimited, ""},
		{hostfake.Failure{Status: 503, Header: map[string]string{"Retry-After": "4000"},
			Body: `{"message":"TF400733: The request was canceled: it exceeds its usage."}`}, githost.ErrRateLimited, ""},
		{hostfake.Failure{Status: 200, Body: "<html>"}, githost.ErrRejected, ""},
		{hostfake.Failure{Status: 400, Body: "\ufeff{\"value\":{\"Message\":\"No such thing.\"}}"},
			githost.ErrRejected, "No such thing."},
		{azuredevopsfake.Error(400, "", "Bearer canaryTokenOfTheAzureFake"), githost.ErrRejected, "(secret)"},
	} {
		p.Fake.Fail("GET", "/pullRequests/1", 1, tt.answer)
		p.Refused(read(), tt.kind, "", "read pull request 1 of My Project/gitops")
		p.Fake.Fail("GET", "/pullRequests/1", 1, tt.answer)
		p.Refused(read(), tt.kind, "", tt.said)
	}
	if err := read(); err != nil {
		t.Error(err)
	}
}

// TestRepoURLs: a repo has current and former URLs. A server whose name only resembles Azure's is another server.
func TestRepoURLs(t *testing.T) {
	t.Parallel()
	const none, page = "", "https://dev.azure.com/acme/shop/_git/gitops/commit/abc"
	for _, tt := range []struct{ base, url, page string }{
		{"", "https://dev.azure.com/acme/shop/_git/gitops", page},
		{"", "https://acme.visualstudio.com/shop/_git/gitops", page},
		{"", "https://acme.visualstudio.com/DefaultCollection/shop/_git/gitops", page},
		{"", "git@ssh.dev.azure.com:v3/acme/shop/gitops", page},
		{"https://tfs.acme.io/tfs/Main/", "https://tfs.acme.io/tfs/Main/shop/_git/gitops",
			"https://tfs.acme.io/tfs/Main/shop/_git/gitops/commit/abc"},
		{"https://tfs.acme.io/tfs/Main", "https://tfs.acme.io/tfs/Main/_git/shop",
			"https://tfs.acme.io/tfs/Main/shop/_git/shop/commit/abc"},
		{"https://tfs.acme.io/tfs/Main", "https://tfs.acme.io/tfs/Other/shop/_git/gitops", none},
		{"https://tfs.acme.io/tfs/Main", "https://dev.azure.com/acme/shop/_git/gitops", none},
		{"", "https://dev.azure.com.evil.io/acme/shop/_git/gitops", none},
		{"", "https://xvisualstudio.com/shop/_git/gitops", none},
		{"", "https://dev.azure.com:8443/acme/shop/_git/gitops", none},
		{"", "http://dev.azure.com/acme/shop/_git/gitops", none},
		{"", "https://dev.azure.com/acme/shop/gitops", none},
		{"", "https://dev.azure.com/acme/../shop/_git/gitops", none},
		{"", "/srv/dev.azure.com/acme/shop/_git/gitops", none},
	} {
		host, err := azuredevops.New(azuredevops.Config{Access: httpapi.Access{BaseURL: tt.base}})
		if err != nil {
			t.Fatal(err)
		}
		got := none
		if repo, err := host.Repo(tt.url); err == nil {
			got = repo.CommitURL("abc")
		}
		if got != tt.page {
			t.Errorf("%s on %q: the page is %q, want %q", tt.url, tt.base, got, tt.page)
		}
	}
	for _, base := range []string{"tfs.acme.io", "ftp://acme.io/tfs", "https://acme.io", "https://acme.io/", ":"} {
		if _, err := azuredevops.New(azuredevops.Config{Access: httpapi.Access{BaseURL: base}}); err == nil {
			t.Errorf("%q is a base URL", base)
		}
	}
}

// services sends requests for the servers of Azure DevOps Services to the fake, and notes which servers got a
// credential.
type services struct {
	to *url.URL

	mu   sync.Mutex
	seen map[string]bool // by server: whether a request to it had a credential
}

func (s *services) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.seen[req.URL.Host] = s.seen[req.URL.Host] || req.Header.Get("Authorization") != ""
	s.mu.Unlock()
	to := req.Clone(req.Context())
	to.URL.Scheme, to.URL.Host, to.Host = s.to.Scheme, s.to.Host, s.to.Host
	return http.DefaultTransport.RoundTrip(to)
}

// TestServersWithCredential: two servers of Azure DevOps Services get the token, and only for the configured
// organizations. The token is not sent to the target of a redirect.
func TestServersWithCredential(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	to, err := url.Parse(p.Fake.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, organization, redirect string
		want                         map[string]bool
	}{
		{"configured organization", "Acme", "", map[string]bool{"dev.azure.com": true, "vssps.dev.azure.com": true}},
		{"another organization", "other", "", map[string]bool{"dev.azure.com": false}},
		{"redirect", "acme", "https://app.vssps.visualstudio.com/acme/_apis/identities",
			map[string]bool{"dev.azure.com": true, "vssps.dev.azure.com": true}},
	} {
		s := &services{to: to, seen: map[string]bool{}}
		host, err := azuredevops.New(azuredevops.Config{
			Access:        httpapi.Access{Token: p.Fake.Token, Transport: s, Clock: p.Clock},
			Organizations: []string{tt.organization},
		})
		if err != nil {
			t.Fatal(err)
		}
		repo, err := host.Repo("https://dev.azure.com/acme/My%20Project/_git/gitops")
		if err != nil {
			t.Fatal(err)
		}
		if tt.redirect != "" {
			p.Fake.Fail("GET", "/_apis/identities", 1,
				hostfake.Failure{Status: 302, Header: map[string]string{"Location": tt.redirect}})
		}
		wanted := hostingtest.Proposal()
		wanted.Reviewers = []string{"ann"}
		opened, err := repo.Open(t.Context(), wanted)
		switch {
		case tt.name == "another organization":
			p.Refused(err, githost.ErrUnauthenticated, "", "TF400813")
		case tt.redirect != "":
			p.Refused(err, githost.ErrRejected, githost.FieldReviewers, "outside its API")
		case err != nil:
			t.Error(err)
		}
		if diff := cmp.Diff(tt.want, s.seen); diff != "" {
			t.Errorf("%s: servers with a credential (-want +got):\n%s", tt.name, diff)
		}
		if opened != nil {
			p.Must(p.repo.Close(t.Context(), opened.Number))
		}
	}
}

// TestRetries: after a temporary failure or a broken connection, the whole request is sent again. If the first request
// took effect, no second pull request is opened.
func TestRetries(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]hostfake.Failure{
		"busy server":     azuredevopsfake.Error(503, "", "TF400898: The service is not available."),
		"dropped request": {Drop: true},
		"rate limit":      {Status: 429, Header: map[string]string{"Retry-After": "1"}},
		"lost answer":     {Drop: true, After: true},
	} {
		p := newPlace(t)
		p.Fake.Fail("POST", "/pullRequests", 2, failure)
		wanted := hostingtest.Proposal()
		wanted.Draft, wanted.Labels = true, []string{"platform"}
		opened := p.Must(p.repo.Open(p.Within(time.Hour), wanted))
		if all := p.on.PullRequests(); len(all) != 1 || !all[0].Draft || len(all[0].Labels) != 1 || opened.Number != 1 ||
			opened.Body != wanted.Body {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// TestDelayRequestedByAnswer: if an answer asks the client to slow down, the next request waits as long as the answer
// says.
func TestDelayRequestedByAnswer(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
	p.Clock.Waited()
	p.Fake.Fail("GET", "/pullRequests/1/labels", 1, hostfake.Failure{After: true,
		Header: map[string]string{"Retry-After": "7"}})
	p.Must(p.repo.Read(t.Context(), 1))
	if waits := p.Clock.Waited(); len(waits) > 0 {
		t.Errorf("the request itself waited %v", waits)
	}
	p.Must(p.repo.Read(t.Context(), 1))
	if diff := cmp.Diff([]time.Duration{7 * time.Second}, p.Clock.Waited()); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

// TestLongDescriptions: Azure cuts the descriptions in a list, so Find reads some pull requests on their own, but at
// most ten. It finds ours among any number of other pull requests, since our marker is at the start of the description.
func TestLongDescriptions(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	wanted := hostingtest.Proposal()
	wanted.Body = hostingtest.Marker + "\n\n" + strings.Repeat("ö", 3000)
	opened := p.Must(p.repo.Open(t.Context(), wanted))
	for i := range 12 {
		name := fmt.Sprint("theirs-", i)
		p.branch(name)
		p.on.Open(t, hostingtest.Ann, name, "main", name, strings.Repeat("text ", 700))
	}
	before := len(p.Fake.Requests())
	found := p.Must(p.repo.Find(t.Context(), githost.Query{Target: "main", Marker: hostingtest.Marker}))
	if found.Number != opened.Number || found.Body != wanted.Body {
		t.Errorf("found %d with %d bytes", found.Number, len(found.Body))
	}
	if n := len(p.Fake.Requests()) - before; n > 1+10+1 {
		t.Errorf("%d requests", n)
	}
	p.Must(p.repo.Close(t.Context(), opened.Number))
	other := githost.Query{Target: "main", Marker: githost.Marker("prod", "main", ".")}
	if none, err := p.repo.Find(t.Context(), other); none != nil || err != nil {
		t.Errorf("found %+v, %v", none, err)
	}
}

// TestForks: pull requests of forks are not ours, even if their branches have our names.
func TestForks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.OpenFromFork(t, "eve", "change", "main", "Title", hostingtest.Marker+"\n\nText")
	if found, err := p.repo.Find(t.Context(), hostingtest.Query); found != nil || err != nil {
		t.Errorf("found %+v, %v", found, err)
	}
}

// TestMergeRefused: if Azure's merge in the background fails, or auto-complete can't be set, the error gives the
// reason.
func TestMergeRefused(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"rejectedByPolicy", "failure", "conflicts"} {
		p := newPlace(t, hostfake.WithLag(2))
		opened := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
		// The merge fails after the policies are read, which is the last request before auto-complete is set.
		p.Fake.Once("GET", "/_apis/git/policy", func() {
			p.Fake.Once("GET", "/pullRequests/1", func() { p.on.FailMerge(t, 1, status) })
		})
		_, err := p.repo.MergeWhenReady(t.Context(), opened, githost.Squash)
		p.Refused(err, githost.ErrRejected, githost.FieldAutoMerge, "its merge status is \""+status+"\"")
	}
	p := newPlace(t)
	opened := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
	p.Fake.Fail("PATCH", "/pullRequests/1", 1, azuredevopsfake.Error(http.StatusForbidden, "",
		"TF401027: You need the Git 'PullRequestContribute' permission to perform this action."))
	_, err := p.repo.MergeWhenReady(t.Context(), opened, githost.Merge)
	p.Refused(err, githost.ErrForbidden, githost.FieldAutoMerge, "enable auto-merge of pull request 1")
}

// TestOptionalPolicies: auto-complete waits only for required policies.
func TestOptionalPolicies(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.Expect("main", "advice")
	opened := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
	merged := p.Must(p.repo.MergeWhenReady(t.Context(), opened, githost.Squash))
	if merged.State != githost.Merged || merged.MergeCommit != gitserver.Rev(t, p.on.Dir, "main") {
		t.Errorf("the pull request is %+v", merged)
	}
	p.on.Require("main", "ci")
	p.branch("more")
	wanted := hostingtest.Proposal()
	wanted.Branch = "more"
	now := p.Must(p.repo.MergeWhenReady(t.Context(), p.Must(p.repo.Open(t.Context(), wanted)), githost.Merge))
	if now.State != githost.Open || now.AutoMerge != githost.Merge {
		t.Errorf("the pull request is %+v", now)
	}
	p.on.SetStatus(hostingtest.Ann, gitserver.Rev(t, p.on.Dir, "more"), "ci", "succeeded")
	if now := p.Must(p.repo.Read(t.Context(), now.Number)); now.State != githost.Merged {
		t.Errorf("the pull request is %+v", now)
	}
}

// TestForbiddenStrategy: a required policy may allow only some merge strategies. Azure DevOps Services and old servers
// have different settings for that. Auto-complete is not set with another strategy, since it would wait for ever.
func TestForbiddenStrategy(t *testing.T) {
	t.Parallel()
	squash := map[string]any{
		"allowNoFastForward": false, "allowRebase": false, "allowRebaseMerge": true, "allowSquash": true,
	}
	for _, tt := range []struct {
		settings map[string]any
		optional bool
		method   githost.MergeMethod
		said     string // a part of the error; empty if the method is allowed
	}{
		{squash, false, githost.Squash, ""},
		{squash, false, githost.Merge, `a policy of branch main does not allow the merge method "merge"; it ` +
			`allows ["squash"]`},
		{squash, false, githost.Rebase, `does not allow the merge method "rebase"`},
		{squash, true, githost.Merge, ""},
		{map[string]any{"useSquashMerge": true}, false, githost.Merge, `it allows ["squash"]`},
		{map[string]any{"useSquashMerge": false}, false, githost.Squash, `it allows ["merge"]`},
		{map[string]any{"allowNoFastForward": true, "allowRebase": true}, false, githost.Squash, `["merge" "rebase"]`},
	} {
		p := newPlace(t)
		p.on.LimitStrategies("main", tt.optional, tt.settings)
		p.on.LimitStrategies("prod", false, map[string]any{})
		opened := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
		errs := p.check(tt.method)
		_, err := p.repo.MergeWhenReady(t.Context(), opened, tt.method)
		if tt.said == "" {
			if err != nil || len(errs) > 0 {
				t.Errorf("%s with %v: %v, %v", tt.method, tt.settings, err, errs)
			}
			continue
		}
		for _, err := range append(errs, err) {
			p.Refused(err, githost.ErrRejected, githost.FieldAutoMerge, tt.said)
		}
		if len(errs) != 1 || p.on.PullRequests()[0].AutoMerge != "" {
			t.Errorf("%s with %v: %v, %+v", tt.method, tt.settings, errs, p.on.PullRequests())
		}
	}
}

// check returns the errors that a plan reports.
func (p *place) check(method githost.MergeMethod, reviewers ...string) []error {
	p.Helper()
	return p.repo.CheckSettings(p.Context(), "main", method, reviewers)
}

// TestCheckSettings: a plan reports a reviewer who has no identity or several. If the settings can't be read, it
// reports nothing.
func TestCheckSettings(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.Fake.Twin("bob")
	errs := p.check(githost.Squash, "ann", azuredevopsfake.Team, "nobody", "bob")
	if len(errs) != 2 {
		t.Fatalf("%v", errs)
	}
	p.Refused(errs[0], githost.ErrRejected, githost.FieldReviewers, `0 identities "nobody"`)
	p.Refused(errs[1], githost.ErrRejected, githost.FieldReviewers, `2 identities "bob"`)
	for path, answer := range map[string]hostfake.Failure{
		"/_apis/git/policy": azuredevopsfake.Error(403, "", "Access denied"), "/_apis/identities": {Status: 401},
	} {
		p.on.LimitStrategies("main", false, map[string]any{})
		p.Fake.Fail("GET", path, -1, answer)
		errs = p.check(githost.Squash, "eve")
	}
	if len(errs) > 0 {
		t.Errorf("%v", errs)
	}
}

// TestScopes: Azure gives the same answer for a token that lacks a scope as for an invalid token, so the error lists
// the scopes.
func TestScopes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	commit := gitserver.Rev(t, p.on.Dir, "change")
	all := []string{
		azuredevopsfake.CodeRead, azuredevopsfake.CodeWrite, azuredevopsfake.CodeStatus, azuredevopsfake.IdentityRead,
	}
	wanted := hostingtest.Proposal()
	wanted.Reviewers = []string{"ann"}
	for _, tt := range []struct {
		lacks string
		field githost.Field
		do    func(githost.Repo) error
	}{
		{"", "", func(repo githost.Repo) error { _, err := repo.Find(t.Context(), hostingtest.Query); return err }},
		{azuredevopsfake.CodeRead, "", func(repo githost.Repo) error {
			_, err := repo.Find(t.Context(), hostingtest.Query)
			return err
		}},
		{azuredevopsfake.CodeWrite, "", func(repo githost.Repo) error {
			_, err := repo.Open(t.Context(), wanted)
			return err
		}},
		{azuredevopsfake.CodeStatus, "", func(repo githost.Repo) error {
			_, err := repo.SetStatus(t.Context(), commit, githost.Status{Context: "x", State: githost.Success})
			return err
		}},
		{azuredevopsfake.IdentityRead, githost.FieldReviewers, func(repo githost.Repo) error {
			_, err := repo.Open(t.Context(), wanted)
			return err
		}},
	} {
		has := slices.DeleteFunc(slices.Clone(all), func(scope string) bool { return scope == tt.lacks })
		p.Fake.AddToken("canaryReader", "bob", hostfake.Everywhere(hostfake.Write), has...)
		repo, err := p.Host(t, hostingtest.Reader).Repo(p.on.URL)
		if err != nil {
			t.Fatal(err)
		}
		if err = tt.do(repo); tt.lacks == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		p.Refused(err, githost.ErrUnauthenticated, tt.field, "")
		var e *githost.Error
		if !errors.As(err, &e) || !strings.Contains(e.Grant, "Code (read, write, status), and Identity (read)") ||
			e.Credential == "" {
			t.Errorf("without %s it advises %+v", tt.lacks, e)
		}
	}
}

// TestLabels: labels are read with a request of their own, since only lists of pull requests contain them. A label is
// added once, whether Azure keeps the labels in the request that opens a pull request or not.
func TestLabels(t *testing.T) {
	t.Parallel()
	for name, drops := range map[string]bool{"kept": false, "dropped": true} {
		p := newPlace(t)
		if drops {
			p.Fake.DropsLabels = true
		}
		labelled := func() (times int) {
			for _, r := range p.Fake.Requests() {
				if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/labels") {
					times++
				}
			}
			return times
		}
		wanted := hostingtest.Proposal()
		wanted.Labels = []string{"platform", "promoted"}
		p.Must(p.repo.Open(t.Context(), wanted))
		p.on.Label(t, 1, "theirs")
		added := labelled()
		for _, title := range []string{"Second", "Third"} {
			wanted.Title, wanted.Labels, wanted.RemoveLabels = title, []string{"platform"}, []string{"Promoted"}
			p.Must(p.repo.Edit(t.Context(), p.Must(p.repo.Read(t.Context(), 1)), wanted))
		}
		now := p.on.PullRequests()[0]
		if diff := cmp.Diff([]string{"platform", "theirs"}, now.Labels); diff != "" || labelled() != added {
			t.Errorf("%s: labelled %d times, then %d times (-want +got):\n%s", name, added, labelled(), diff)
		}
		found := p.Must(p.repo.Find(t.Context(), hostingtest.Query))
		if diff := cmp.Diff(now.Labels, found.Labels); diff != "" {
			t.Errorf("%s: found (-want +got):\n%s", name, diff)
		}
	}
}

// TestAutoCompleteWaitsForPushedHead: Azure shows a push with a delay. Auto-complete is set once Azure shows the pushed
// commit. If that takes longer than the time limit, it is an error.
func TestAutoCompleteWaitsForPushedHead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lag  int
		late bool
	}{{5, false}, {1000, true}} {
		p := newPlace(t, hostfake.WithLag(tt.lag))
		p.on.Require("main", "ci")
		now := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
		p.branch("change-of-others") // its name begins with the name of our branch
		now.HeadCommit = gitserver.Seed(t, p.on.Dir, "change", map[string]string{"change": "2"})
		started := p.Clock.Now()
		merging, err := p.repo.MergeWhenReady(p.Within(10*time.Minute), now, githost.Squash)
		if tt.late {
			p.Refused(err, githost.ErrBranchNotFound, githost.FieldAutoMerge, "branch change is at "+now.HeadCommit)
			if waited := p.Clock.Now().Sub(started); waited < 9*time.Minute || waited > 10*time.Minute {
				t.Errorf("it waited %s", waited)
			}
			continue
		}
		if now := p.Must(merging, err); now.AutoMerge != githost.Squash {
			t.Errorf("the pull request is %+v", now)
		}
	}
}

// TestChangeOfClosedPullRequest: if people complete or abandon a pull request while we change it, the result is the
// closed pull request.
func TestChangeOfClosedPullRequest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		state  githost.PullRequestState
		people func(p *place)
	}{
		{githost.Merged, func(p *place) { p.on.Merge(p, 1, "squash") }},
		{githost.Closed, func(p *place) { p.on.Close(p, 1) }},
	} {
		for name, change := range map[string]func(githost.Repo, githost.PullRequest) (*githost.PullRequest, error){
			"edit": func(repo githost.Repo, now githost.PullRequest) (*githost.PullRequest, error) {
				wanted := hostingtest.Proposal()
				wanted.Title, wanted.Labels = "Other", []string{"platform"}
				return repo.Edit(t.Context(), now, wanted)
			},
			"close": func(repo githost.Repo, _ githost.PullRequest) (*githost.PullRequest, error) {
				return repo.Close(t.Context(), 1)
			},
			"no auto-merge": func(repo githost.Repo, now githost.PullRequest) (*githost.PullRequest, error) {
				return repo.MergeWhenReady(t.Context(), now, "")
			},
		} {
			p := newPlace(t)
			p.on.Require("main", "ci")
			now := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
			now = p.Must(p.repo.MergeWhenReady(t.Context(), now, githost.Squash))
			p.Fake.Once("PATCH", "/pullRequests/1", func() { tt.people(p) })
			if after := p.Must(change(p.repo, now)); after.State != tt.state {
				t.Errorf("%s: the pull request is %+v", name, after)
			}
		}
	}
	p := newPlace(t)
	now := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
	p.Fake.Once("PATCH", "/pullRequests/1", func() { p.on.Merge(p, 1, "squash") })
	if after := p.Must(p.repo.MergeWhenReady(t.Context(), now, githost.Squash)); after.State != githost.Merged {
		t.Errorf("the pull request is %+v", after)
	}
}

// TestManyStatuses: 500 commits take one request each. The result has the latest status of each context.
func TestManyStatuses(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	commit := gitserver.Rev(t, p.on.Dir, "change")
	for _, state := range []string{"pending", "failed", "notApplicable", "succeeded"} {
		p.on.SetStatus(hostingtest.Ann, commit, "ci/build", state)
	}
	commits := slices.Repeat([]string{gitserver.Rev(t, p.on.Dir, "main")}, 499)
	before := len(p.Fake.Requests())
	got, err := p.repo.LatestStatuses(t.Context(), append(commits, commit), []string{"ci/build", "none"})
	if err != nil {
		t.Fatal(err)
	}
	if all := got.ByCommit[commit]; len(all) != 1 || all[0].State != githost.Success || all[0].Context != "ci/build" ||
		len(got.Unread) > 0 || got.Viewer != "kalypso-bot" {
		t.Errorf("%+v", got)
	}
	if n := len(p.Fake.Requests()) - before; n > 500+3 {
		t.Errorf("%d requests", n)
	}
	history, more, err := p.repo.StatusHistory(t.Context(), commit)
	if err != nil || more {
		t.Fatal(err, more)
	}
	var states []string
	for _, s := range history {
		states = append(states, string(s.State))
	}
	if diff := cmp.Diff([]string{"success", "error", "failure", "pending"}, states); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestDescriptionLimit: Azure refuses a title and description that are too long together. Our limits keep them below
// Azure's.
func TestDescriptionLimit(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	long := hostingtest.Proposal()
	long.Body = hostingtest.Marker + "\n\n" + strings.Repeat("😀", 2000)
	_, err := p.repo.Open(t.Context(), long)
	p.Refused(err, githost.ErrRejected, "", "must not be longer than 4000 characters")
	if units := p.repo.MaxBody + p.repo.MaxTitle; units > 4000 {
		t.Errorf("title and description have up to %d units", units)
	}
}

// TestBackgroundMerge: without policies, the provider waits up to a minute for the merge that Azure makes in the
// background.
func TestBackgroundMerge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lag  int
		want githost.PullRequestState
	}{{3, githost.Merged}, {1000, githost.Open}} {
		p := newPlace(t, hostfake.WithLag(tt.lag))
		opened := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal()))
		p.Clock.Waited()
		now := p.Must(p.repo.MergeWhenReady(t.Context(), opened, githost.Squash))
		var waited time.Duration
		for _, d := range p.Clock.Waited() {
			waited += d
		}
		if now.State != tt.want || waited == 0 || waited > 2*time.Minute {
			t.Errorf("a lag of %d: it is %s after %s", tt.lag, now.State, waited)
		}
		if (now.MergeCommit == "") != (tt.want == githost.Open) {
			t.Errorf("a lag of %d: the merge commit is %q", tt.lag, now.MergeCommit)
		}
	}
}

// TestRedirects: the token is not sent to the target of a redirect whose name only resembles Azure's.
func TestRedirects(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	number := p.Must(p.repo.Open(t.Context(), hostingtest.Proposal())).Number
	to, err := url.Parse(p.Fake.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{
		"https://dev.azure.com.evil.io/acme/_apis", "https://xdev.azure.com/acme/_apis",
		"https://vssps.dev.azure.com.evil.io/acme/_apis", "https://app.vssps.visualstudio.com/acme/_apis",
		"http://dev.azure.com/acme/_apis", "https://dev.azure.com:8443/acme/_apis", "//evil.io/acme/_apis",
	} {
		s := &services{to: to, seen: map[string]bool{}}
		access := httpapi.Access{Token: p.Fake.Token, Transport: s, Clock: p.Clock}
		host, err := azuredevops.New(azuredevops.Config{Access: access})
		if err != nil {
			t.Fatal(err)
		}
		repo, err := host.Repo("https://dev.azure.com/acme/My%20Project/_git/gitops")
		if err != nil {
			t.Fatal(err)
		}
		for _, status := range []int{301, 302, 307, 308} {
			p.Fake.Fail("GET", "/pullRequests/1", 1,
				hostfake.Failure{Status: status, Header: map[string]string{"Location": address}})
			_, err = repo.Read(t.Context(), number)
			p.Refused(err, githost.ErrRejected, "", "outside its API")
		}
		if diff := cmp.Diff(map[string]bool{"dev.azure.com": true}, s.seen); diff != "" {
			t.Errorf("%s: servers with a credential (-want +got):\n%s", address, diff)
		}
	}
}

// TestReviewerNames: the name of a reviewer is a mail address or project/team.
func TestReviewerNames(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for name, ok := range map[string]bool{
		"ann@acme.io": true, "My Project/platform": true, "/platform": false, "project/": false, "a/b/c": false,
	} {
		err := p.repo.CheckSupport(githost.Settings{Reviewers: []string{name}})
		if ok && err != nil {
			t.Error(err)
		}
		if !ok {
			p.Refused(err, githost.ErrRejected, githost.FieldReviewers, "is neither the mail of a user nor project/team")
		}
	}
	wanted := hostingtest.Proposal()
	wanted.Reviewers = []string{"an", "nobody", "ann"}
	opened, err := p.repo.Open(t.Context(), wanted)
	p.Refused(err, githost.ErrRejected, githost.FieldReviewers, `0 identities "nobody"`)
	if opened == nil || strings.Join(opened.Reviewers, " ") != "ann" {
		t.Errorf("reviewers of the pull request: %+v", opened)
	}
}

// TestNullLocations: the library first reads the list of the API's resources. If a part of the list is missing, that is
// an error, not a panic.
func TestNullLocations(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"whole": `null`, "list": `{"value":null}`, "entry": `{"value":[null]}`,
		"entry after a mark": "\ufeff{\"value\":[null]}",
		"id":                 `{"value":[{"id":null}]}`,
		"path": `{"value":[{"id":"9946fd70-0d40-406e-b686-b4744cbbcc37","area":"git","resourceName":"pullRequests",` +
			`"routeTemplate":null,"minVersion":"1.0","maxVersion":"7.2","releasedVersion":"7.1"}]}`,
		"no JSON": `<html>`,
	} {
		p := newPlace(t) // a new server for each case, since the library caches the list by URL
		p.Fake.Fail(http.MethodOptions, "", -1, hostfake.Failure{Status: http.StatusOK, Body: body})
		var e *githost.Error
		if _, err := p.repo.Read(p.Within(time.Minute), 1); !errors.As(err, &e) || e.Host == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
