package versions_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/versions"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

func newClient(t *testing.T, credentials ...gitremote.Credential) *gitremote.Client {
	t.Helper()
	client, err := gitremote.NewClient(credentials)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func at(repo, path, commit string) versions.At {
	return versions.At{Place: versions.Place{Repo: repo, Branch: "main", Path: path}, Commit: commit}
}

// TestRead: Read returns the hash of a folder, and the version from its files. It reads two folders with the same
// content only once.
func TestRead(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	first := gitserver.Seed(t, repo, "main", map[string]string{"web/deploy.yaml": deploymentYAML("1"), "README.md": "x"})
	second := gitserver.Seed(t, repo, "main", map[string]string{"README.md": "y"})
	third := gitserver.Seed(t, repo, "main", map[string]string{"web/deploy.yaml": deploymentYAML("2")})
	tree := strings.TrimSpace(gitserver.Git(t, repo, "rev-parse", first+":web"))
	s, url := gitserver.Serve(t, repo, gitserver.WithFilter())

	read := versions.Read(t.Context(), newClient(t), []versions.At{at(url, "web", first)}, false)
	one := len(s.Requests())
	got := read[at(url, "web", first)]
	if got.Err != nil || got.Tree != tree || got.Version("", "").Version != "1" || got.CommittedAt.IsZero() {
		t.Errorf("%+v", got)
	}
	s.ResetLog()
	read = versions.Read(t.Context(), newClient(t), []versions.At{
		at(url, "web", first), at(url, "web", second), at(url, "web", second), at(url, "web", third), at(url, "gone", third),
		at(url, "README.md", third), at(url, ".", third), at(url, "web", strings.Repeat("a", 40)),
	}, false)
	if got := read[at(url, "web", second)]; got.Err != nil || got.Tree != tree || got.Version("", "").Version != "1" {
		t.Errorf("commit with the same content: %+v", got)
	}
	if got := read[at(url, "web", third)]; got.Err != nil || got.Tree == tree || got.Version("", "").Version != "2" {
		t.Errorf("commit with another content: %+v", got)
	}
	if got := read[at(url, ".", third)]; got.Err != nil || got.Version("", "").Version != "2" {
		t.Errorf("root of the repo: %+v", got)
	}
	for _, path := range []string{"gone", "README.md"} {
		if got := read[at(url, path, third)]; !errors.Is(got.Err, versions.ErrNoFolder) {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if got := read[at(url, "web", strings.Repeat("a", 40))]; got.Err == nil || got.Tree != "" {
		t.Errorf("unknown commit: %+v", got)
	}
	s.ResetLog()
	versions.Read(t.Context(), newClient(t), []versions.At{at(url, "web", first), at(url, "web", second)}, false)
	if two := len(s.Requests()); two >= 2*one {
		t.Errorf("one commit takes %d requests, and two with equal content %d", one, two)
	}
}

// TestReadSecurity: a local repo is only read if this is allowed. A repo on another server gets no credential. No error
// contains a credential.
func TestReadSecurity(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	commit := gitserver.Seed(t, repo, "main", map[string]string{"deploy.yaml": deploymentYAML("1")})
	for _, url := range []string{"file://" + repo, repo} {
		for _, allowed := range []bool{false, true} {
			got := versions.Read(t.Context(), newClient(t), []versions.At{at(url, ".", commit)}, allowed)[at(url, ".", commit)]
			if errors.Is(got.Err, versions.ErrLocal) == allowed || (got.Version("", "").Version == "1") != allowed {
				t.Errorf("%s, allowed %t: %+v", url, allowed, got)
			}
		}
	}
	ours, oursURL := gitserver.Serve(t, repo, gitserver.WithFilter(), gitserver.WithBasic("kalypso", "canary"))
	theirs := gitserver.New(t, filepath.Dir(repo), gitserver.WithBasic("kalypso", "canary"))
	theirsURL := theirs.URL + "/" + filepath.Base(repo)
	client := newClient(t, gitremote.Credential{URL: ours.URL, Username: "kalypso", Password: "canary"})
	read := versions.Read(t.Context(), client, []versions.At{at(oursURL, ".", commit), at(theirsURL, ".", commit)}, false)
	if got := read[at(oursURL, ".", commit)]; got.Err != nil || got.Version("", "").Version != "1" {
		t.Errorf("our server: %+v", got)
	}
	got := read[at(theirsURL, ".", commit)]
	if !errors.Is(got.Err, gitremote.ErrUnauthorized) || strings.Contains(got.Err.Error(), "canary") {
		t.Errorf("their server: %+v", got)
	}
	if len(theirs.Requests()) == 0 {
		t.Error("their server got no request")
	}
	for _, r := range theirs.Requests() {
		if r.Authorization != "" {
			t.Errorf("their server got %q", r.Authorization)
		}
	}
	for _, repo := range []string{"", "oci://acme.io/web", "https://user:canary@git.acme.io/x", "ext::sh -c canary"} {
		got := versions.Read(t.Context(), client, []versions.At{at(repo, ".", commit)}, false)[at(repo, ".", commit)]
		if got.Err == nil || strings.Contains(got.Err.Error(), "canary@") {
			t.Errorf("%q: %v", repo, got.Err)
		}
	}
}

// TestReadBounds: if a target has too many or too large files, it has a hash but no version. If a repo is too large,
// only its own targets have no version.
func TestReadBounds(t *testing.T) {
	t.Parallel()
	var script strings.Builder
	add := func(path string, content string) {
		fmt.Fprintf(&script, "M 644 inline %s\ndata %d\n%s\n", path, len(content), content)
	}
	script.WriteString("commit refs/heads/main\ncommitter A <a@acme.io> 1700000000 +0000\ndata 1\nx\n")
	for i := range 100_000 {
		add(fmt.Sprintf("files/%03d/%d.yaml", i/1000, i), "a: b")
	}
	for i := range 1000 {
		add(fmt.Sprintf("just/%d.yaml", i), deploymentYAML("7"))
	}
	add("large/a.yaml", strings.Repeat("#", 17<<20))
	for i := range 20 {
		add(fmt.Sprintf("sum/%d.yaml", i), strings.Repeat(fmt.Sprintf("# %d\n", i), 1<<18))
		add(fmt.Sprintf("more/%d.txt", i), strings.Repeat(fmt.Sprintf("! %d\n", i), 1<<18))
	}
	for _, test := range []struct {
		name    string
		options []gitserver.Option
	}{{"with filters", []gitserver.Option{gitserver.WithFilter()}}, {"without filters", nil}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			repo, good := gitserver.InitBare(t), gitserver.InitBare(t)
			commit := gitserver.Seed(t, good, "main", map[string]string{"deploy.yaml": deploymentYAML("1")})
			gitserver.FastImport(t, repo, script.String())
			head := strings.TrimSpace(gitserver.Git(t, repo, "rev-parse", "main"))
			_, url := gitserver.Serve(t, repo, test.options...)
			_, small := gitserver.Serve(t, good, test.options...)
			var places []versions.At
			wants := map[string]error{"files": versions.ErrFiles, "just": nil, "large": versions.ErrBytes,
				"sum": versions.ErrBytes}
			for path := range wants {
				places = append(places, at(url, path, head))
			}
			read := versions.Read(t.Context(), newClient(t), append(places, at(small, ".", commit)), false)
			for path, want := range wants {
				got := read[at(url, path, head)]
				switch {
				case test.options == nil: // the server sends the whole commit
					if !errors.Is(got.Err, gitremote.ErrTooLarge) || got.Tree != "" {
						t.Errorf("%s: %+v", path, got)
					}
				case !errors.Is(got.Err, want) || got.Tree == "":
					t.Errorf("%s: %v, tree %q", path, got.Err, got.Tree)
				}
			}
			if got := read[at(small, ".", commit)]; got.Err != nil || got.Version("", "").Version != "1" {
				t.Errorf("another repo: %+v", got)
			}
		})
	}
}
