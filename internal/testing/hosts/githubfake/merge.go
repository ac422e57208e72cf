package githubfake

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// errConflict means that Git cannot merge.
var errConflict = errors.New("Pull Request is not mergeable") //nolint:staticcheck // GitHub's words

func (p *pull) acceptMerge(w http.ResponseWriter, req *http.Request) {
	var asked struct {
		SHA    string `json:"sha"`
		Method string `json:"merge_method"`
	}
	if !decode(w, req, &asked) {
		return
	}
	if asked.Method == "" {
		asked.Method = "merge"
	}
	waiting := p.waitsFor()
	switch {
	case p.state != "open", p.draft:
		fail(w, http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	case asked.SHA != "" && asked.SHA != p.headCommit:
		fail(w, http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	case p.repo.queues[p.base]:
		fail(w, http.StatusMethodNotAllowed,
			"Repository rule violations found\n\nChanges must be made through the merge queue")
	case waiting != "":
		fail(w, http.StatusMethodNotAllowed, fmt.Sprintf("Required status check %q is expected.", waiting))
	default:
		if err := p.merge(asked.Method); err != nil {
			fail(w, http.StatusMethodNotAllowed, err.Error())
			return
		}
		reply(w, http.StatusOK, object{"sha": p.mergeCommit, "merged": true, "message": "Pull Request successfully merged"})
	}
}

// waitsFor returns the first required context without success, or "".
func (p *pull) waitsFor() string {
	for _, context := range p.repo.required[p.base] {
		if !slices.ContainsFunc(p.repo.statuses.latest(p.headCommit),
			func(s status) bool { return s.Context == context && s.State == "success" }) {
			return context
		}
	}
	return ""
}

// mergeWhenReady performs auto-merge.
func (p *pull) mergeWhenReady() {
	switch {
	case p.autoMerge == "" || p.draft || p.waitsFor() != "":
	case p.repo.queues[p.base]:
		p.autoMerge, p.queuedBy = "", p.autoMergeBy
	default:
		_ = p.merge(p.autoMerge) // a conflict leaves it open, as GitHub does
	}
}

// merge merges in Git.
func (p *pull) merge(method string) error {
	var commit string
	var err error
	git := p.repo.git
	switch method {
	case "merge":
		commit, err = git.Merge(fmt.Sprintf("Merge pull request #%d from %s/%s\n\n%s", p.number,
			before(strings.Replace(p.repo.Name, "/", ":", 1)), p.head, p.title),
			p.baseCommit, p.headCommit, p.baseCommit, p.headCommit)
	case "squash":
		commit, err = git.Merge(fmt.Sprintf("%s (#%d)", p.title, p.number), p.baseCommit, p.headCommit, p.baseCommit)
	case "rebase":
		commit, err = p.rebase()
	default:
		return errors.New("Invalid merge method") //nolint:staticcheck // GitHub's words
	}
	switch {
	case errors.Is(err, hostfake.ErrConflict):
		return errConflict
	case err != nil:
		return err
	}
	if err := git.MoveBranch(p.base, commit, p.baseCommit); err != nil {
		return errors.New("Base branch was modified. Review and try the merge again.") //nolint:revive,staticcheck // GitHub's
	}
	p.baseCommit = commit
	p.end(commit)
	return nil
}

// rebase rebases the commits of the head onto the base.
func (p *pull) rebase() (string, error) {
	folder, err := os.MkdirTemp("", "githubfake-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	tree := filepath.Join(folder, "tree")
	if _, err := gitserver.Run(p.repo.Path, "worktree", "add", "--quiet", "--detach", tree, p.headCommit); err != nil {
		return "", err
	}
	defer p.repo.git.Ask("worktree", "remove", "--force", tree)
	if _, err := gitserver.Run(tree, "rebase", "--quiet", "--force-rebase", p.baseCommit); err != nil {
		return "", errConflict
	}
	return gitserver.Run(tree, "rev-parse", "HEAD")
}
