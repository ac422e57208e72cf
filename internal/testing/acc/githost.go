package acc

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// GitHost is a Git server that requires a password. [GitHost.Dir] and [GitHost.Commit] create its bare repos when they
// are first used.
type GitHost struct {
	*gitserver.Server
	T *testing.T
}

// GitHostPassword is the password of the user "me" on a [GitHost].
const GitHostPassword = "canary-host"

// NewGitHost starts a Git server without repos.
func NewGitHost(t *testing.T, options ...gitserver.Option) *GitHost {
	t.Helper()
	return &GitHost{gitserver.New(t, t.TempDir(), append(options, gitserver.WithBasic("me", GitHostPassword))...), t}
}

// Dir returns the folder of a repo, and creates the repo if it does not exist yet.
func (h *GitHost) Dir(name string) string {
	h.T.Helper()
	dir := filepath.Join(h.Root, name)
	if len(Glob(h.T, dir)) == 0 {
		gitserver.InitBareAt(h.T, dir)
	}
	return dir
}

// RepoURL returns the URL of a repo.
func (h *GitHost) RepoURL(name string) string { return h.URL + "/" + name }

// Commit commits files to a branch of a repo, and returns the commit.
func (h *GitHost) Commit(name, branch string, files map[string]string) string {
	h.T.Helper()
	return gitserver.Seed(h.T, h.Dir(name), branch, files)
}

// Sample creates the repos of Kalypso's sample, with the registration and the policy that the golden fleet sample-dev
// adds. It sets the BaseRepo's commit to the head of main, and returns this commit.
func (h *GitHost) Sample() (promoted string) {
	h.T.Helper()
	additions := golden.Named(h.T, "sample-dev").Objects
	read := func(repo, branch string, added ...string) map[string]string {
		files := ReadTree(h.T, filepath.Join(Samples, repo, branch))
		for _, at := range added {
			files[strings.TrimPrefix(at, "base/")] = additions[at]
		}
		for path, text := range files {
			if strings.HasPrefix(path, "workloads/") || strings.HasSuffix(path, "-repo.yaml") {
				files[path] = strings.ReplaceAll(text, "https://github.com/microsoft", h.URL)
			}
		}
		return files
	}
	promoted = h.Commit("kalypso-control-plane", "main", read("kalypso-control-plane", "main",
		"base/workloads/hello-world-app.yaml"))
	dev := read("kalypso-control-plane", "dev", "scheduling/application-clusters/functional-test-policy.yaml")
	dev["base-repo.yaml"] = regexp.MustCompile(`commit: .*`).ReplaceAllString(dev["base-repo.yaml"], "commit: "+promoted)
	h.Commit("kalypso-control-plane", "dev", dev)
	h.Commit("kalypso-control-plane", "stage", read("kalypso-control-plane", "stage"))
	for _, repo := range []string{"kalypso-app-src", "kalypso-svc-src"} {
		h.Commit(repo, "main", ReadTree(h.T, filepath.Join(Samples, repo, "main")))
	}
	return promoted
}

// Samples is the folder with the repos of Kalypso's samples: the control plane, its GitOps repo and the repos of two
// applications. Each has a folder for each branch.
var Samples = filepath.Join(programs.Root(), "internal/testing/acc/testdata/samples")

// Access returns the arguments of a provider that reads the host's repos.
func (h *GitHost) Access() map[string]any {
	return map[string]any{"git_credentials": []any{
		map[string]any{"url": h.URL, "username": "me", "password": GitHostPassword},
	}}
}

// Shown returns a plan's output, in which URLs, commits and change IDs are the same in every run.
func (h *GitHost) Shown(plan string) string {
	h.T.Helper()
	names := []string{h.URL, "https://github.com/acme"}
	for _, repo := range Glob(h.T, filepath.Join(h.Root, "*")) {
		branches := strings.Fields(gitserver.Git(h.T, repo, "for-each-ref", "--format=%(refname:short)"))
		for _, branch := range branches {
			commits := strings.Fields(gitserver.Git(h.T, repo, "rev-list", "--reverse", branch))
			for i, commit := range commits {
				name := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", filepath.Base(repo), branch, i))
				names = append(names, commit, fmt.Sprintf("%x", name)[:len(commit)])
			}
		}
	}
	shown := strings.NewReplacer(names...).Replace(Printed(plan))
	return ChangeID.ReplaceAllString(shown, `"$1-3f2a9c41d07b"`)
}

// ChangeID matches the ID of a refused change. The ID is a hash that includes the destination, so it differs in every
// run.
var ChangeID = regexp.MustCompile(`"([a-z]+)-[0-9a-f]{12}"`)
