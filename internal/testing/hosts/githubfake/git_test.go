package githubfake_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// Git accepts the tokens of the API. No token may push to a protected branch, but its pull requests are merged.
func TestGit(t *testing.T) {
	c, r := start(t)
	c.s.AddToken("reader", "bob", map[string]hostfake.Access{"acme/gitops": hostfake.Read})
	c.s.AddToken("foreign", "eve", nil)
	r.Protect(t, "main")
	git := func(folder string, args ...string) (string, bool) {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = folder, gitserver.Env()
		out, err := cmd.CombinedOutput()
		return string(out), err == nil
	}
	as := func(token string) string { return strings.Replace(r.URL, "//", "//x-access-token:"+token+"@", 1) }
	for token, said := range map[string]string{"wrong": "Invalid username or token", "foreign": "Repository not found"} {
		if out, ok := git(t.TempDir(), "clone", as(token)); ok || !strings.Contains(out, said) {
			t.Errorf("with %s: %s", token, out)
		}
	}
	clone := filepath.Join(t.TempDir(), "clone")
	if out, ok := git("", "clone", "--quiet", as("reader"), clone); !ok {
		t.Fatal(out)
	}
	if err := os.WriteFile(filepath.Join(clone, "new"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	gitserver.Git(t, clone, "add", "new")
	gitserver.Git(t, clone, "commit", "--quiet", "-m", "New")
	if out, ok := git(clone, "push", as("reader"), "HEAD:change"); ok ||
		!strings.Contains(out, "Permission to acme/gitops.git denied to bob") {
		t.Error(out)
	}
	if out, ok := git(clone, "push", as(c.token), "HEAD:main"); ok ||
		!strings.Contains(out, "GH006: Protected branch update failed for refs/heads/main") {
		t.Error(out)
	}
	if out, ok := git(clone, "push", as(c.token)+".git", "HEAD:change"); !ok {
		t.Error(out)
	}
	r.Merge(t, r.Open(t, "ann", "change", "main", "New", ""), "squash")
	if _, ok := gitserver.Tree(t, r.Path, "main")["new"]; !ok {
		t.Error("the merge did not arrive on the protected branch")
	}
	if len(c.s.Git.Requests()) == 0 {
		t.Error("Git's requests are not in its log")
	}
}
