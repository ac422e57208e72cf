package github_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// TestRedirectsOutOfAPI: a redirect that leads outside the API is not followed, neither with a token nor as an app, so
// that no other server gets a credential. The error does not contain the body of the redirect.
func TestRedirectsOutOfAPI(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.Method+" "+r.Header.Get("Authorization"))
	}))
	defer other.Close()
	p := newPlace(t)
	app := p.fake.AddApp(t)
	installation := &github.App{ID: app.ID, InstallationID: app.InstallationID, PrivateKey: app.PrivateKey}
	installed := p.as(github.Config{App: installation})
	if _, err := installed.Find(t.Context(), query); err != nil { // gets the token of the installation
		t.Fatal(err)
	}
	for who, repo := range map[string]githost.Repo{
		"token":        p.as(github.Config{Access: httpapi.Access{Token: p.fake.Token}}),
		"app":          p.as(github.Config{App: installation}),
		"installation": installed,
	} {
		for name, tc := range map[string]struct {
			to, said string
			status   int
		}{
			"another port": {other.URL + "/api/v3/repos/acme/gitops/pulls", "outside its API", 307},
			"another scheme": {strings.Replace(p.fake.URL, "http:", "https:", 1) + "/api/v3/x", "outside its API",
				302},
			"outside of the API":          {p.fake.URL + "/acme/gitops/info/refs", "outside its API", 301},
			"a path that climbs":          {p.fake.URL + "/api/v3/..%5C..%5Cacme", "outside its API", 308},
			"an escaped path that climbs": {p.fake.URL + "/api/v3/%252e%252e/acme", "outside its API", 301},
			"another method":              {other.URL, "outside its API", 303},
			"a redirect to itself":        {p.fake.URL + "/api/v3/", "more than 3 times", 301},
		} {
			p.fake.ClearFailures()
			p.fake.ResetLog()
			location := map[string]string{"Location": tc.to}
			p.fake.Fail("", "", -1, hostfake.Failure{Status: tc.status, Body: `{"message": "internal"}`, Header: location})
			_, err := repo.Open(t.Context(), p.proposal())
			expectError(t, err, githost.ErrRejected, tc.said)
			if strings.Contains(err.Error(), "internal") {
				t.Errorf("%s, %s: the body is shown: %v", who, name, err)
			}
			for _, r := range p.fake.Git.Requests() {
				t.Errorf("%s, %s: Git got %+v", who, name, r)
			}
		}
	}
	if len(got) > 0 {
		t.Errorf("another server got %q", got)
	}
}
