package azuredevopsfake

import (
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// The maximum length of a description (peer), and of one in a list (docs), in UTF-16 units.
const (
	maxBody    = 4000
	listedBody = 400
)

type pull struct {
	repo               *Repo
	number             int
	title, description string
	source, target     string // branches
	fork               bool   // its source is another repo
	sha, base          string // of the source and the target, as Azure knows them
	status             string // active, abandoned, completed
	draft              bool
	author             string
	labels             []string
	labelled           int // requests to add a label
	reviewers          []*reviewer
	checks             map[string]check
	merged             string // the commit on the target
	completer          string // who set auto-complete; "": it is off
	options            completion
	moving, merging    int // requests until Azure's work in the background is done
	failed             string
	created, closed    time.Time
}

type reviewer struct {
	*identity
	vote, asked int
}

// completion is how a pull request is completed.
type completion struct {
	Strategy string `json:"mergeStrategy"`
	Delete   *bool  `json:"deleteSourceBranch"`
	Message  string `json:"mergeCommitMessage"`
	Ignored  []int  `json:"autoCompleteIgnoreConfigIds"`
}

// noIdentity disables auto-complete.
const noIdentity = "00000000-0000-0000-0000-000000000000"

// pullBody is the body of the provider's creates and updates.
type pullBody struct {
	Title, Description, Status *string
	Source                     string                  `json:"sourceRefName"`
	Target                     string                  `json:"targetRefName"`
	Draft                      *bool                   `json:"isDraft"`
	Labels                     []struct{ Name string } `json:"labels"`
	Completer                  *struct{ ID string }    `json:"autoCompleteSetBy"`
	Options                    *completion             `json:"completionOptions"`
}

func (r *Repo) servePullRequests(w http.ResponseWriter, c *call) {
	switch {
	case len(c.path) == 6 && c.Method == http.MethodGet:
		r.listPulls(w, c)
		return
	case len(c.path) == 6:
		r.createPull(w, c)
		return
	}
	number, _ := strconv.Atoi(c.path[6])
	i := slices.IndexFunc(r.pulls, func(p *pull) bool { return p.number == number })
	if i < 0 {
		fail(w, http.StatusNotFound, "GitPullRequestNotFoundException", fmt.Sprintf(
			"TF401180: The requested pull request was not found. Pull request: %d", number))
		return
	}
	p := r.pulls[i]
	p.settle()
	switch {
	case len(c.path) == 7 && c.Method == http.MethodGet:
		reply(w, http.StatusOK, p.show())
	case len(c.path) == 7:
		p.update(w, c)
	case c.path[7] == "labels" && c.Method == http.MethodPost:
		var asked struct{ Name string }
		c.decode(&asked)
		p.label(asked.Name)
		p.labelled++
		reply(w, http.StatusOK, tag(asked.Name))
	case c.path[7] == "labels" && c.Method == http.MethodGet:
		list(w, p.tags())
	case c.path[7] == "labels":
		p.labels = slices.DeleteFunc(p.labels, func(l string) bool {
			return strings.EqualFold(l, c.path[8]) || tagID(l) == c.path[8]
		})
		w.WriteHeader(http.StatusOK)
	default:
		p.ask(w, c)
	}
}

// label adds a label. Azure ignores the case of labels, and keeps the first notation.
func (p *pull) label(name string) {
	if !slices.ContainsFunc(p.labels, func(l string) bool { return strings.EqualFold(l, name) }) {
		p.labels = append(p.labels, name)
	}
}

// tags returns the labels in the API's format.
func (p *pull) tags() []object {
	all := []object{}
	for _, name := range p.labels {
		all = append(all, tag(name))
	}
	return all
}

func tag(name string) object {
	return object{"id": tagID(name), "name": name, "active": true}
}

// tagID returns the id of a label, which ignores its case.
func tagID(name string) string {
	return fmt.Sprintf("00000000-0000-4000-8000-0000%08x", crc32.ChecksumIEEE([]byte(strings.ToLower(name))))
}

// ask sets a reviewer's vote. 0 withdraws the vote.
func (p *pull) ask(w http.ResponseWriter, c *call) {
	at := slices.IndexFunc(p.repo.server.people, func(i *identity) bool { return i.id == c.path[8] })
	if at < 0 {
		fail(w, http.StatusBadRequest, "InvalidArgumentValueException", "TF400813: The identity does not exist.")
		return
	}
	var asked struct{ Vote int }
	c.decode(&asked)
	someone := p.reviewer(p.repo.server.people[at])
	someone.vote = asked.Vote
	someone.asked++
	reply(w, http.StatusOK, someone.show())
}

// reviewer returns the reviewer of this name, and adds it.
func (p *pull) reviewer(of *identity) *reviewer {
	i := slices.IndexFunc(p.reviewers, func(o *reviewer) bool { return o.identity == of })
	if i < 0 {
		i, p.reviewers = len(p.reviewers), append(p.reviewers, &reviewer{identity: of})
	}
	return p.reviewers[i]
}

func (v *reviewer) show() object {
	o := v.identity.show()
	o["vote"], o["isRequired"] = v.vote, false
	return o
}

func (r *Repo) listPulls(w http.ResponseWriter, c *call) {
	query := c.URL.Query()
	matches := func(name, value string) bool {
		want := query.Get("searchCriteria." + name)
		return want == "" || want == value
	}
	state := query.Get("searchCriteria.status")
	if state == "" {
		state = "active"
	}
	var found []object
	for _, p := range slices.Backward(r.pulls) {
		if (state == "all" || p.status == state) && matches("sourceRefName", "refs/heads/"+p.source) &&
			matches("targetRefName", "refs/heads/"+p.target) {
			p.settle()
			shown := p.show()
			shown["labels"] = p.tags()
			if units := utf16.Encode([]rune(p.description)); len(units) > listedBody {
				shown["description"] = string(utf16.Decode(units[:listedBody]))
			}
			found = append(found, shown)
		}
	}
	skip, _ := strconv.Atoi(query.Get("$skip"))
	top, err := strconv.Atoi(query.Get("$top"))
	if err != nil {
		top = 101
	}
	skip = min(skip, len(found))
	list(w, found[skip:min(skip+top, len(found))])
}

func (r *Repo) createPull(w http.ResponseWriter, c *call) {
	var asked pullBody // auto-complete is ignored (peer)
	c.decode(&asked)
	p, status, key, problem := r.open(c.by.login, strings.TrimPrefix(asked.Source, "refs/heads/"),
		strings.TrimPrefix(asked.Target, "refs/heads/"), value(asked.Title), value(asked.Description))
	if p == nil {
		fail(w, status, key, problem)
		return
	}
	p.draft = asked.Draft != nil && *asked.Draft
	for _, label := range asked.Labels {
		if !r.server.dropsLabels {
			p.label(label.Name)
		}
	}
	reply(w, http.StatusCreated, p.show())
}

// open opens a pull request, also without a difference, or returns Azure's error.
func (r *Repo) open(author, source, target, title, description string) (p *pull, status int, key, problem string) {
	head, base := r.git.Head(source), r.git.Head(target)
	for _, o := range r.pulls {
		if o.status == "active" && !o.fork && o.source == source && o.target == target {
			return nil, http.StatusConflict, "GitPullRequestExistsException",
				"TF401179: An active pull request for the source and target branch already exists."
		}
	}
	switch {
	case head == "" || base == "":
		return nil, http.StatusBadRequest, "GitPullRequestStaleException", "TF401398: The pull request cannot be activated " +
			"because the source and/or the target branch no longer exists, or the requested merge is invalid."
	case tooLong(description):
		return nil, http.StatusBadRequest, "InvalidArgumentValueException", saysTooLong
	}
	number := 1
	for _, o := range r.server.repos { // the numbers are those of the collection
		number += len(o.pulls)
	}
	p = &pull{
		repo: r, number: number, title: title, description: description, source: source, target: target, sha: head,
		base:   base,
		status: "active", author: author, created: r.server.now(), moving: r.server.lag, checks: map[string]check{},
	}
	r.pulls = append(r.pulls, p)
	return p, 0, "", ""
}

const saysTooLong = "A description for a pull request must not be longer than 4000 characters."

func tooLong(description string) bool { return len(utf16.Encode([]rune(description))) > maxBody }

func (p *pull) update(w http.ResponseWriter, c *call) {
	var asked pullBody
	c.decode(&asked)
	switch status := value(asked.Status); {
	case tooLong(value(asked.Description)):
		fail(w, http.StatusBadRequest, "InvalidArgumentValueException", saysTooLong)
		return
	case p.status == "completed", p.status == "abandoned" && status != "active": // peer
		fail(w, http.StatusBadRequest, "GitPullRequestNotEditableException",
			"TF401181: The pull request cannot be edited due to its state.")
		return
	case status == "completed":
		p.repo.server.t.Error("it is completed by a request, and not by auto-complete")
	case status != "":
		p.setStatus(status)
	}
	for text, given := range map[*string]*string{&p.title: asked.Title, &p.description: asked.Description} {
		if given != nil {
			*text = *given
		}
	}
	if asked.Draft != nil {
		p.draft = *asked.Draft
	}
	if asked.Options != nil {
		p.options = *asked.Options
	}
	if asked.Completer != nil {
		p.completer, p.merging, p.failed = "", p.repo.server.lag, ""
		if asked.Completer.ID == p.repo.server.person(c.by.login).id {
			p.completer = c.by.login
		} else if asked.Completer.ID != noIdentity {
			p.repo.server.t.Errorf("auto-complete is set by another one: %s", asked.Completer.ID)
		}
	}
	reply(w, http.StatusOK, p.show())
}

func (p *pull) setStatus(status string) {
	p.status, p.completer, p.closed = status, "", time.Time{}
	if status != "active" {
		p.closed = p.repo.server.now()
	}
}

func when(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// show returns a pull request in the API's format. Only lists contain labels (peer; in the answer of a create or of
// an update unsure).
func (p *pull) show() object {
	reviewers := []object{}
	for _, v := range p.reviewers {
		reviewers = append(reviewers, v.show())
	}
	commit := func(sha string) object { return object{"commitId": sha} }
	o := object{
		"repository": p.repo.show(), "pullRequestId": p.number, "codeReviewId": p.number, "status": p.status,
		"createdBy": p.repo.server.person(p.author).show(), "creationDate": when(p.created), "title": p.title,
		"sourceRefName": "refs/heads/" + p.source, "targetRefName": "refs/heads/" + p.target, "isDraft": p.draft,
		"mergeStatus": p.mergeStatus(), "lastMergeSourceCommit": commit(p.sha), "lastMergeTargetCommit": commit(p.base),
		"reviewers": reviewers, "supportsIterations": true,
		"url": fmt.Sprintf("%s/_apis/git/repositories/%s/pullRequests/%d", p.repo.server.URL, p.repo.id, p.number),
	}
	if p.description != "" {
		o["description"] = p.description
	}
	switch {
	case p.merged != "":
		o["lastMergeCommit"] = commit(p.merged)
	case p.status == "active": // of a test merge
		o["lastMergeCommit"] = commit(strings.Repeat("7e57", 10))
	}
	if p.fork {
		o["forkSource"] = object{"name": "refs/heads/" + p.source}
	}
	if !p.closed.IsZero() {
		o["closedDate"] = when(p.closed)
	}
	if p.completer != "" {
		o["autoCompleteSetBy"] = p.repo.server.person(p.completer).show()
		o["completionOptions"] = object{"mergeStrategy": p.options.Strategy, "deleteSourceBranch": false,
			"autoCompleteIgnoreConfigIds": append([]int{}, p.options.Ignored...)}
	}
	return o
}
