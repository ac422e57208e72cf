package githubfake

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// Repo is a private repo of a [Server].
type Repo struct {
	hostfake.Pulls[*pull]
	*hostfake.Statuses

	Name string // owner/name
	Path string // of the bare repository
	URL  string // for Git over HTTP
	// Issues are its issues.
	Issues hostfake.Issues
	// MergeQueues are its merge queues.
	MergeQueues MergeQueues
	// NoDrafts makes the repo refuse drafts, like a private repo whose plan lacks them. Set it between requests.
	NoDrafts bool
	// Outsiders are users who are no collaborators, so that no review by them can be requested.
	Outsiders []string

	numbers   int                   // of pull requests and issues alike
	checkRuns map[string][]checkRun // by commit
	required  map[string][]string   // branch → the contexts whose success its merges need
	queues    map[string]bool       // branches with a merge queue
	keepsOpen bool
	teams     []string
}

// AddRepo creates an empty repo ("owner/name").
func (s *Server) AddRepo(t testing.TB, name string) *Repo {
	t.Helper()
	git := s.Server.AddRepo(t, name+".git")
	r := &Repo{
		Name: name, Path: git.Dir, URL: s.URL + "/" + name,
		Statuses: hostfake.NewStatuses(s.Server, false), checkRuns: map[string][]checkRun{},
		required: map[string][]string{}, queues: map[string]bool{},
	}
	r.MergeQueues = MergeQueues{r}
	r.Pulls = hostfake.Pulls[*pull]{Git: git, Server: s.Server, OpenAs: r.open, Sync: r.sync}
	s.Locked(func() { s.repos[strings.ToLower(name)] = r })
	return r
}

// Protect rejects pushes to branches; merges of pull requests still work.
func (r *Repo) Protect(t testing.TB, branches ...string) {
	t.Helper()
	gitserver.Protect(t, r.Path, "error: GH006: Protected branch update failed for $1.\n"+
		"error: Changes must be made through a pull request.", branches...)
}

// Require requires successful statuses in these contexts for merges into a branch.
func (r *Repo) Require(branch string, contexts ...string) {
	r.Server.Locked(func() { r.required[branch] = contexts })
}

// KeepOpen keeps a pull request open when its head branch is deleted. GitHub closes it, but not immediately.
func (r *Repo) KeepOpen() { r.Server.Locked(func() { r.keepsOpen = true }) }

// AddTeam adds a team that can review.
func (r *Repo) AddTeam(slug string) { r.Server.Locked(func() { r.teams = append(r.teams, slug) }) }

// sync updates the pull requests from the branches.
func (r *Repo) sync() {
	for _, p := range r.All {
		if p.State != hostfake.Open {
			continue
		}
		head, base := r.Git.Head(p.Head), r.Git.Head(p.Base)
		switch {
		case base == "", head == "" && !r.keepsOpen:
			p.End(hostfake.Closed, r.Server.Now())
			continue
		case head == "":
			continue
		case head == p.HeadCommit && base != p.BaseCommit && r.Git.Contains(base, head):
			// The commits were pushed to the base by hand: GitHub treats that as a merge.
			p.BaseCommit, p.MergeCommit = base, head
			p.End(hostfake.Merged, r.Server.Now())
			continue
		case head != p.HeadCommit && r.Git.Contains(base, head):
			p.moveTo(head, base)
			p.End(hostfake.Closed, r.Server.Now())
			continue
		}
		p.moveTo(head, base)
		p.mergeWhenReady()
	}
}

func (p *pull) moveTo(head, base string) {
	if head != p.HeadCommit {
		p.Updated = p.repo.Server.Now()
		p.QueuedBy = ""
		_ = gitserver.SetReference(p.repo.Path, fmt.Sprintf("refs/pull/%d/head", p.Number), head)
	}
	p.HeadCommit, p.BaseCommit = head, base
}

// Reopen implements [hostfake.Pull]. It returns the reason why not.
func (p *pull) Reopen() error {
	head, base := p.repo.Git.Head(p.Head), p.repo.Git.Head(p.Base)
	_, isOpen := p.repo.IsOpen(p.Head, p.Base)
	var problem string
	switch {
	case head == "":
		problem = "The " + p.Head + " branch has been deleted."
	case isOpen:
		problem = "There is already an open pull request from " + p.Head + " to " + p.Base + "."
	case !p.repo.Git.Contains(head, p.HeadCommit):
		problem = "The " + p.Head + " branch was force-pushed or recreated."
	case p.repo.Git.Contains(base, head):
		problem = "There are no new commits on the " + p.Head + " branch."
	default:
		p.moveTo(head, base)
		return p.PullRequest.Reopen()
	}
	return errors.New("state cannot be changed. " + problem)
}

// Approve implements [hostfake.Pull]: the review of the user is no longer requested.
func (p *pull) Approve(login string) {
	p.PullRequest.Approve(login)
	p.Reviewers = slices.DeleteFunc(p.Reviewers, func(other string) bool { return other == login })
}
