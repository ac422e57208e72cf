package gitlabfake

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

type mergeRequest struct {
	hostfake.PullRequest
	project                  *Project
	empty                    bool // had no commits when it was opened
	squash                   bool
	squashed                 string // commit
	autoMergeOf              string // the commit for which auto-merge is enabled
	moving, checking, locked int    // requests until GitLab's work in the background is done
}

// locked is the state of a merge request that GitLab merges.
const locked = "locked"

// state returns the state in the API.
func (m *mergeRequest) state() string {
	if m.State == hostfake.Open {
		return "opened"
	}
	return m.State
}

// Common implements [hostfake.Pull].
func (m *mergeRequest) Common() *hostfake.PullRequest {
	m.Draft = m.draft()
	if m.AutoMerge != "" {
		m.AutoMerge = m.method()
	}
	return &m.PullRequest
}

func (m *mergeRequest) draft() bool { return marksDraft.MatchString(m.Title) }

// AddLabel implements [hostfake.Pull]: case matters, and the API sorts labels (source).
func (m *mergeRequest) AddLabel(label string) {
	if !slices.Contains(m.Labels, label) {
		m.Labels = append(m.Labels, label)
		slices.Sort(m.Labels)
	}
}

// SetAutoMerge implements [hostfake.Pull]: of the commit that GitLab sees.
func (m *mergeRequest) SetAutoMerge(login, method string) {
	m.PullRequest.SetAutoMerge(login, method)
	m.squash, m.autoMergeOf = method == "squash", m.HeadCommit
}

func (s *Server) routeMergeRequests() {
	onProject(s, "GET /merge_requests", (*Project).listMergeRequests)
	onProject(s, "POST /merge_requests", (*Project).createMergeRequest)
	onMergeRequest(s, "GET /merge_requests/{iid}", func(m *mergeRequest, _ *call, _ none) answer {
		return ok(m.showOne())
	})
	onMergeRequest(s, "PUT /merge_requests/{iid}", (*mergeRequest).update)
	onMergeRequest(s, "PUT /merge_requests/{iid}/merge", (*mergeRequest).accept)
	onMergeRequest(s, "POST /merge_requests/{iid}/cancel_merge_when_pipeline_succeeds", (*mergeRequest).cancel)
}

// onMergeRequest routes requests for the merge request {iid}.
func onMergeRequest[B any](s *Server, pattern string, do func(m *mergeRequest, c *call, asked B) answer) {
	onProject(s, pattern, func(p *Project, c *call, asked B) answer {
		p.sync()
		iid, _ := strconv.Atoi(c.PathValue("iid"))
		m, found := p.Find(iid)
		if !found {
			return fail(http.StatusNotFound, "404 Not Found")
		}
		m.pass()
		return do(m, c, asked)
	})
}

// cancel disables auto-merge.
func (m *mergeRequest) cancel(*call, none) answer {
	switch {
	case m.project.NoMerge:
		return fail(http.StatusUnauthorized, "401 Unauthorized")
	case m.AutoMerge == "": // source: AutoMergeService returns a result, not an HTTP answer
		return created(object{"status": "error", "message": "Can't cancel the automatic merge", "http_status": 406})
	}
	m.AutoMerge = ""
	return created(object{"status": "success"})
}

// markDraft makes a merge request a draft if one of the pushed commits says so (source:
// mark_mr_as_draft_from_commits).
func (m *mergeRequest) markDraft(from, to string) {
	git := m.project.Git
	for subject := range strings.Lines(git.Ask("log", "--format=%s", "^"+from, to, "^"+git.Head(m.Base))) {
		if MarksDraft(subject) && !m.draft() {
			m.Title = "Draft: " + m.Title
		}
	}
}

// pass counts a request for GitLab's work in the background.
func (m *mergeRequest) pass() {
	if m.checking > 0 {
		m.checking--
	}
	if m.locked > 0 {
		m.locked--
		if m.locked == 0 {
			m.State = hostfake.Open
			_ = m.merge()
		}
	}
	if head := m.project.Git.Head(m.Head); m.State == hostfake.Open && !m.Fork && head != m.HeadCommit {
		if m.moving == 0 {
			m.moveTo(head)
			return
		}
		m.moving--
	}
}

// moveTo makes GitLab notice a push. It disables auto-merge, unless that was enabled for the pushed commit (source:
// MergeRequests::RefreshService).
func (m *mergeRequest) moveTo(head string) {
	if m.HeadCommit != "" && head != "" {
		m.markDraft(m.HeadCommit, head)
	}
	lag := m.project.server.Host.Lag
	m.HeadCommit, m.moving, m.checking, m.Updated = head, lag, lag, m.project.server.Now()
	if m.autoMergeOf != head {
		m.AutoMerge = ""
	}
}

// sync updates the merge requests from the branches.
func (p *Project) sync() {
	for _, m := range p.All {
		if m.State != hostfake.Open || m.Fork {
			continue
		}
		head, base := p.Git.Head(m.Head), p.Git.Head(m.Base)
		if p.server.Host.Lag == 0 && head != "" && head != m.HeadCommit {
			m.moveTo(head)
		}
		switch {
		case head == "", base == "":
			m.End(hostfake.Closed, p.server.Now())
		case base != m.BaseCommit && !m.empty && p.Git.Contains(base, m.HeadCommit):
			m.End(hostfake.Merged, p.server.Now()) // the commits were pushed to the target by hand
		default:
			m.BaseCommit = base
			m.mergeWhenReady()
		}
	}
}

func (p *Project) listMergeRequests(c *call, _ none) answer {
	p.sync()
	query := c.URL.Query()
	state := strings.TrimPrefix(query.Get("state"), "all")
	found := p.Matching(state, query.Get("source_branch"), query.Get("target_branch"), (*mergeRequest).state)
	return list(c, lists.Map(found, func(m *mergeRequest) object {
		m.pass()
		return m.show()
	}))
}

// mergeRequestBody is the body of the provider's creates and updates.
type mergeRequestBody struct {
	Title, Description *string
	SourceBranch       string `json:"source_branch"`
	TargetBranch       string `json:"target_branch"`
	Labels             string
	AddLabels          string `json:"add_labels"`
	RemoveLabels       string `json:"remove_labels"`
	ReviewerIDs        *[]int `json:"reviewer_ids"`
	StateEvent         string `json:"state_event"`
	Squash             *bool
}

func (p *Project) createMergeRequest(c *call, asked mergeRequestBody) answer {
	m, refused := p.open(c.By.Login, asked.SourceBranch, asked.TargetBranch, value(asked.Title), value(asked.Description))
	if refused.Status != 0 {
		return refused
	}
	m.label(asked.Labels, "")
	m.ask(asked.ReviewerIDs)
	return created(m.showOne())
}

// open opens a merge request, also without a difference, or returns GitLab's error.
func (p *Project) open(author, source, target, title, description string) (*mergeRequest, answer) {
	p.sync()
	head, base := p.Git.Head(source), p.Git.Head(target)
	iid, exists := p.IsOpen(source, target)
	switch {
	case exists:
		return nil, fail(http.StatusConflict, []string{
			fmt.Sprintf("Another open merge request already exists for this source branch: !%d", iid)})
	case head == "": // unsure: the text; the key "base" makes it 422
		return nil, fail(http.StatusUnprocessableEntity, []string{fmt.Sprintf("Source branch %q does not exist", source)})
	case base == "":
		return nil, fail(http.StatusUnprocessableEntity, []string{fmt.Sprintf("Target branch %q does not exist", target)})
	}
	now := p.server.Now()
	m := &mergeRequest{
		PullRequest: hostfake.PullRequest{
			Number: len(p.All) + 1, Title: title, Head: source, Base: target, BaseCommit: base, State: hostfake.Open,
			Author: author, Created: now, Updated: now,
		},
		project: p, empty: p.Git.Contains(base, head),
	}
	m.moveTo(head)
	m.Body = p.withoutActions(description)
	p.All = append(p.All, m)
	return m, answer{}
}

// withoutActions returns a text without the quick actions, which GitLab runs and removes (source). They are a failure
// of the test.
func (p *Project) withoutActions(text string) string {
	left, commands := QuickActions(text)
	if len(commands) > 0 {
		p.server.t.Errorf("GitLab ran the quick actions %q", commands)
	}
	return left
}

// label adds and removes labels, separated by commas.
func (m *mergeRequest) label(add, remove string) {
	for label := range strings.SplitSeq(add, ",") {
		if label != "" {
			m.AddLabel(label)
		}
	}
	m.Labels = slices.DeleteFunc(m.Labels, func(l string) bool { return slices.Contains(strings.Split(remove, ","), l) })
}

// ask replaces the reviewers. GitLab drops those who can't see the project, and all but the first on the Free plan,
// without an error (source).
func (m *mergeRequest) ask(ids *[]int) {
	if ids == nil {
		return
	}
	m.Reviewers, m.Asked = nil, nil
	for _, id := range *ids {
		if login := m.project.server.users[id-1]; login != "outsider" && !slices.Contains(m.Reviewers, login) {
			m.Ask(login)
		}
		if m.project.OneReviewer {
			break
		}
	}
}

func (m *mergeRequest) update(_ *call, asked mergeRequestBody) answer {
	if m.State == locked { // unsure: the text
		return fail(http.StatusConflict, "409 Conflict: the merge request is being merged")
	}
	hostfake.Set(&m.Title, asked.Title)
	hostfake.Set(&m.squash, asked.Squash)
	if asked.Description != nil {
		m.Body = m.project.withoutActions(*asked.Description)
	}
	m.label(asked.AddLabels, asked.RemoveLabels)
	m.ask(asked.ReviewerIDs)
	if asked.StateEvent == "close" && m.State == hostfake.Open {
		m.End(hostfake.Closed, m.project.server.Now())
	}
	m.Updated = m.project.server.Now()
	return ok(m.showOne())
}

func when(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// show returns a merge request in the API's format of lists.
func (m *mergeRequest) show() object {
	p, project := m.project, m.project.id
	if m.Fork {
		project = 9999
	}
	o := object{
		"id": 5000 + m.Number, "iid": m.Number, "project_id": p.id, "source_project_id": project, "target_project_id": p.id,
		"title": m.Title, "description": m.Body, "state": m.state(), "draft": m.draft(),
		"created_at": when(m.Created), "updated_at": when(m.Updated), "merged_at": nil, "closed_at": nil,
		"author": p.server.user(m.Author), "reviewers": lists.Map(m.Reviewers, p.server.user),
		"labels":        append([]string{}, m.Labels...),
		"source_branch": m.Head, "target_branch": m.Base, "sha": orNull(m.HeadCommit), "squash": m.squash,
		"merge_when_pipeline_succeeds": m.AutoMerge != "", "detailed_merge_status": m.mergeStatus(),
		"merge_commit_sha": orNull(m.MergeCommit), "squash_commit_sha": orNull(m.squashed),
		"web_url": fmt.Sprintf("%s/%s/-/merge_requests/%d", p.server.URL, p.Path, m.Number),
	}
	switch m.State {
	case hostfake.Merged:
		o["merged_at"] = when(m.Ended)
	case hostfake.Closed:
		o["closed_at"] = when(m.Ended)
	}
	return o
}

// showOne returns a merge request in the API's format of single ones.
func (m *mergeRequest) showOne() object {
	o := m.show()
	o["subscribed"], o["changes_count"], o["head_pipeline"] = true, nil, nil
	if state := m.project.pipeline(m.HeadCommit); state != "" {
		o["head_pipeline"] = object{"id": 1, "iid": 1, "project_id": m.project.id, "sha": m.HeadCommit, "ref": m.Head,
			"status": state, "source": "external"}
	}
	return o
}
