package githubfake

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// mergeRequest is the body of a request to merge.
type mergeRequest struct {
	SHA    string `json:"sha"`
	Method string `json:"merge_method"`
}

func (p *pull) acceptMerge(_ *call, asked mergeRequest) answer {
	waiting := p.waitsFor()
	switch {
	case p.State != hostfake.Open, p.Draft:
		return fail(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	case asked.SHA != "" && asked.SHA != p.HeadCommit:
		return fail(http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	case p.repo.queues[p.Base]:
		return fail(http.StatusMethodNotAllowed,
			"Repository rule violations found\n\nChanges must be made through the merge queue")
	case waiting != "":
		return fail(http.StatusMethodNotAllowed, fmt.Sprintf("Required status check %q is expected.", waiting))
	}
	switch err := p.Merge(cmp.Or(asked.Method, "merge")); {
	case errors.Is(err, hostfake.ErrConflict):
		return fail(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	case err != nil:
		return fail(http.StatusMethodNotAllowed, "Base branch was modified. Review and try the merge again.")
	}
	return ok(object{"sha": p.MergeCommit, "merged": true, "message": "Pull Request successfully merged"})
}

// waitsFor returns the first required context without success, or "".
func (p *pull) waitsFor() string {
	for _, context := range p.repo.required[p.Base] {
		if !slices.ContainsFunc(p.repo.LatestOf(p.HeadCommit),
			func(s *hostfake.Status) bool { return s.Context == context && s.State == "success" }) {
			return context
		}
	}
	return ""
}

// mergeWhenReady performs auto-merge.
func (p *pull) mergeWhenReady() {
	switch {
	case p.AutoMerge == "" || p.Draft || p.waitsFor() != "":
	case p.repo.queues[p.Base]:
		p.AutoMerge, p.QueuedBy = "", p.AutoMergeBy
	default:
		_ = p.Merge(p.AutoMerge) // a conflict leaves it open, as GitHub does
	}
}

// Merge implements [hostfake.Pull].
func (p *pull) Merge(method string) error {
	git := p.repo.Git
	message := fmt.Sprintf("%s (#%d)", p.Title, p.Number)
	if method == "merge" {
		owner, _, _ := strings.Cut(p.repo.Name, "/")
		message = fmt.Sprintf("Merge pull request #%d from %s/%s\n\n%s", p.Number, owner, p.Head, p.Title)
	}
	commit, err := git.MergeBy(method, p.BaseCommit, p.HeadCommit, message, "--force-rebase")
	if err == nil {
		err = git.MoveBranch(p.Base, commit, p.BaseCommit)
	}
	if err == nil {
		p.BaseCommit, p.MergeCommit = commit, commit
		p.End(hostfake.Merged, p.repo.Server.Now())
	}
	return err
}
