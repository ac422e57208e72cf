package githubfake

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	gitobject "github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// Repo is a private repo of a [Server].
type Repo struct {
	Name string // owner/name
	Path string // of the bare repository
	URL  string // for Git over HTTP

	server    *Server
	pulls     []*pull
	numbers   int // of pull requests and issues alike
	statuses  map[string][]status
	checkRuns map[string][]checkRun
	commits   map[string]bool     // commits that exist
	required  map[string][]string // branch → the contexts whose success its merges need
	keepsOpen bool
	noDrafts  bool
	teams     []string
	outsiders []string // users whose review cannot be requested
}

// AddRepo creates an empty repo ("owner/name").
func (s *Server) AddRepo(t testing.TB, name string) *Repo {
	t.Helper()
	bare := gitserver.InitBare(t)
	path := filepath.Join(s.root, filepath.FromSlash(name)+".git")
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(bare, path); err != nil {
		t.Fatal(err)
	}
	r := &Repo{
		Name: name, Path: path, URL: s.URL + "/" + name, server: s,
		statuses: map[string][]status{}, checkRuns: map[string][]checkRun{}, commits: map[string]bool{},
		required: map[string][]string{},
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repos[strings.ToLower(name)] = r
	return r
}

// Protect rejects pushes to branches; merges of pull requests still work.
func (r *Repo) Protect(t testing.TB, branches ...string) {
	t.Helper()
	gitserver.Protect(t, r.Path, "error: GH006: Protected branch update failed for $1.\n"+
		"error: Changes must be made through a pull request.", branches...)
}

// DeleteBranch deletes a branch as a person does.
func (r *Repo) DeleteBranch(t testing.TB, branch string) {
	t.Helper()
	gitserver.Git(t, r.Path, "update-ref", "-d", "refs/heads/"+branch)
}

// RequireStatus requires successful statuses in these contexts for merges into a branch.
func (r *Repo) RequireStatus(branch string, contexts ...string) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	r.required[branch] = contexts
}

// KeepOpen keeps a pull request open when its head branch is deleted. GitHub closes it, but not immediately.
func (r *Repo) KeepOpen() {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	r.keepsOpen = true
}

// NoDrafts makes the repo refuse drafts, like a private repo whose plan lacks them.
func (r *Repo) NoDrafts() {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	r.noDrafts = true
}

// AddTeam adds a team that can review.
func (r *Repo) AddTeam(slug string) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	r.teams = append(r.teams, slug)
}

// AddOutsider adds a user who is not a collaborator, so that no review by the user can be requested.
func (r *Repo) AddOutsider(login string) {
	r.server.mu.Lock()
	defer r.server.mu.Unlock()
	r.outsiders = append(r.outsiders, login)
}

// git runs git for a question whose negative answer is a failure.
func (r *Repo) git(args ...string) string {
	out, err := gitserver.Run(r.Path, args...)
	if err != nil {
		return ""
	}
	return out
}

// rev returns the commit of a branch, or "".
func (r *Repo) rev(branch string) string { return gitserver.Branch(r.Path, branch) }

// commit returns the full hash of a commit, or "".
func (r *Repo) commit(hash string) string {
	if plumbing.IsHash(hash) {
		if _, err := gitobject.GetCommit(r.server.Git.Storage(r.Path), plumbing.NewHash(hash)); err == nil {
			return hash
		}
	}
	return r.git("rev-parse", "--verify", "--quiet", "--end-of-options", hash+"^{commit}")
}

// contains reports whether a commit is an ancestor of another one, or equal to it.
func (r *Repo) contains(descendant, ancestor string) bool {
	return gitserver.Contains(r.server.Git.Storage(r.Path), descendant, ancestor)
}

// sync updates the pull requests from the branches.
func (r *Repo) sync() {
	for _, p := range r.pulls {
		if p.state != "open" {
			continue
		}
		head, base := r.rev(p.head), r.rev(p.base)
		switch {
		case base == "", head == "" && !r.keepsOpen:
			r.close(p)
			continue
		case head == "":
			continue
		case head == p.headCommit && base != p.baseCommit && r.contains(base, head):
			// The commits were pushed to the base by hand: GitHub treats that as a merge.
			p.baseCommit = base
			r.merged(p, head)
			continue
		case head != p.headCommit && r.contains(base, head):
			r.moveTo(p, head, base)
			r.close(p)
			continue
		}
		r.moveTo(p, head, base)
		r.mergeWhenReady(p)
	}
}

func (r *Repo) moveTo(p *pull, head, base string) {
	if head != p.headCommit {
		p.updated = r.server.now()
		_ = gitserver.SetReference(r.Path, fmt.Sprintf("refs/pull/%d/head", p.number), head)
	}
	p.headCommit, p.baseCommit = head, base
}

func (r *Repo) close(p *pull) {
	p.state, p.autoMerge, p.closed = "closed", "", r.server.now()
	p.updated = p.closed
}

func (r *Repo) merged(p *pull, commit string) {
	r.close(p)
	p.merged, p.mergeCommit = true, commit
}

func (r *Repo) pull(number int) *pull {
	i := slices.IndexFunc(r.pulls, func(p *pull) bool { return p.number == number })
	if i < 0 {
		return nil
	}
	return r.pulls[i]
}
