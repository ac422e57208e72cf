package azuredevopsfake

import (
	"cmp"
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
	case p.State != hostfake.Open:
		return "succeeded"
	case gitserver.MergedTree(p.repo.Dir, p.repo.Git.Head(p.Base), p.HeadCommit) == "":
		return "conflicts"
	}
	return "succeeded"
}

// settle counts a request for Azure's work in the background: after enough requests, it notices pushes, and completes.
func (p *pull) settle() {
	if p.State != hostfake.Open || p.Fork {
		return
	}
	if head := p.repo.Git.Head(p.Head); head != "" && head != p.HeadCommit {
		if p.moving > 0 {
			p.moving--
			return
		}
		p.HeadCommit, p.moving = head, p.repo.Server.Host.Lag
	}
	p.BaseCommit = p.repo.Git.Head(p.Base)
	switch {
	case p.AutoMerge == "" || p.Draft || p.repo.Git.Head(p.Head) == "" || p.mergeStatus() != "succeeded" || p.waits():
	case p.merging > 0:
		p.merging--
	default:
		if err := p.Merge(p.method()); err != nil {
			p.failed, p.AutoMerge = "failure", ""
		}
	}
}

// waits reports whether a policy keeps auto-complete from completing.
func (p *pull) waits() bool {
	return slices.ContainsFunc(p.repo.policies, func(o *policy) bool {
		ignored := o.optional && slices.Contains(p.options.Ignored, o.id)
		met := p.checks[o.context] == (check{p.HeadCommit, "succeeded"})
		if o.strategies != nil { // a strategy needs the permission (peer)
			met = o.strategies["allow"+strings.ToUpper(p.options.Strategy[:1])+p.options.Strategy[1:]] == true
		}
		return o.branch == p.Base && !ignored && !met
	})
}

// strategies are Azure's names of the merge methods.
var strategies = map[string]string{"merge": "noFastForward", "squash": "squash", "rebase": "rebase"}

// method is the merge method of the options.
func (p *pull) method() string {
	for method, strategy := range strategies {
		if strategy == p.options.Strategy {
			return method
		}
	}
	return "merge"
}

// Merge implements [hostfake.Pull]. A rebase rewrites the source branch too (docs).
func (p *pull) Merge(method string) error {
	git := p.repo.Git
	base, head := git.Head(p.Base), git.Head(p.Head)
	message := cmp.Or(p.options.Message, fmt.Sprintf("Merged PR %d: %s", p.Number, p.Title))
	commit, err := git.MergeBy(method, base, head, message)
	if err == nil && method == "rebase" {
		err = git.MoveBranch(p.Head, commit, head)
	}
	if err == nil {
		err = git.MoveBranch(p.Base, commit, base)
	}
	if err == nil {
		p.HeadCommit, p.MergeCommit = head, commit
		p.End(hostfake.Merged, p.repo.Server.Now())
	}
	return err
}
