package gitlabfake

import (
	"fmt"
	"net/http"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// pipeline returns the state of the pipeline of a commit, whose jobs are the statuses; "": it has none.
func (ss *statuses) pipeline(sha string) string {
	state := ""
	for _, s := range ss.latest(sha) {
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
func (m *mergeRequest) mergeStatus() string {
	pipeline := m.project.statuses.pipeline(m.sha)
	switch {
	case m.state != "opened":
		return "not_open"
	case m.checking > 0:
		return "checking"
	case m.draft():
		return "draft_status"
	case gitserver.MergedTree(m.project.Dir, m.project.git.Head(m.target), m.sha) == "":
		return "conflict"
	case m.project.mergeMethod == "ff" && !m.project.git.Contains(m.sha, m.project.git.Head(m.target)):
		return "need_rebase"
	case m.project.needsPass && pipeline != "success":
		return "ci_must_pass"
	}
	return "mergeable"
}

// accept merges, or enables auto-merge (source: lib/api/merge_requests.rb).
func (m *mergeRequest) accept(w http.ResponseWriter, c *call) {
	var asked struct {
		AutoMerge bool `json:"auto_merge"`
		Old       bool `json:"merge_when_pipeline_succeeds"`
		SHA       string
		Squash    bool
	}
	c.decode(&asked)
	auto := asked.AutoMerge || asked.Old
	status := m.mergeStatus()
	waits := m.project.statuses.pipeline(m.sha) == "running" || status == "ci_must_pass"
	switch {
	case m.project.noMerge:
		fail(w, http.StatusUnauthorized, "401 Unauthorized")
	case asked.SHA != "" && asked.SHA != m.sha:
		fail(w, http.StatusConflict, "SHA does not match HEAD of source branch: "+m.sha)
	case auto && m.project.server.oldMerge && m.project.statuses.pipeline(m.sha) == "",
		status != "mergeable" && (status != "ci_must_pass" || !auto):
		fail(w, http.StatusMethodNotAllowed, "405 Method Not Allowed")
	default:
		if asked.Squash {
			m.squash = true // only true has an effect
		}
		if auto && waits {
			m.autoMerge = asked.SHA
		} else if err := m.merge(); err != nil {
			fail(w, http.StatusUnprocessableEntity, "Branch cannot be merged")
			return
		}
		reply(w, http.StatusOK, m.showOne())
	}
}

// mergeWhenReady performs auto-merge.
func (m *mergeRequest) mergeWhenReady() {
	if m.autoMerge != "" && m.mergeStatus() == "mergeable" && m.project.statuses.pipeline(m.sha) != "running" {
		_ = m.merge() // a conflict leaves it open
	}
}

// merge merges in Git as the project does: by a merge commit or by fast-forward, with a squash or without.
func (m *mergeRequest) merge() error {
	base, head := m.project.git.Head(m.target), m.sha
	var err error
	if m.squash {
		if m.squashed, err = m.project.git.Merge(m.title, base, head, base); err != nil {
			return err
		}
		head = m.squashed
	}
	if m.project.mergeMethod == "ff" {
		if !m.project.git.Contains(head, base) {
			return hostfake.ErrConflict
		}
	} else {
		message := fmt.Sprintf("Merge branch '%s' into '%s'\n\n%s\n\nSee merge request %s!%d", m.source, m.target, m.title,
			m.project.Path, m.iid)
		if m.mergeCommit, err = m.project.git.Merge(message, base, head, base, head); err != nil {
			return err
		}
		head = m.mergeCommit
	}
	if err := m.project.git.MoveBranch(m.target, head, base); err != nil {
		return err
	}
	m.end("merged", m.project.server.now())
	return nil
}
