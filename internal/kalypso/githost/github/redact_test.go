package github_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/redact"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
)

// TestMessagesAreRedactedAndEscaped: errors, and the reasons for waits, contain messages of the API. Secrets of the API
// and of Git are removed from them, and control characters are escaped.
func TestMessagesAreRedactedAndEscaped(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	app := p.fake.AddApp(t)
	const want = `\x1b[2J\u202eBearer (secret), (secret) and (secret)`
	var secrets redact.Secrets
	secrets.Add("canary-of-git")
	var mu sync.Mutex
	var reasons []string
	waiting := func(_ context.Context, reason error, _ time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		reasons = append(reasons, reason.Error())
	}
	for who, c := range map[string]github.Config{
		"token": {Access: httpapi.Access{Token: p.fake.Token}},
		"app":   {App: &github.App{ID: app.ID, InstallationID: app.InstallationID, PrivateKey: app.PrivateKey}},
	} {
		c.Secrets, c.OnRetry = &secrets, waiting
		key := "canary-of-git"
		if c.App != nil {
			key = strings.Split(app.PrivateKey, "\n")[3]
		}
		repo := p.as(c)
		pr := must(t)(repo.Open(t.Context(), p.proposal()))
		shown := "Bearer " + p.authorization()
		message := "\x1b[2J\u202e" + shown + ", canary-of-git and " + key
		errs := []any{map[string]any{"type": "FORBIDDEN", "message": message}, message}
		body, err := json.Marshal(map[string]any{"message": message, "errors": errs})
		if err != nil {
			t.Fatal(err)
		}
		read := func(ctx context.Context) error { _, err := repo.Read(ctx, pr.Number); return err }
		merge := func(ctx context.Context) error { _, err := repo.MergeWhenReady(ctx, pr, githost.Squash); return err }
		for name, tc := range map[string]struct {
			status int
			body   string
			ask    func(context.Context) error
		}{
			"REST":               {422, string(body), read},
			"REST, escaped JSON": {403, escaped(string(body)), read},
			"REST, retried":      {503, string(body), read},
			"GraphQL":            {200, string(body), merge},
		} {
			p.fake.Fail("", "", -1, hostfake.Failure{Status: tc.status, Body: tc.body})
			err := tc.ask(p.within(time.Minute))
			p.fake.ClearFailures()
			if err == nil {
				t.Fatalf("%s, %s: no error", who, name)
			}
			for _, text := range append(reasons, err.Error()) {
				if !strings.Contains(text, want) || strings.ContainsAny(text, "\x1b\u202e") {
					t.Errorf("%s, %s: got %q", who, name, text)
				}
			}
			if (len(reasons) > 0) != (name == "REST, retried") {
				t.Errorf("%s, %s: the reasons for waits are %q", who, name, reasons)
			}
			reasons = nil
		}
		if _, err := repo.Close(t.Context(), pr.Number); err != nil {
			t.Fatal(err)
		}
	}
}

// authorization returns the token of the last request.
func (p *place) authorization() string {
	requests := p.fake.Requests()
	return strings.TrimPrefix(requests[len(requests)-1].Authorization, "Bearer ")
}

// escaped returns JSON with escaped underscores and slashes, as a server may send it.
func escaped(text string) string {
	return strings.NewReplacer("_", `\u005f`, "/", `\/`).Replace(text)
}

// TestTokenRequestsAreRedacted: if the answer to an app's request for a token repeats the credential of the request,
// the error does not contain it.
func TestTokenRequestsAreRedacted(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"message": "refused: %s"}`, r.Header.Get("Authorization"))
	}))
	defer server.Close()
	app := githubfake.New(t).AddApp(t)
	client, err := github.New(github.Config{
		Access: httpapi.Access{BaseURL: server.URL, Clock: hostingtest.NewClockNow()},
		App: &github.App{
			ID: app.ID, InstallationID: app.InstallationID, PrivateKey: app.PrivateKey,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	repo, err := client.Repo(server.URL + "/acme/gitops")
	if err != nil {
		t.Fatal(err)
	}
	_, err = repo.Read(t.Context(), 1)
	expectError(t, err, githost.ErrUnauthenticated, "refused: Bearer (secret)")
}

// TestNetworkErrorsAreRedacted: an error of the network, without an answer of the API, contains no secrets.
func TestNetworkErrorsAreRedacted(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4096))
			_, _ = conn.Write([]byte("HTTP/1.1 2\x1b[2J-canary oh\r\n\r\n"))
			_ = conn.Close()
		}
	})
	defer done.Wait()
	defer l.Close()
	url := "http://" + l.Addr().String()
	access := httpapi.Access{BaseURL: url, Clock: hostingtest.NewClockNow(), Token: "canary"}
	client, err := github.New(github.Config{Access: access})
	if err != nil {
		t.Fatal(err)
	}
	repo, err := client.Repo(url + "/acme/gitops")
	if err != nil {
		t.Fatal(err)
	}
	_, err = repo.Read(t.Context(), 1)
	expectError(t, err, githost.ErrUnavailable, "(secret)")
	if strings.Contains(err.Error(), "\x1b") {
		t.Errorf("got %q", err)
	}
}
