package gitremote_test

import (
	"errors"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestMirror reads from and pushes to a mirror on each server, with the credential for the mirror's URL. The repo still
// has the name of the original.
func TestMirror(t *testing.T) {
	for _, backend := range gitserver.Backends() {
		t.Run(backend.Name, func(t *testing.T) {
			t.Parallel()
			repo := gitserver.InitBare(t)
			head := plumbing.NewHash(gitserver.Seed(t, repo, "main", map[string]string{"a": "1"}))
			url, credentials := backend.Start(t, repo)
			credentials = append(credentials, gitremote.Credential{
				URL: "https://git.invalid/acme", Username: "x", Password: "canary-of-the-original",
			})
			name := "https://git.invalid/acme/" + path.Base(url)
			r := open(t, name, credentials, mirrors(t, map[string]string{
				"https://git.invalid/":      "/none/",
				"https://git.invalid/acme/": strings.TrimSuffix(url, path.Base(url)),
			}))
			if r.String() != name || r.Key() != strings.TrimSuffix(name, ".git") {
				t.Errorf("the repo is called %s, with the key %s", r, r.Key())
			}
			at, err := r.Ref(t.Context(), main)
			if err != nil || at != head {
				t.Fatalf("got %s, %v; want %s", at, err, head)
			}
			if err := r.Fetch(t.Context(), gitremote.FetchRequest{Wants: []hash{at}}, gitremote.Objects{}); err != nil {
				t.Fatal(err)
			}
			w, err := r.Writer(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			w.Close()
		})
	}
}

func mirrors(t *testing.T, urls map[string]string) gitremote.Option {
	t.Helper()
	m, errs := gitremote.ParseMirrors(urls)
	if errs != nil {
		t.Fatal(errs)
	}
	return func(s *gitremote.Settings) { s.Mirrors = m }
}

// TestMirrorCredentials: a mirror never gets a credential of the original, whether it is a credential, GitHub's token
// or a login.
func TestMirrorCredentials(t *testing.T) {
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "main", map[string]string{"a": "1"})
	server, url := gitserver.Serve(t, repo, gitserver.WithBasic("mirror", "canary-mirror"))
	name := "https://github.com/acme/" + filepath.Base(repo)
	var asked []string
	password := loginFunc(func(repo string) (gitremote.Login, error) {
		asked = append(asked, repo)
		return gitremote.Login{}, nil
	})
	token := func(s *gitremote.Settings) { s.GitHubToken = "canary-token" }
	original := gitremote.Credential{URL: "https://github.com/acme", Username: "x", Password: "canary-original"}
	_, err := open(t, name, []gitremote.Credential{original},
		token, password, mirrors(t, map[string]string{name: url})).Ref(t.Context(), main)
	is(t, err, gitremote.ErrUnauthorized)
	for _, want := range []string{name, url, "no credential matches it"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not contain %q: %v", want, err)
		}
	}
	if diff := cmp.Diff([]string{url}, asked[:1]); diff != "" {
		t.Errorf("repos for which the login function was called (-want +got):\n%s", diff)
	}
	for _, request := range server.Requests() {
		if request.Authorization != "" {
			t.Errorf("the mirror got %q", request.Authorization)
		}
	}
}

// TestMirrorErrors: all errors are reported at once, and none contains a secret.
func TestMirrorErrors(t *testing.T) {
	_, errs := gitremote.ParseMirrors(map[string]string{
		"":                                  "https://mirror.acme.io",
		"github.com":                        "https://mirror.acme.io",
		"https://x:canary@github.com/":      "https://mirror.acme.io",
		"https://a.io":                      "https://x:canary@mirror.acme.io",
		"https://b.io":                      "mirror",
		"https://c.io":                      "https://mirror.acme.io/a/../b",
		"https://d.io/acme/":                "https://mirror.acme.io",
		"https://D.io:443/acme":             "https://mirror.acme.io",
		"https://e.io/?token=canary":        "https://mirror.acme.io",
		"git@github.com:":                   "git@mirror.acme.io:",
		"https://fine.io/acme/":             "http://mirror.acme.io/acme/",
		"ssh://git@fine.io/acme/gitops.git": "/srv/gitops.git",
	})
	if len(errs) != 8 {
		t.Errorf("got %d errors, want 8:\n%v", len(errs), errs)
	}
	if text := errors.Join(errs...).Error(); strings.Contains(text, "canary") {
		t.Errorf("the errors contain a secret: %s", text)
	}
}
