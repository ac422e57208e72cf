package githubfake

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// errConflict means that Git cannot merge.
var errConflict = errors.New("Pull Request is not mergeable") //nolint:staticcheck // GitHub's words

func (s *Server) mergePull(w http.ResponseWriter, req *http.Request, r *Repo, p *pull) {
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
	waiting := r.waitsFor(p)
	switch {
	case p.state != "open", p.draft:
		fail(w, http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	case asked.SHA != "" && asked.SHA != p.headCommit:
		fail(w, http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	case waiting != "":
		fail(w, http.StatusMethodNotAllowed, fmt.Sprintf("Required status check %q is expected.", waiting))
	default:
		if err := r.merge(p, asked.Method); err != nil {
			fail(w, http.StatusMethodNotAllowed, err.Error())
			return
		}
		reply(w, http.StatusOK, object{"sha": p.mergeCommit, "merged": true, "message": "Pull Request successfully merged"})
	}
}

// waitsFor returns the first required context without success, or "".
func (r *Repo) waitsFor(p *pull) string {
	for _, context := range r.required[p.base] {
		if !slices.ContainsFunc(r.latest(p.headCommit),
			func(s status) bool { return s.Context == context && s.State == "success" }) {
			return context
		}
	}
	return ""
}

// mergeWhenReady performs auto-merge.
func (r *Repo) mergeWhenReady(p *pull) {
	if p.autoMerge != "" && !p.draft && r.waitsFor(p) == "" {
		_ = r.merge(p, p.autoMerge) // a conflict leaves it open, as GitHub does
	}
}

// merge merges in Git.
func (r *Repo) merge(p *pull, method string) error {
	var commit string
	var err error
	switch method {
	case "merge":
		commit, err = r.commitMerged(p, fmt.Sprintf("Merge pull request #%d from %s/%s\n\n%s", p.number,
			before(strings.Replace(r.Name, "/", ":", 1)), p.head, p.title), p.baseCommit, p.headCommit)
	case "squash":
		commit, err = r.commitMerged(p, fmt.Sprintf("%s (#%d)", p.title, p.number), p.baseCommit)
	case "rebase":
		commit, err = r.rebase(p)
	default:
		return errors.New("Invalid merge method") //nolint:staticcheck // GitHub's words
	}
	if err != nil {
		return err
	}
	if _, err := gitserver.Run(r.Path, "update-ref", "refs/heads/"+p.base, commit, p.baseCommit); err != nil {
		return errors.New("Base branch was modified. Review and try the merge again.") //nolint:revive,staticcheck // GitHub's
	}
	p.baseCommit = commit
	r.merged(p, commit)
	return nil
}

// commitMerged commits the merged tree of head and base with these parents.
func (r *Repo) commitMerged(p *pull, message string, parents ...string) (string, error) {
	tree := gitserver.MergedTree(r.Path, p.baseCommit, p.headCommit)
	if tree == "" {
		return "", errConflict
	}
	args := []string{"commit-tree", tree, "-m", message}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	return gitserver.Run(r.Path, args...)
}

// rebase rebases the commits of the head onto the base.
func (r *Repo) rebase(p *pull) (string, error) {
	folder, err := os.MkdirTemp("", "githubfake-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	tree := filepath.Join(folder, "tree")
	if _, err := gitserver.Run(r.Path, "worktree", "add", "--quiet", "--detach", tree, p.headCommit); err != nil {
		return "", err
	}
	defer r.git("worktree", "remove", "--force", tree)
	if _, err := gitserver.Run(tree, "rebase", "--quiet", "--force-rebase", p.baseCommit); err != nil {
		return "", errConflict
	}
	return gitserver.Run(tree, "rev-parse", "HEAD")
}
