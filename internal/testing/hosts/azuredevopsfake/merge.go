package azuredevopsfake

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// mergeStatus is the state of the merge in Azure.
func (r *Repo) mergeStatus(p *pull) string {
	switch {
	case p.failed != "":
		return p.failed
	case p.status != "active":
		return "succeeded"
	case gitserver.MergedTree(r.Dir, r.rev(p.target), p.sha) == "":
		return "conflicts"
	}
	return "succeeded"
}

// settle counts a request for Azure's work in the background: after enough requests, it notices pushes, and completes.
func (r *Repo) settle(p *pull) {
	if p.status != "active" || p.fork {
		return
	}
	if head := r.rev(p.source); head != "" && head != p.sha {
		if p.moving > 0 {
			p.moving--
			return
		}
		p.sha, p.moving = head, r.server.lag
	}
	p.base = r.rev(p.target)
	switch {
	case p.completer == "" || p.draft || r.rev(p.source) == "" || r.mergeStatus(p) != "succeeded" || r.waits(p):
	case p.merging > 0:
		p.merging--
	default:
		if err := r.merge(p, p.options.Strategy); err != nil {
			p.failed, p.completer = "failure", ""
		}
	}
}

// waits reports whether a policy keeps auto-complete from completing.
func (r *Repo) waits(p *pull) bool {
	return slices.ContainsFunc(r.policies, func(o *policy) bool {
		ignored := o.optional && slices.Contains(p.options.Ignored, o.id)
		met := p.checks[o.context] == (check{p.sha, "succeeded"})
		if o.strategies != nil {
			met = !o.forbids(p.options.Strategy)
		}
		return o.branch == p.target && !ignored && !met
	})
}

// errConflict means that Git cannot merge.
var errConflict = errors.New("the branches conflict")

// merge merges in Git. A rebase rewrites the source branch too (docs).
func (r *Repo) merge(p *pull, strategy string) error {
	base := r.rev(p.target)
	message := fmt.Sprintf("Merged PR %d: %s", p.number, p.title)
	if p.options.Message != "" {
		message = p.options.Message
	}
	var commit string
	var err error
	switch strategy {
	case "squash":
		commit, err = r.commit(message, "", base, p.sha, base)
	case "rebase":
		if commit, err = r.rebase(p.sha, base); err == nil {
			_, err = r.run("update-ref", "refs/heads/"+p.source, commit)
		}
	default:
		commit, err = r.commit(message, "", base, p.sha, base, p.sha)
	}
	if err != nil {
		return err
	}
	if _, err := r.run("update-ref", "refs/heads/"+p.target, commit, base); err != nil {
		return err
	}
	r.setStatus(p, "completed")
	p.merged = commit
	return nil
}

// rebase rebases the commits of a head onto a base.
func (r *Repo) rebase(head, base string) (string, error) {
	onto := base
	for _, one := range strings.Fields(r.git("rev-list", "--reverse", base+".."+head)) {
		parent := r.git("rev-parse", one+"^")
		if parent == onto {
			onto = one
			continue
		}
		commit, err := r.commit(r.git("log", "-1", "--format=%B", one), parent, onto, one, onto)
		if err != nil {
			return "", err
		}
		onto = commit
	}
	return onto, nil
}

// commit commits the merged tree of two commits with these parents. from is their merge base; "": Git finds it.
func (r *Repo) commit(message, from, ours, theirs string, parents ...string) (string, error) {
	args := []string{"merge-tree", "--write-tree"}
	if from != "" {
		args = append(args, "--merge-base="+from)
	}
	out, err := r.run(append(args, ours, theirs)...)
	if err != nil {
		return "", errConflict
	}
	tree, _, _ := strings.Cut(out, "\n")
	args = []string{"commit-tree", tree, "-m", message}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	return r.run(args...)
}
