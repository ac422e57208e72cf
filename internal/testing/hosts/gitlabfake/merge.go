package gitlabfake

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// pipeline returns the state of the pipeline of a commit, whose jobs are the statuses; "": it has none.
func (p *Project) pipeline(sha string) string {
	state := ""
	for _, s := range p.latest(sha) {
		switch {
		case s.state == "failed" || s.state == "canceled" || state == "failed":
			state = "failed"
		case s.state == "pending" || s.state == "running" || state == "running":
			state = "running"
		default:
			state = "success"
		}
	}
	return state
}

// mergeStatus returns the reason why a merge request cannot be merged, or "mergeable".
func (p *Project) mergeStatus(m *mergeRequest) string {
	pipeline := p.pipeline(m.sha)
	switch {
	case m.state != "opened":
		return "not_open"
	case m.checking > 0:
		return "checking"
	case m.draft():
		return "draft_status"
	case gitserver.MergedTree(p.Dir, p.rev(m.target), m.sha) == "":
		return "conflict"
	case p.mergeMethod == "ff" && !p.contains(m.sha, p.rev(m.target)):
		return "need_rebase"
	case p.needsPass && pipeline != "success":
		return "ci_must_pass"
	}
	return "mergeable"
}

// acceptMergeRequest merges, or enables auto-merge (source: lib/api/merge_requests.rb).
func (p *Project) acceptMergeRequest(w http.ResponseWriter, c *call, m *mergeRequest) {
	var asked struct {
		AutoMerge bool `json:"auto_merge"`
		Old       bool `json:"merge_when_pipeline_succeeds"`
		SHA       string
		Squash    bool
	}
	c.decode(&asked)
	auto := asked.AutoMerge || asked.Old
	status := p.mergeStatus(m)
	waits := p.pipeline(m.sha) == "running" || status == "ci_must_pass"
	switch {
	case p.noMerge:
		fail(w, http.StatusUnauthorized, "401 Unauthorized")
	case asked.SHA != "" && asked.SHA != m.sha:
		fail(w, http.StatusConflict, "SHA does not match HEAD of source branch: "+m.sha)
	case auto && p.server.oldMerge && p.pipeline(m.sha) == "",
		status != "mergeable" && (status != "ci_must_pass" || !auto):
		fail(w, http.StatusMethodNotAllowed, "405 Method Not Allowed")
	default:
		if asked.Squash {
			m.squash = true // only true has an effect
		}
		if auto && waits {
			m.autoMerge = asked.SHA
		} else if err := p.merge(m); err != nil {
			fail(w, http.StatusUnprocessableEntity, "Branch cannot be merged")
			return
		}
		reply(w, http.StatusOK, p.showOne(m))
	}
}

// mergeWhenReady performs auto-merge.
func (p *Project) mergeWhenReady(m *mergeRequest) {
	if m.autoMerge != "" && p.mergeStatus(m) == "mergeable" && p.pipeline(m.sha) != "running" {
		_ = p.merge(m) // a conflict leaves it open
	}
}

// errConflict means that Git cannot merge.
var errConflict = errors.New("branch cannot be merged")

// merge merges in Git as the project does: by a merge commit or by fast-forward, with a squash or without.
func (p *Project) merge(m *mergeRequest) error {
	base, head := p.rev(m.target), m.sha
	var err error
	if m.squash {
		if m.squashed, err = p.commit(m.title, base, head, base); err != nil {
			return err
		}
		head = m.squashed
	}
	if p.mergeMethod == "ff" {
		if !p.contains(head, base) {
			return errConflict
		}
	} else {
		message := fmt.Sprintf("Merge branch '%s' into '%s'\n\n%s\n\nSee merge request %s!%d", m.source, m.target, m.title,
			p.Path, m.iid)
		if m.mergeCommit, err = p.commit(message, base, head, base, head); err != nil {
			return err
		}
		head = m.mergeCommit
	}
	if _, err := p.run("update-ref", "refs/heads/"+m.target, head, base); err != nil {
		return err
	}
	m.end("merged", p.server.now())
	return nil
}

// commit commits the merged tree of two commits with these parents.
func (p *Project) commit(message, ours, theirs string, parents ...string) (string, error) {
	tree := gitserver.MergedTree(p.Dir, ours, theirs)
	if tree == "" {
		return "", errConflict
	}
	args := []string{"commit-tree", tree, "-m", message}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	return p.run(args...)
}
