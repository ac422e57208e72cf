package gitlabfake

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The maximum lengths of a title and a description, in characters.
const (
	maxTitle = 255
	maxBody  = 1_048_576
)

type mergeRequest struct {
	project                  *Project
	iid                      int
	title, description       string
	source, target           string // branches
	fork                     bool   // its source is another project
	sha                      string // the head, as GitLab knows it
	base                     string // the head of the target, as GitLab knows it
	empty                    bool   // had no commits when it was opened
	state                    string // opened, locked, closed, merged
	squash                   bool
	mergeCommit, squashed    string
	author                   string
	labels, reviewers        []string
	reviewed                 []string
	autoMerge                string // the commit for which auto-merge is enabled; "": it is off
	commands                 []string
	moving, checking, locked int // requests until GitLab's work in the background is done
	created, updated, ended  time.Time
}

// marksDraft matches a draft's title (docs; the pattern is unsure).
var marksDraft = regexp.MustCompile(`(?i)^(\[draft\]|\(draft\)|draft:)`)

func (m *mergeRequest) draft() bool { return marksDraft.MatchString(m.title) }

// mergeRequests are the merge requests of a project, the oldest first.
type mergeRequests struct {
	project *Project
	all     []*mergeRequest
}

func (ms *mergeRequests) serve(w http.ResponseWriter, c *call) {
	p := ms.project
	ms.sync()
	switch {
	case len(c.path) == 3 && c.Method == http.MethodGet:
		ms.list(w, c)
		return
	case len(c.path) == 3:
		ms.create(w, c)
		return
	}
	iid, _ := strconv.Atoi(c.path[3])
	i := slices.IndexFunc(ms.all, func(m *mergeRequest) bool { return m.iid == iid })
	if i < 0 {
		fail(w, http.StatusNotFound, "404 Not Found")
		return
	}
	m := ms.all[i]
	m.pass()
	switch {
	case len(c.path) == 5 && c.path[4] == "merge":
		m.accept(w, c)
	case len(c.path) == 5 && c.path[4] == "reviewers":
		all := []object{}
		for _, login := range m.reviewers {
			state := "unreviewed"
			if slices.Contains(m.reviewed, login) {
				state = "approved"
			}
			all = append(all, object{"user": p.server.user(login), "state": state, "created_at": when(m.created)})
		}
		reply(w, http.StatusOK, all)
	case len(c.path) == 5: // cancel_merge_when_pipeline_succeeds
		switch {
		case p.noMerge:
			fail(w, http.StatusUnauthorized, "401 Unauthorized")
		case m.autoMerge == "": // source: AutoMergeService returns a result, not an HTTP answer
			reply(w, http.StatusCreated, object{"status": "error", "message": "Can't cancel the automatic merge",
				"http_status": 406})
		default:
			m.autoMerge = ""
			reply(w, http.StatusCreated, object{"status": "success"})
		}
	case c.Method == http.MethodPut:
		m.update(w, c)
	default:
		reply(w, http.StatusOK, m.showOne())
	}
}

// marksDraftCommit matches the subject of a commit whose push makes a merge request a draft (source:
// Commit::DRAFT_REGEX; the second part has no anchor).
var marksDraftCommit = regexp.MustCompile(`^\s*(?i:\[draft\]|\(draft\)|draft:)|(fixup!|squash!)\s`)

// MarksDraft reports whether the push of a commit with a subject makes a merge request a draft.
func MarksDraft(subject string) bool { return marksDraftCommit.MatchString(subject) }

// markDraft makes a merge request a draft if one of the pushed commits says so (source:
// mark_mr_as_draft_from_commits).
func (m *mergeRequest) markDraft(from, to string) {
	git := m.project.git
	for subject := range strings.Lines(git.Ask("log", "--format=%s", "^"+from, to, "^"+git.Head(m.target))) {
		if MarksDraft(subject) && !m.draft() {
			m.title = "Draft: " + m.title
		}
	}
}

// pass counts a request for GitLab's work in the background.
func (m *mergeRequest) pass() {
	if m.checking > 0 {
		m.checking--
	}
	if m.locked > 0 {
		if m.locked--; m.locked == 0 {
			m.state = "opened"
			_ = m.merge()
		}
	}
	if head := m.project.git.Head(m.source); m.state == "opened" && !m.fork && head != m.sha {
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
	if m.sha != "" && head != "" {
		m.markDraft(m.sha, head)
	}
	m.sha, m.moving, m.checking, m.updated = head, m.project.server.lag, m.project.server.lag, m.project.server.now()
	if m.autoMerge != head {
		m.autoMerge = ""
	}
}

// sync updates the merge requests from the branches.
func (ms *mergeRequests) sync() {
	p := ms.project
	for _, m := range ms.all {
		if m.state != "opened" || m.fork {
			continue
		}
		head, base := p.git.Head(m.source), p.git.Head(m.target)
		if p.server.lag == 0 && head != "" && head != m.sha {
			m.moveTo(head)
		}
		switch {
		case head == "", base == "":
			m.end("closed", p.server.now())
		case base != m.base && !m.empty && p.git.Contains(base, m.sha):
			m.end("merged", p.server.now()) // the commits were pushed to the target by hand
		default:
			m.base = base
			m.mergeWhenReady()
		}
	}
}

func (m *mergeRequest) end(state string, at time.Time) {
	m.state, m.autoMerge, m.ended, m.updated = state, "", at, at
}

func (ms *mergeRequests) list(w http.ResponseWriter, c *call) {
	query := c.URL.Query()
	state := cmp.Or(query.Get("state"), "all")
	found := []object{}
	for _, m := range slices.Backward(ms.all) {
		if (state == "all" || m.state == state) &&
			(query.Get("source_branch") == "" || query.Get("source_branch") == m.source) &&
			(query.Get("target_branch") == "" || query.Get("target_branch") == m.target) {
			m.pass()
			found = append(found, m.show())
		}
	}
	list(w, c, found)
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

func (ms *mergeRequests) create(w http.ResponseWriter, c *call) {
	var asked mergeRequestBody
	c.decode(&asked)
	m, status, problem := ms.open(c.by.login, asked.SourceBranch, asked.TargetBranch, value(asked.Title),
		value(asked.Description))
	if problem != nil {
		fail(w, status, problem)
		return
	}
	m.label(asked.Labels, "")
	m.ask(asked.ReviewerIDs)
	reply(w, http.StatusCreated, m.showOne())
}

// open opens a merge request, also without a difference, or returns GitLab's error.
func (ms *mergeRequests) open(author, source, target, title, description string) (*mergeRequest, int, any) {
	p := ms.project
	ms.sync()
	head, base := p.git.Head(source), p.git.Head(target)
	for _, m := range ms.all {
		if m.state == "opened" && !m.fork && m.source == source && m.target == target {
			return nil, http.StatusConflict,
				[]string{fmt.Sprintf("Another open merge request already exists for this source branch: !%d", m.iid)}
		}
	}
	switch {
	case head == "": // unsure: the text; the key "base" makes it 422
		return nil, http.StatusUnprocessableEntity, []string{fmt.Sprintf("Source branch %q does not exist", source)}
	case base == "":
		return nil, http.StatusUnprocessableEntity, []string{fmt.Sprintf("Target branch %q does not exist", target)}
	}
	if status, problem := tooLong(title, description); problem != nil {
		return nil, status, problem
	}
	m := &mergeRequest{
		project: p, iid: len(ms.all) + 1, title: title, source: source, target: target, base: base, state: "opened",
		author:  author,
		created: p.server.now(), updated: p.server.now(), empty: p.git.Contains(base, head),
	}
	m.moveTo(head)
	m.describe(description)
	ms.all = append(ms.all, m)
	return m, 0, nil
}

func tooLong(title, description string) (status int, problem any) {
	switch {
	case len([]rune(title)) > maxTitle:
		return http.StatusBadRequest, object{"title": []string{"is too long (maximum is 255 characters)"}}
	case len([]rune(description)) > maxBody:
		return http.StatusBadRequest, object{"description": []string{"is too long (maximum is 1048576 characters)"}}
	}
	return 0, nil
}

// describe sets the description. GitLab runs its quick actions and removes them (source).
func (m *mergeRequest) describe(text string) {
	var commands []string
	m.description, commands = QuickActions(text)
	m.commands = append(m.commands, commands...)
}

// QuickActions returns a description without its quick actions, and the quick actions. A line that begins with a slash
// is one, unless it is in a fenced block. GitLab removes carriage returns first, and only runs the commands that it
// knows. Its source shows that it runs them; which lines count is unsure, so the fake accepts more.
func QuickActions(text string) (left string, commands []string) {
	var lines []string
	text = strings.ReplaceAll(text, "\r", "")
	all := strings.Split(text, "\n")
	for i := 0; i < len(all); i++ {
		if strings.HasPrefix(all[i], "```") {
			if end := slices.Index(all[i+1:], "```"); end >= 0 {
				lines = append(lines, all[i:i+end+2]...)
				i += end + 1
				continue
			}
		}
		if strings.HasPrefix(all[i], "/") {
			commands = append(commands, all[i])
			continue
		}
		lines = append(lines, all[i])
	}
	return strings.Join(lines, "\n"), commands
}

// label adds and removes labels, separated by commas. The answer sorts them (source).
func (m *mergeRequest) label(add, remove string) {
	for _, label := range strings.Split(add, ",") {
		if label != "" && !slices.Contains(m.labels, label) {
			m.labels = append(m.labels, label)
		}
	}
	m.labels = slices.DeleteFunc(m.labels, func(l string) bool { return slices.Contains(strings.Split(remove, ","), l) })
	slices.Sort(m.labels)
}

// ask replaces the reviewers. GitLab drops those who can't see the project, and all but the first on the Free plan,
// without an error (source).
func (m *mergeRequest) ask(ids *[]int) {
	if ids == nil {
		return
	}
	m.reviewers = nil
	for _, id := range *ids {
		if login := m.project.server.users[id-1]; login != "outsider" && !slices.Contains(m.reviewers, login) {
			m.reviewers = append(m.reviewers, login)
		}
		if m.project.oneReviewer {
			break
		}
	}
}

func (m *mergeRequest) update(w http.ResponseWriter, c *call) {
	var asked mergeRequestBody
	c.decode(&asked)
	if status, problem := tooLong(value(asked.Title), value(asked.Description)); problem != nil {
		fail(w, status, problem)
		return
	}
	if m.state == "locked" { // unsure: the text
		fail(w, http.StatusConflict, "409 Conflict: the merge request is being merged")
		return
	}
	if asked.Title != nil {
		m.title = *asked.Title
	}
	if asked.Description != nil {
		m.describe(*asked.Description)
	}
	if asked.Squash != nil {
		m.squash = *asked.Squash
	}
	m.label(asked.AddLabels, asked.RemoveLabels)
	m.ask(asked.ReviewerIDs)
	if asked.StateEvent == "close" && m.state == "opened" {
		m.end("closed", m.project.server.now())
	}
	m.updated = m.project.server.now()
	reply(w, http.StatusOK, m.showOne())
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
	p, reviewers := m.project, []object{}
	for _, login := range m.reviewers {
		reviewers = append(reviewers, p.server.user(login))
	}
	project := p.id
	if m.fork {
		project = 9999
	}
	o := object{
		"id": 5000 + m.iid, "iid": m.iid, "project_id": p.id, "source_project_id": project, "target_project_id": p.id,
		"title": m.title, "description": m.description, "state": m.state, "draft": m.draft(),
		"created_at": when(m.created), "updated_at": when(m.updated), "merged_at": nil, "closed_at": nil,
		"author": p.server.user(m.author), "reviewers": reviewers, "labels": append([]string{}, m.labels...),
		"source_branch": m.source, "target_branch": m.target, "sha": orNull(m.sha), "squash": m.squash,
		"merge_when_pipeline_succeeds": m.autoMerge != "", "detailed_merge_status": m.mergeStatus(),
		"merge_commit_sha": orNull(m.mergeCommit), "squash_commit_sha": orNull(m.squashed),
		"web_url": fmt.Sprintf("%s/%s/-/merge_requests/%d", p.server.URL, p.Path, m.iid),
	}
	switch m.state {
	case "merged":
		o["merged_at"] = when(m.ended)
	case "closed":
		o["closed_at"] = when(m.ended)
	}
	return o
}

// showOne returns a merge request in the API's format of single ones.
func (m *mergeRequest) showOne() object {
	o := m.show()
	o["subscribed"], o["changes_count"], o["head_pipeline"] = true, nil, nil
	if state := m.project.statuses.pipeline(m.sha); state != "" {
		o["head_pipeline"] = object{"id": 1, "iid": 1, "project_id": m.project.id, "sha": m.sha, "ref": m.source,
			"status": state, "source": "external"}
	}
	return o
}
