package github_test

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// The client recognizes every form of a repo's URL on its server, and rejects repos on other servers, whatever their
// names.
func TestRepoURL(t *testing.T) {
	for _, tc := range []struct{ base, url, compare string }{
		{"", "https://github.com/acme/gitops", "https://github.com/acme/gitops/compare/a...b"},
		{"https://github.com/", "https://GitHub.com:443/acme/gitops.git/", "https://github.com/acme/gitops/compare/a...b"},
		{"https://api.github.com", "git@github.com:acme/gitops.git", "https://github.com/acme/gitops/compare/a...b"},
		{"", "ssh://git@ssh.github.com:443/acme/gitops.git", "https://github.com/acme/gitops/compare/a...b"},
		{"https://acme.ghe.com", "https://acme.ghe.com/acme/gitops", "https://acme.ghe.com/acme/gitops/compare/a...b"},
		{"https://git.acme.io/api/v3/", "https://git.acme.io/acme/gitops", "https://git.acme.io/acme/gitops/compare/a...b"},
		{"https://git.acme.io/", "ssh://git@git.acme.io:7999/acme/gitops", "https://git.acme.io/acme/gitops/compare/a...b"},
		{"https://acme.io/hub/", "https://acme.io/hub/acme/gitops.git", "https://acme.io/hub/acme/gitops/compare/a...b"},
		{"", "https://github.com.evil.io/acme/gitops", ""},
		{"", "https://git.acme.io/acme/gitops", ""},
		{"", "https://github.com:8443/acme/gitops", ""},
		{"", "http://github.com/acme/gitops", ""},
		{"", "https://github.com/acme", ""},
		{"", "https://github.com/acme/gitops/more", ""},
		{"", "https://github.com/acme/..", ""},
		{"", "https://github.com/acme/git%3Fops", ""},
		{"", "/srv/github.com/acme/gitops", ""},
		{"https://git.acme.io/", "https://github.com/acme/gitops", ""},
		{"https://acme.io/hub/", "https://acme.io/acme/gitops.git", ""},
	} {
		client, err := github.New(github.Config{Access: httpapi.Access{BaseURL: tc.base}})
		if err != nil {
			t.Fatal(err)
		}
		repo, err := client.Repo(tc.url)
		switch {
		case tc.compare == "":
			expectError(t, err, githost.ErrOtherHost, "on the GitHub server")
		case err != nil:
			t.Errorf("%s at %q: %v", tc.url, tc.base, err)
		case repo.CompareURL("a", "b") != tc.compare:
			t.Errorf("%s at %q is %s", tc.url, tc.base, repo.CompareURL("a", "b"))
		}
	}
	client, err := github.New(github.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Repo("https://user:canary@github.com/acme/gitops"); err == nil ||
		strings.Contains(err.Error(), "canary") {
		t.Errorf("a URL with a password: %v", err)
	}
}

// New rejects invalid settings, with errors that do not contain their values.
func TestNewRefuses(t *testing.T) {
	for said, c := range map[string]github.Config{
		"not an absolute URL": {Access: httpapi.Access{BaseURL: "git.acme.io"}},
		"not a number":        {App: &github.App{ID: "1", InstallationID: "canary", PrivateKey: "x"}},
		"PEM format":          {App: &github.App{ID: "1", InstallationID: "1", PrivateKey: "canary"}},
		"not an RSA key": {App: &github.App{ID: "1", InstallationID: "1",
			PrivateKey: "-----BEGIN RSA PRIVATE KEY-----\nY2FuYXJ5\n-----END RSA PRIVATE KEY-----\n"}},
	} {
		if _, err := github.New(c); err == nil || !strings.Contains(err.Error(), said) ||
			strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", said, err)
		}
	}
}

// An app's token is requested once, and renewed before it expires or after GitHub rejected it. It authenticates Git
// too.
func TestApp(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	app := p.fake.AddApp(t)
	client := p.client(github.Config{App: &github.App{ID: app.ID, InstallationID: app.InstallationID,
		PrivateKey: app.PrivateKey}})
	repo, err := client.Repo(p.on.URL)
	if err != nil {
		t.Fatal(err)
	}
	tokens := func() (n int) {
		t.Helper()
		must(t)(repo.Read(t.Context(), 1))
		for _, c := range p.calls() {
			if strings.HasSuffix(c, "/access_tokens") {
				n++
			}
		}
		return n
	}
	must(t)(repo.Open(t.Context(), p.proposal()))
	p.fake.ResetLog()
	if n := tokens(); n != 0 {
		t.Errorf("a valid token was replaced %d times", n)
	}
	p.clock.Pass(49 * time.Minute)
	if n := tokens(); n != 0 {
		t.Errorf("a token that is valid for 11 minutes was replaced %d times", n)
	}
	p.clock.Pass(2 * time.Minute)
	if n := tokens(); n != 1 {
		t.Errorf("a token that is valid for 9 minutes was replaced %d times", n)
	}
	must(t)(repo.Read(t.Context(), 1))
	p.fake.Revoke(p.authorization())
	p.fake.ResetLog()
	if n := tokens(); n != 1 {
		t.Errorf("a revoked token was replaced %d times", n)
	}
	user, password, bearer, err := repo.GitCredential(t.Context())
	if err != nil || bearer != "" || !strings.HasPrefix(password, "ghs_") {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "ls-remote", strings.Replace(p.on.URL, "//", "//"+user+":"+password+"@", 1))
	cmd.Env = gitserver.Env()
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "refs/heads/change") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestAppScope: an app's token covers one repo with the permissions needed. If the app may not write, Git gets a
// token for reading; a repo without the app, which may be public, gets no credential.
func TestAppScope(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.on.AddTeam("platform")
	app := p.fake.AddApp(t)
	client := p.client(github.Config{App: &github.App{ID: app.ID, InstallationID: app.InstallationID,
		PrivateKey: app.PrivateKey}})
	repo, err := client.Repo(p.on.URL)
	if err != nil {
		t.Fatal(err)
	}
	expectAsked := func(want ...string) {
		t.Helper()
		var got []string
		for _, r := range p.fake.Requests() {
			if strings.HasSuffix(r.Path, "/access_tokens") {
				got = append(got, strings.TrimSpace(r.Body))
			}
		}
		p.fake.ResetLog()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("tokens (-want +got):\n%s", diff)
		}
	}
	must(t)(repo.Open(t.Context(), p.proposal()))
	must(t)(repo.Read(t.Context(), 1))
	const pulls = `{"repositories":["gitops"],"permissions":{"contents":"write",%s"pull_requests":"write"}}`
	expectAsked(fmt.Sprintf(pulls, ""))
	wanted := p.proposal()
	wanted.Reviewers = []string{"acme/platform"}
	must(t)(repo.Edit(t.Context(), must(t)(repo.Read(t.Context(), 1)), wanted))
	expectAsked(fmt.Sprintf(pulls, `"members":"read",`))
	commit := gitserver.Rev(t, p.on.Path, "change")
	if _, err := repo.SetStatus(t.Context(), commit, githost.Status{Context: "x", State: githost.Success}); err != nil {
		t.Error(err)
	}
	expectAsked(`{"repositories":["gitops"],"permissions":{"statuses":"write"}}`)
	git := func(of githost.Repo) string {
		t.Helper()
		_, password, _, err := of.GitCredential(t.Context())
		if err != nil {
			t.Error(err)
		}
		return password
	}
	contents := []string{
		`{"repositories":["gitops"],"permissions":{"contents":"write"}}`,
		`{"repositories":["gitops"],"permissions":{"contents":"read"}}`,
	}
	git(repo)
	expectAsked(contents[0])
	p.clock.Pass(time.Hour)
	app.Permissions = map[string]string{"contents": "read"}
	if git(repo) == "" {
		t.Error("Git gets no credential for reading")
	}
	expectAsked(contents...)
	_, err = repo.Open(t.Context(), p.proposal())
	expectError(t, err, githost.ErrForbidden, "with contents: write, pull_requests: write in repo gitops")
	app.Repos = []string{"acme/other"}
	p.clock.Pass(time.Hour)
	if password := git(repo); password != "" {
		t.Errorf("the password is %q", password)
	}
	_, err = repo.Read(t.Context(), 1)
	expectError(t, err, githost.ErrNotVisible, "not accessible to the parent installation")
}

// An app's key may be in PKCS #8, since other tools than GitHub write this format.
func TestAppKeyPKCS8(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	app := p.fake.AddApp(t)
	block, _ := pem.Decode([]byte(app.PrivateKey))
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	must(t)(p.as(github.Config{App: &github.App{ID: app.ID, InstallationID: app.InstallationID, PrivateKey: text}}).Open(
		t.Context(), p.proposal()))
}

// If an app gets no token, each request fails with the reason. A temporary failure of the request for the token is
// retried.
func TestAppWithoutToken(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	app, other := p.fake.AddApp(t), p.fake.AddApp(t)
	for _, tc := range []struct {
		app  github.App
		kind error
		said string
	}{
		{github.App{ID: app.ID, InstallationID: app.InstallationID, PrivateKey: other.PrivateKey}, githost.ErrUnauthenticated,
			"A JSON web token could not be decoded"},
		{github.App{ID: app.ID, InstallationID: "7", PrivateKey: app.PrivateKey}, githost.ErrNotVisible,
			"get a token for installation 7 of the GitHub App"},
	} {
		_, err := p.as(github.Config{App: &tc.app}).Read(t.Context(), 1)
		expectError(t, err, tc.kind, tc.said)
		expectError(t, err, tc.kind, "read pull request 1 of acme/gitops")
		expectWaits(t, p, nil)
	}
	p.fake.Fail("", "/access_tokens", 2, githubfake.ServerError(502, 0))
	repo := p.as(github.Config{App: &github.App{ID: app.ID, InstallationID: app.InstallationID,
		PrivateKey: app.PrivateKey}})
	must(t)(repo.Open(p.within(time.Hour), p.proposal()))
	expectWaits(t, p, seconds(1, 2))
}

// If a token or an app may only read, the error names the missing permission.
func TestMissingPermission(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.fake.AddToken("canaryReader", "bob", map[string]hostfake.Access{"acme/gitops": hostfake.Read})
	_, err := p.as(github.Config{Access: httpapi.Access{Token: "canaryReader"}}).Open(t.Context(), p.proposal())
	expectError(t, err, githost.ErrForbidden, "Resource not accessible by personal access token")
	var e *githost.Error
	errors.As(err, &e)
	if want := "Grant the token or app the permission contents: write, pull_requests: write in the repo. " +
		"A classic token needs the scope repo."; e.Grant != want {
		t.Errorf("the error advises %q", e.Grant)
	}
}
