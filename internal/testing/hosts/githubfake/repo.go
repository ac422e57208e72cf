package githubfake

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// Repo is a private repo of a [Server].
type Repo struct {
	Name string // owner/name
	Path string // of the bare repository
	URL  string // for Git over HTTP
	// Issues are its issues.
	Issues hostfake.Issues
	// MergeQueues are its merge queues.
	MergeQueues MergeQueues

	server    *Server
	git       hostfake.Repo
	pulls     *pulls
	statuses  *statuses
	required  map[string][]string // branch → the contexts whose success its merges need
	queues    map[string]bool     // branches with a merge queue
	keepsOpen bool
	noDrafts  bool
	teams     []string
	outsiders []string // users whose review cannot be requested
}

// AddRepo creates an empty repo ("owner/name").
func (s *Server) AddRepo(t testing.TB, name string) *Repo {
	t.Helper()
	git := s.Server.AddRepo(t, name+".git")
	r := &Repo{
		Name: name, Path: git.Dir, URL: s.URL + "/" + name, server: s, git: git,
		required: map[string][]string{}, queues: map[string]bool{}, statuses: &statuses{
			git: git, now: s.now, byCommit: map[string][]status{}, checkRuns: map[string][]checkRun{},
			commits: map[string]bool{},
		},
	}
	r.pulls, r.MergeQueues = &pulls{repo: r}, MergeQueues{r}
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
	r.git.DeleteBranch(t, branch)
}

// RequireStatus requires successful statuses in these contexts for merges into a branch.
func (r *Repo) RequireStatus(branch string, contexts ...string) {
	r.server.locked(func() { r.required[branch] = contexts })
}

// KeepOpen keeps a pull request open when its head branch is deleted. GitHub closes it, but not immediately.
func (r *Repo) KeepOpen() { r.server.locked(func() { r.keepsOpen = true }) }

// NoDrafts makes the repo refuse drafts, like a private repo whose plan lacks them.
func (r *Repo) NoDrafts() { r.server.locked(func() { r.noDrafts = true }) }

// AddTeam adds a team that can review.
func (r *Repo) AddTeam(slug string) { r.server.locked(func() { r.teams = append(r.teams, slug) }) }

// AddOutsider adds a user who is not a collaborator, so that no review by the user can be requested.
func (r *Repo) AddOutsider(login string) {
	r.server.locked(func() { r.outsiders = append(r.outsiders, login) })
}

// pulls are the pull requests of a repo.
type pulls struct {
	repo    *Repo
	all     []*pull
	numbers int // of pull requests and issues alike
}

// sync updates the pull requests from the branches.
func (ps *pulls) sync() {
	r := ps.repo
	for _, p := range ps.all {
		if p.state != "open" {
			continue
		}
		head, base := r.git.Head(p.head), r.git.Head(p.base)
		switch {
		case base == "", head == "" && !r.keepsOpen:
			p.close()
			continue
		case head == "":
			continue
		case head == p.headCommit && base != p.baseCommit && r.git.Contains(base, head):
			// The commits were pushed to the base by hand: GitHub treats that as a merge.
			p.baseCommit = base
			p.end(head)
			continue
		case head != p.headCommit && r.git.Contains(base, head):
			p.moveTo(head, base)
			p.close()
			continue
		}
		p.moveTo(head, base)
		p.mergeWhenReady()
	}
}

func (p *pull) moveTo(head, base string) {
	if head != p.headCommit {
		p.updated = p.repo.server.now()
		p.queuedBy = ""
		_ = gitserver.SetReference(p.repo.Path, fmt.Sprintf("refs/pull/%d/head", p.number), head)
	}
	p.headCommit, p.baseCommit = head, base
}

func (p *pull) close() {
	p.state, p.autoMerge, p.queuedBy, p.closed = "closed", "", "", p.repo.server.now()
	p.updated = p.closed
}

func (p *pull) end(commit string) {
	p.close()
	p.merged, p.mergeCommit = true, commit
}

// find returns the pull request of a number, or nil.
func (ps *pulls) find(number int) *pull {
	i := slices.IndexFunc(ps.all, func(p *pull) bool { return p.number == number })
	if i < 0 {
		return nil
	}
	return ps.all[i]
}
