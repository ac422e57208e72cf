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

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// The maximum length of a description (peer), and of one in a list (docs), in UTF-16 units.
const (
	maxBody    = 4000
	listedBody = 400
)

type pull struct {
	hostfake.PullRequest
	repo            *Repo
	checks          map[string]check
	options         completion
	moving, merging int // requests until Azure's work in the background is done
	failed          string
}

// Common implements [hostfake.Pull].
func (p *pull) Common() *hostfake.PullRequest {
	if p.AutoMerge != "" {
		p.AutoMerge = p.method()
	}
	return &p.PullRequest
}

// Approve implements [hostfake.Pull]: who reviews becomes a reviewer.
func (p *pull) Approve(login string) {
	p.PullRequest.Approve(login)
	if !slices.Contains(p.Reviewers, login) {
		p.Reviewers = append(p.Reviewers, login)
	}
}

// SetAutoMerge implements [hostfake.Pull].
func (p *pull) SetAutoMerge(login, method string) {
	p.PullRequest.SetAutoMerge(login, method)
	p.options = completion{Strategy: strategies[method]}
}

// states are Azure's names of the states.
var states = map[string]string{
	hostfake.Open: "active", hostfake.Closed: "abandoned", hostfake.Merged: "completed",
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
	p, found := r.Find(number)
	if !found {
		fail(w, http.StatusNotFound, "GitPullRequestNotFoundException", fmt.Sprintf(
			"TF401180: The requested pull request was not found. Pull request: %d", number))
		return
	}
	p.settle()
	switch {
	case len(c.path) == 7 && c.Method == http.MethodGet:
		reply(w, http.StatusOK, p.show())
	case len(c.path) == 7:
		p.update(w, c)
	case c.path[7] == "labels" && c.Method == http.MethodPost:
		var asked struct{ Name string }
		c.decode(&asked)
		p.AddLabel(asked.Name)
		reply(w, http.StatusOK, tag(asked.Name))
	case c.path[7] == "labels" && c.Method == http.MethodGet:
		list(w, p.tags())
	case c.path[7] == "labels":
		p.Labels = slices.DeleteFunc(p.Labels, func(l string) bool {
			return strings.EqualFold(l, c.path[8]) || tagID(l) == c.path[8]
		})
		w.WriteHeader(http.StatusOK)
	default:
		p.ask(w, c)
	}
}

// tags returns the labels in the API's format.
func (p *pull) tags() []object {
	all := []object{}
	for _, name := range p.Labels {
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
	name := p.repo.server.people[at].name()
	p.Ask(name)
	p.Approvals = slices.DeleteFunc(p.Approvals, func(other string) bool { return other == name })
	if asked.Vote > 0 {
		p.Approve(name)
	}
	reply(w, http.StatusOK, p.showReviewer(name))
}

func (p *pull) showReviewer(name string) object {
	o := p.repo.server.person(name).show()
	o["vote"], o["isRequired"] = 0, false
	if slices.Contains(p.Approvals, name) {
		o["vote"] = 10
	}
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
	for _, p := range slices.Backward(r.All) {
		if (state == "all" || states[p.State] == state) && matches("sourceRefName", "refs/heads/"+p.Head) &&
			matches("targetRefName", "refs/heads/"+p.Base) {
			p.settle()
			shown := p.show()
			shown["labels"] = p.tags()
			if units := utf16.Encode([]rune(p.Body)); len(units) > listedBody {
				shown["description"] = string(utf16.Decode(units[:listedBody]))
			}
			found = append(found, shown)
		}
	}
	list(w, part(found, query.Get("$skip"), query.Get("$top"), 101))
}

func (r *Repo) createPull(w http.ResponseWriter, c *call) {
	var asked pullBody // auto-complete is ignored (peer)
	c.decode(&asked)
	p, refused := r.open(c.by.Login, strings.TrimPrefix(asked.Source, "refs/heads/"),
		strings.TrimPrefix(asked.Target, "refs/heads/"), value(asked.Title), value(asked.Description))
	if refused != nil {
		fail(w, refused.Status, refused.Key, refused.Message)
		return
	}
	p.Draft = asked.Draft != nil && *asked.Draft
	for _, label := range asked.Labels {
		if !r.server.dropsLabels {
			p.AddLabel(label.Name)
		}
	}
	reply(w, http.StatusCreated, p.show())
}

// open opens a pull request, also without a difference, or returns Azure's error.
func (r *Repo) open(author, source, target, title, description string) (*pull, *hostfake.Refusal) {
	head, base := r.Git.Head(source), r.Git.Head(target)
	if _, open := r.IsOpen(source, target); open {
		return nil, &hostfake.Refusal{Status: http.StatusConflict, Key: "GitPullRequestExistsException",
			Message: "TF401179: An active pull request for the source and target branch already exists."}
	}
	switch {
	case head == "" || base == "":
		return nil, &hostfake.Refusal{Status: http.StatusBadRequest, Key: "GitPullRequestStaleException",
			Message: "TF401398: The pull request cannot be activated because the source and/or the target branch no longer " +
				"exists, or the requested merge is invalid."}
	case tooLong(description):
		return nil, &hostfake.Refusal{Status: http.StatusBadRequest, Key: "InvalidArgumentValueException",
			Message: saysTooLong}
	}
	number := 1
	for _, o := range r.server.repos { // the numbers are those of the collection
		number += len(o.All)
	}
	p := &pull{
		PullRequest: hostfake.PullRequest{
			Number: number, Title: title, Body: description, Head: source, Base: target, HeadCommit: head, BaseCommit: base,
			State: hostfake.Open, Author: author, Created: r.Server.Now(),
		},
		repo: r, moving: r.Server.Host.Lag, checks: map[string]check{},
	}
	r.All = append(r.All, p)
	return p, nil
}

const saysTooLong = "A description for a pull request must not be longer than 4000 characters."

func tooLong(description string) bool { return len(utf16.Encode([]rune(description))) > maxBody }

func (p *pull) update(w http.ResponseWriter, c *call) {
	var asked pullBody
	c.decode(&asked)
	test := p.repo.server.t
	switch status := value(asked.Status); {
	case tooLong(value(asked.Description)):
		fail(w, http.StatusBadRequest, "InvalidArgumentValueException", saysTooLong)
		return
	case p.State == hostfake.Merged, p.State == hostfake.Closed && status != states[hostfake.Open]: // peer
		fail(w, http.StatusBadRequest, "GitPullRequestNotEditableException",
			"TF401181: The pull request cannot be edited due to its state.")
		return
	case status == states[hostfake.Merged]:
		test.Error("it is completed by a request, and not by auto-complete")
	case status == states[hostfake.Closed]:
		p.End(hostfake.Closed, p.repo.Server.Now())
	case status == states[hostfake.Open]:
		_ = p.Reopen()
	}
	for text, given := range map[*string]*string{&p.Title: asked.Title, &p.Body: asked.Description} {
		if given != nil {
			*text = *given
		}
	}
	if asked.Draft != nil {
		p.Draft = *asked.Draft
	}
	if asked.Options != nil {
		p.options = *asked.Options
		if p.options.Delete == nil || *p.options.Delete {
			test.Error("auto-complete deletes the source branch")
		}
	}
	if asked.Completer != nil {
		p.AutoMerge, p.merging, p.failed = "", p.repo.Server.Host.Lag, ""
		if asked.Completer.ID == p.repo.server.person(c.by.Login).id {
			p.PullRequest.SetAutoMerge(c.by.Login, p.method())
		} else if asked.Completer.ID != noIdentity {
			test.Errorf("auto-complete is set by another one: %s", asked.Completer.ID)
		}
	}
	reply(w, http.StatusOK, p.show())
}

func when(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// show returns a pull request in the API's format. Only lists contain labels (peer; in the answer of a create or of
// an update unsure).
func (p *pull) show() object {
	reviewers := []object{}
	for _, name := range p.Reviewers {
		reviewers = append(reviewers, p.showReviewer(name))
	}
	commit := func(sha string) object { return object{"commitId": sha} }
	o := object{
		"repository": p.repo.show(), "pullRequestId": p.Number, "codeReviewId": p.Number, "status": states[p.State],
		"createdBy": p.repo.server.person(p.Author).show(), "creationDate": when(p.Created), "title": p.Title,
		"sourceRefName": "refs/heads/" + p.Head, "targetRefName": "refs/heads/" + p.Base, "isDraft": p.Draft,
		"mergeStatus": p.mergeStatus(), "lastMergeSourceCommit": commit(p.HeadCommit),
		"lastMergeTargetCommit": commit(p.BaseCommit), "reviewers": reviewers, "supportsIterations": true,
		"url": fmt.Sprintf("%s/_apis/git/repositories/%s/pullRequests/%d", p.repo.server.URL, p.repo.id, p.Number),
	}
	if p.Body != "" {
		o["description"] = p.Body
	}
	switch {
	case p.MergeCommit != "":
		o["lastMergeCommit"] = commit(p.MergeCommit)
	case p.State == hostfake.Open: // of a test merge
		o["lastMergeCommit"] = commit(strings.Repeat("7e57", 10))
	}
	if p.Fork {
		o["forkSource"] = object{"name": "refs/heads/" + p.Head}
	}
	if !p.Ended.IsZero() {
		o["closedDate"] = when(p.Ended)
	}
	if p.AutoMerge != "" {
		o["autoCompleteSetBy"] = p.repo.server.person(p.AutoMergeBy).show()
		o["completionOptions"] = object{"mergeStrategy": p.options.Strategy, "deleteSourceBranch": false,
			"autoCompleteIgnoreConfigIds": append([]int{}, p.options.Ignored...)}
	}
	return o
}
