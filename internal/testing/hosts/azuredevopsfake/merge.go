package azuredevopsfake

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// mergeStatus is the state of the merge in Azure.
func (p *pull) mergeStatus() string {
	switch {
	case p.failed != "":
		return p.failed
	case p.status != "active":
		return "succeeded"
	case gitserver.MergedTree(p.repo.Dir, p.repo.git.Head(p.target), p.sha) == "":
		return "conflicts"
	}
	return "succeeded"
}

// settle counts a request for Azure's work in the background: after enough requests, it notices pushes, and completes.
func (p *pull) settle() {
	if p.status != "active" || p.fork {
		return
	}
	if head := p.repo.git.Head(p.source); head != "" && head != p.sha {
		if p.moving > 0 {
			p.moving--
			return
		}
		p.sha, p.moving = head, p.repo.server.lag
	}
	p.base = p.repo.git.Head(p.target)
	switch {
	case p.completer == "" || p.draft || p.repo.git.Head(p.source) == "" || p.mergeStatus() != "succeeded" || p.waits():
	case p.merging > 0:
		p.merging--
	default:
		if err := p.merge(p.options.Strategy); err != nil {
			p.failed, p.completer = "failure", ""
		}
	}
}

// waits reports whether a policy keeps auto-complete from completing.
func (p *pull) waits() bool {
	return slices.ContainsFunc(p.repo.policies, func(o *policy) bool {
		ignored := o.optional && slices.Contains(p.options.Ignored, o.id)
		met := p.checks[o.context] == (check{p.sha, "succeeded"})
		if o.strategies != nil {
			met = !o.forbids(p.options.Strategy)
		}
		return o.branch == p.target && !ignored && !met
	})
}

// merge merges in Git. A rebase rewrites the source branch too (docs).
func (p *pull) merge(strategy string) error {
	git := p.repo.git
	base := git.Head(p.target)
	message := fmt.Sprintf("Merged PR %d: %s", p.number, p.title)
	if p.options.Message != "" {
		message = p.options.Message
	}
	var commit string
	var err error
	switch strategy {
	case "squash":
		commit, err = git.Merge(message, base, p.sha, base)
	case "rebase":
		if commit, err = p.rebase(base); err == nil {
			err = git.MoveBranch(p.source, commit, git.Head(p.source))
		}
	default:
		commit, err = git.Merge(message, base, p.sha, base, p.sha)
	}
	if err != nil {
		return err
	}
	if err := git.MoveBranch(p.target, commit, base); err != nil {
		return err
	}
	p.setStatus("completed")
	p.merged = commit
	return nil
}

// rebase rebases the commits of the source onto a base.
func (p *pull) rebase(base string) (string, error) {
	onto, git := base, p.repo.git
	for _, one := range strings.Fields(git.Ask("rev-list", "--reverse", base+".."+p.sha)) {
		parent := git.Ask("rev-parse", one+"^")
		if parent == onto {
			onto = one
			continue
		}
		out, err := git.Run("merge-tree", "--write-tree", "--merge-base="+parent, onto, one)
		if err != nil {
			return "", hostfake.ErrConflict
		}
		tree, _, _ := strings.Cut(out, "\n")
		if onto, err = git.CommitTree(git.Ask("log", "-1", "--format=%B", one), tree, onto); err != nil {
			return "", err
		}
	}
	return onto, nil
}
