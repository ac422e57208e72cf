package gitlabfake

import (
	"fmt"
	"net/http"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// pipeline returns the state of the pipeline of a commit, whose jobs are the statuses; "": it has none.
func (p *Project) pipeline(sha string) string {
	state := ""
	for _, s := range p.LatestOf(sha) {
		switch {
		case s.State == "failed" || s.State == "canceled" || state == "failed":
			state = "failed"
		case s.State == "pending" || s.State == "running" || state == "running":
			state = "running"
		default:
			state = "success"
		}
	}
	return state
}

// mergeStatus returns the reason why a merge request cannot be merged, or "mergeable".
func (m *mergeRequest) mergeStatus() string {
	pipeline := m.project.pipeline(m.HeadCommit)
	switch {
	case m.State != hostfake.Open:
		return "not_open"
	case m.checking > 0:
		return "checking"
	case m.draft():
		return "draft_status"
	case gitserver.MergedTree(m.project.Dir, m.project.Git.Head(m.Base), m.HeadCommit) == "":
		return "conflict"
	case m.project.FastForward && !m.project.Git.Contains(m.HeadCommit, m.project.Git.Head(m.Base)):
		return "need_rebase"
	case m.project.needsPass && pipeline != "success":
		return "ci_must_pass"
	}
	return "mergeable"
}

type acceptRequest struct {
	AutoMerge bool `json:"auto_merge"`
	Old       bool `json:"merge_when_pipeline_succeeds"`
	SHA       string
	Squash    bool
}

// accept merges, or enables auto-merge (source: lib/api/merge_requests.rb).
func (m *mergeRequest) accept(c *call, asked acceptRequest) answer {
	auto := asked.AutoMerge || asked.Old
	status := m.mergeStatus()
	waits := m.project.pipeline(m.HeadCommit) == "running" || status == "ci_must_pass"
	switch {
	case m.project.NoMerge:
		return fail(http.StatusUnauthorized, "401 Unauthorized")
	case asked.SHA != "" && asked.SHA != m.HeadCommit:
		return fail(http.StatusConflict, "SHA does not match HEAD of source branch: "+m.HeadCommit)
	case auto && m.project.server.OldMerge && m.project.pipeline(m.HeadCommit) == "",
		status != "mergeable" && (status != "ci_must_pass" || !auto):
		return fail(http.StatusMethodNotAllowed, "405 Method Not Allowed")
	}
	if asked.Squash {
		m.squash = true // only true has an effect
	}
	if auto && waits {
		m.SetAutoMerge(c.By.Login, m.method())
	} else if err := m.merge(); err != nil {
		return fail(http.StatusUnprocessableEntity, "Branch cannot be merged")
	}
	return ok(m.showOne())
}

// mergeWhenReady performs auto-merge.
func (m *mergeRequest) mergeWhenReady() {
	if m.AutoMerge != "" && m.mergeStatus() == "mergeable" && m.project.pipeline(m.HeadCommit) != "running" {
		_ = m.merge() // a conflict leaves it open
	}
}

// method is the method of a merge.
func (m *mergeRequest) method() string {
	if m.squash {
		return "squash"
	}
	return "merge"
}

// Merge implements [hostfake.Pull]. A rebase is a fast-forward: it is the project that chooses.
func (m *mergeRequest) Merge(method string) error {
	if method == "rebase" {
		m.project.FastForward = true
	}
	m.squash = method == "squash"
	return m.merge()
}

// merge merges in Git as the project does: by a merge commit or by fast-forward, with a squash or without.
func (m *mergeRequest) merge() error {
	base, head := m.project.Git.Head(m.Base), m.HeadCommit
	var err error
	if m.squash {
		m.squashed, err = m.project.Git.Merge(m.Title, base, head, base)
		if err != nil {
			return err
		}
		head = m.squashed
	}
	if m.project.FastForward {
		if !m.project.Git.Contains(head, base) {
			return hostfake.ErrConflict
		}
	} else {
		message := fmt.Sprintf("Merge branch '%s' into '%s'\n\n%s\n\nSee merge request %s!%d", m.Head, m.Base, m.Title,
			m.project.Path, m.Number)
		m.MergeCommit, err = m.project.Git.Merge(message, base, head, base, head)
		if err != nil {
			return err
		}
		head = m.MergeCommit
	}
	if err := m.project.Git.MoveBranch(m.Base, head, base); err != nil {
		return err
	}
	m.End(hostfake.Merged, m.project.server.Now())
	return nil
}
