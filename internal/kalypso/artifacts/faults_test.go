package artifacts_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/sign"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/servertls"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/registryserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/tlsserver"
)

// login returns a checked credential.
func login(t *testing.T, c registry.Credential) *registry.Login {
	t.Helper()
	return c.Parse(func(field, reason string) { t.Errorf("%s %s", field, reason) })
}

const user, password = "ann", "canary-password"

// problemTexts returns the problems of an error as one text.
func problemTexts(f *fleet, err error) string {
	if err == nil {
		return ""
	}
	var texts []string
	for _, p := range artifacts.Problems(f.at, err) {
		texts = append(texts, fmt.Sprintf("%s at %v: %s", p.Summary, p.Path, p.Detail))
	}
	return strings.Join(texts, "\n")
}

// TestCredentials publishes to registries with a password and with a token server: with oci_credentials, with Docker's
// config file, without a credential and with a wrong one. No error contains a password.
func TestCredentials(t *testing.T) {
	f := newFleet(t)
	commit := f.deliver(t, twoTypes, "large", "small")
	tokens := registryserver.Tokens(t, user, password)
	for name, server := range map[string]*registryserver.Server{
		"password": registryserver.Start(t, registryserver.WithBasic(user, password)),
		"tokens":   registryserver.Start(t, registryserver.WithTokens(tokens)),
	} {
		given := func(url, password string) *registry.Login {
			return login(t, registry.Credential{URL: url, Username: user, Password: password})
		}
		at := "http://" + server.Host
		for situation, tt := range map[string]struct {
			logins []*registry.Login
			docker string
			says   string // a part of the problem; empty if the publication must succeed
		}{
			"no credential": {says: "No credential for the registry"},
			"wrong password": {logins: []*registry.Login{given(at, "canary-wrong")},
				says: "does not accept the credential"},
			"credential of another server": {logins: []*registry.Login{given("http://localhost:1", password)},
				says: "No credential"},
			"credential of another path": {logins: []*registry.Login{given(at+"/fleet/de", password)},
				says: "No credential"},
			"credential of another scheme": {logins: []*registry.Login{given("https://"+server.Host, password)},
				says: "No credential"},
			"wrong password for the server, right one for the path": {logins: []*registry.Login{given(at, "canary-wrong"),
				given(at+"/fleet/dev", password)}},
			"credential in Docker's config file": {docker: fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, server.Host,
				base64.StdEncoding.EncodeToString([]byte(user+":"+password)))},
			"credential helper": {docker: `{"credHelpers":{"` + server.Host + `":"test"}}`},
			"missing credential helper": {docker: `{"credHelpers":{"` + server.Host + `":"none"}}`,
				says: "config file of Docker"},
			"invalid config file": {docker: `{`, says: "config file of Docker"},
			"text after the JSON of the config file": {docker: `{"credHelpers":{"` + server.Host + `":"test"}} x`,
				says: "config file of Docker"},
		} {
			p := publication(t, server.Host, tt.logins...)
			helper(t, server.Host)
			if tt.docker != "" {
				config := filepath.Join(os.Getenv("DOCKER_CONFIG"), "config.json")
				if err := os.WriteFile(config, []byte(tt.docker), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, _, err := f.publish(t, p, commit)
			text := problemTexts(f, err)
			if (err == nil) != (tt.says == "") || !strings.Contains(text, tt.says) || strings.Contains(text, "canary") {
				t.Errorf("%s, %s: %s", name, situation, text)
			}
			if n := strings.Count(text, " at ["); err != nil && n != 1 {
				t.Errorf("%s, %s: %d problems: %s", name, situation, n, text)
			}
		}
	}
	if scopes := tokens.Scopes(); !slices.Contains(scopes, "repository:fleet/dev/large:pull,push") {
		t.Errorf("tokens for %v", scopes)
	}
}

// helper puts a credential helper for a registry on the PATH.
func helper(t *testing.T, host string) {
	t.Helper()
	folder := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nread server\n[ \"$server\" = %q ] && echo '{\"Username\":%q,\"Secret\":%q}'\n",
		host, user, password)
	err := os.WriteFile(filepath.Join(folder, "docker-credential-test"), []byte(script), 0o700) //nolint:gosec // a program
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
}

// TestFaults publishes while the registry fails, limits requests, cuts an upload, or gives a wrong answer. Requests
// that may succeed later are retried, and no tag is set before its artifact is complete.
func TestFaults(t *testing.T) {
	f := newFleet(t)
	commit := f.deliver(t, twoTypes, "large", "small")
	other := registryserver.Start(t)
	upload := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/blobs/uploads/") }
	content := func(r *http.Request) bool { return upload(r) && r.Method == http.MethodPut }
	manifest := func(r *http.Request) bool { return !upload(r) && r.Method == http.MethodPut }
	all := func(*http.Request) bool { return true }
	status := func(code int, headers ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(code)
		}
	}
	for name, tt := range map[string]struct {
		fails func(r *http.Request) bool
		how   http.HandlerFunc
		times int32  // number of requests that fail; 0 if all fail
		says  string // a part of the problem; empty if the publication must succeed
	}{
		"503":               {fails: all, how: status(503), times: 5},
		"a rate limit":      {fails: all, how: status(429, "Retry-After", "3"), times: 5},
		"a cut upload":      {fails: content, how: registryserver.Cut, times: 3},
		"a failed upload":   {fails: content, how: status(500), times: 3},
		"a cut manifest":    {fails: manifest, how: registryserver.Cut, times: 3},
		"no uploads at all": {fails: upload, how: registryserver.Cut, says: "The registry can't be reached"},
		"403":               {fails: upload, how: status(403), says: "The registry denies the request"},
		"404":               {fails: upload, how: status(404), says: "Not found in the registry"},
		"the upload's location on another server": {fails: upload,
			how:  status(202, "Location", "http://"+other.Host+"/v2/x/blobs/uploads/1"),
			says: "The registry refused the request"},
		"a redirect to another server": {fails: upload,
			how:  status(307, "Location", "http://"+other.Host+"/v2/x/blobs/uploads/"),
			says: "redirects to an address outside its API"},
		"a token server without https": {fails: all, how: status(401, "Www-Authenticate",
			`Bearer realm="http://tokens.acme.test/token",service="x"`), says: "names a token server without https"},
		"an HTML page": {fails: all, how: func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "<html>"+r.Header.Get("Authorization"))
		}, says: "The registry refused the request"},
	} {
		t.Run(name, func(t *testing.T) {
			server := registryserver.Start(t)
			p := publication(t, server.Host, login(t, registry.Credential{
				URL: "http://" + server.Host, Username: user, Password: password,
			}))
			var failed atomic.Int32
			server.Fail(func(w http.ResponseWriter, r *http.Request) bool {
				if !tt.fails(r) || r.URL.Path == "/v2/" || tt.times > 0 && failed.Add(1) > tt.times {
					return false
				}
				tt.how(w, r)
				return true
			})
			published, _, err := f.publish(t, p, commit)
			if text := problemTexts(f, err); (err == nil) != (tt.says == "") || !strings.Contains(text, tt.says) ||
				strings.Contains(text, "canary") {
				t.Errorf("the problem is %s", text)
			}
			server.Fail(nil)
			p.Published = published
			if err != nil {
				none := artifacts.Artifact{Digest: "sha256:" + strings.Repeat("0", 64), TreeHash: "latest"}
				p.Published = map[string]artifacts.Artifact{"large": none}
			}
			o, err := p.Observe(t.Context())
			if want := len(published); err != nil || len(o.Artifacts) != want {
				t.Errorf("the registry has %+v, %v", o, err)
			}
		})
	}
	if sent := other.Requests(); len(sent) > 0 {
		t.Errorf("another server got %v", sent)
	}
}

// TestTLS publishes to a registry over TLS, whose authority and client certificate are in oci_credentials.
func TestTLS(t *testing.T) {
	f := newFleet(t)
	commit := f.deliver(t, twoTypes, "large", "small")
	var front *tlsserver.Server
	server := registryserver.Start(t, registryserver.WithServer(func(h http.Handler) string {
		front = tlsserver.New(t, h, tls.RequireAndVerifyClientCert)
		return strings.TrimPrefix(front.URL, "https://")
	}))
	if _, _, err := f.publish(t, publication(t, server.Host), commit); !strings.Contains(problemTexts(f, err),
		"set ca_certificate in oci_credentials") {
		t.Errorf("without the authority: %s", problemTexts(f, err))
	}
	p := publication(t, server.Host, login(t, registry.Credential{
		URL: front.URL, Certificates: servertls.Certificates{
			Authorities: front.CA, Client: front.Client.Certificate, ClientKey: front.Client.Key,
		},
	}))
	if _, uploads, err := f.publish(t, p, commit); err != nil || uploads != 2 {
		t.Errorf("%d uploads, %v", uploads, err)
	}
}

// TestConcurrentPublications: 20 publications at once make the same artifacts, so that the next one uploads nothing.
func TestConcurrentPublications(t *testing.T) {
	f, server := newFleet(t), registryserver.Start(t)
	commit := f.deliver(t, twoTypes, "large", "small")
	p := publication(t, server.Host)
	p.Client = registry.New(nil, httpapi.Access{UserAgent: "test"}) // waits by the real clock
	const n = 20
	all := make([]map[string]artifacts.Artifact, n)
	done := make(chan error)
	for i := range n {
		go func() {
			d, err := artifacts.Open(t.Context(), f.client, f.at, commit)
			if err == nil {
				defer d.Close()
				all[i], _, err = p.Publish(t.Context(), d)
			}
			done <- err
		}()
	}
	for range n {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for _, one := range all {
		if one["large"] != all[0]["large"] || one["small"] != all[0]["small"] {
			t.Errorf("%v, want %v", one, all[0])
		}
	}
	if _, uploads, err := f.publish(t, p, commit); err != nil || uploads != 0 {
		t.Errorf("%d uploads, %v", uploads, err)
	}
}

// TestUnavailableRegistry: while a registry fails all uploads, a publication of many folders tries only the first
// folders, and reports one problem.
func TestUnavailableRegistry(t *testing.T) {
	f, server := newFleet(t), registryserver.Start(t)
	files, names := map[string]string{}, []string{}
	for i := range 60 {
		names = append(names, fmt.Sprintf("type-%d", i))
		files[names[i]+"/x.yaml"] = "a: 1\n"
	}
	commit := f.deliver(t, files, names...)
	server.Fail(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return r.Method == http.MethodPost
	})
	_, _, err := f.publish(t, publication(t, server.Host), commit)
	text := problemTexts(f, err)
	// 16 uploads run at a time. All 16 fail, but fewer if the first has failed before the last begins.
	if !regexp.MustCompile(`It happened in (1[0-6]|[2-9]) repositories`).MatchString(text) ||
		strings.Count(text, " at [") != 1 {
		t.Errorf("the problem is %s", text)
	}
	if sent := server.Requests(); sent[http.MethodPost] > 16*8 {
		t.Errorf("the registry got %v", sent)
	}
}

// TestBlobsInAnotherStorage: many registries redirect the download of a blob to a storage with another address. The
// storage gets no credential, and a storage without https gets no request.
func TestBlobsInAnotherStorage(t *testing.T) {
	f, server := newFleet(t), registryserver.Start(t, registryserver.WithBasic(user, password))
	commit := f.deliver(t, twoTypes, "large", "small")
	var downloads atomic.Int32
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		downloads.Add(1)
		if r.Method != http.MethodGet || r.Header.Get("Authorization") != "" || r.URL.RawQuery != "signature=x" {
			t.Errorf("the storage got %s %s with %v", r.Method, r.URL, r.Header)
		}
		req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://"+server.Host+r.URL.Path, nil)
		if err != nil {
			t.Error(err)
			return
		}
		req.SetBasicAuth(user, password)
		req.Header.Set("X-Storage", "itself")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		_, _ = io.Copy(w, resp.Body)
	}))
	defer storage.Close()
	redirect := func(to string) {
		server.Fail(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/blobs/") || r.Header.Get("X-Storage") != "" {
				return false
			}
			http.Redirect(w, r, to+r.URL.Path+"?signature=x", http.StatusTemporaryRedirect)
			return true
		})
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := publication(t, server.Host, login(t, registry.Credential{
		URL: "http://" + server.Host, Username: user, Password: password,
	}))
	p.Key, err = sign.ParseKey(privateKey(t, key), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.publish(t, p, commit); err != nil {
		t.Fatal(err)
	}
	server.Requests()
	redirect(storage.URL)
	if _, uploads, err := f.publish(t, p, commit); err != nil || uploads != 0 || downloads.Load() == 0 {
		t.Errorf("%d uploads after %d downloads: %s", uploads, downloads.Load(), problemTexts(f, err))
	}
	if sent := server.Requests(); sent[http.MethodPut] != 0 {
		t.Errorf("signed artifacts are signed again: %v", sent)
	}
	redirect("http://storage.acme.test")
	if _, _, err := f.publish(t, p, commit); !strings.Contains(problemTexts(f, err), "without https") {
		t.Errorf("a storage without https: %s", problemTexts(f, err))
	}
}
