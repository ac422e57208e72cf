package azuredevopsfake

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
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

func (p *pull) state() string { return states[p.State] }

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

func (s *Server) routePullRequests() {
	onRepo(s, "GET /pullrequests", (*Repo).listPulls)
	onRepo(s, "POST /pullrequests", (*Repo).createPull)
	onPull(s, "GET /pullrequests/{id}", func(p *pull, _ *call, _ none) answer { return ok(p.show()) })
	onPull(s, "PATCH /pullrequests/{id}", (*pull).update)
	onPull(s, "PUT /pullrequests/{id}/reviewers/{reviewer}", (*pull).ask)
	onPull(s, "GET /pullrequests/{id}/labels", func(p *pull, _ *call, _ none) answer {
		return list(lists.Map(p.Labels, tag))
	})
	onPull(s, "POST /pullrequests/{id}/labels", func(p *pull, _ *call, asked struct{ Name string }) answer {
		p.AddLabel(asked.Name)
		return ok(tag(asked.Name))
	})
	onPull(s, "DELETE /pullrequests/{id}/labels/{label}", func(p *pull, c *call, _ none) answer {
		label := c.PathValue("label")
		p.Labels = slices.DeleteFunc(p.Labels, func(l string) bool {
			return strings.EqualFold(l, label) || tagID(l) == label
		})
		return answer{Status: http.StatusOK}
	})
}

// onPull routes requests for the pull request {id}.
func onPull[B any](s *Server, pattern string, do func(p *pull, c *call, asked B) answer) {
	onRepo(s, pattern, func(r *Repo, c *call, asked B) answer {
		number, _ := strconv.Atoi(c.PathValue("id"))
		p, found := r.Find(number)
		if !found {
			return fail(http.StatusNotFound, "GitPullRequestNotFoundException", fmt.Sprintf(
				"TF401180: The requested pull request was not found. Pull request: %d", number))
		}
		p.settle()
		return do(p, c, asked)
	})
}

func tag(name string) object {
	return object{"id": tagID(name), "name": name, "active": true}
}

// tagID returns the id of a label, which ignores its case.
func tagID(name string) string {
	return fmt.Sprintf("00000000-0000-4000-8000-0000%08x", crc32.ChecksumIEEE([]byte(strings.ToLower(name))))
}

// ask sets a reviewer's vote. 0 withdraws the vote.
func (p *pull) ask(c *call, asked struct{ Vote int }) answer {
	people := p.repo.server.people
	at := slices.IndexFunc(people, func(i *identity) bool { return i.id == c.PathValue("reviewer") })
	if at < 0 {
		return fail(http.StatusBadRequest, "InvalidArgumentValueException", "TF400813: The identity does not exist.")
	}
	name := people[at].name()
	p.Ask(name)
	p.Approvals = slices.DeleteFunc(p.Approvals, func(other string) bool { return other == name })
	if asked.Vote > 0 {
		p.Approve(name)
	}
	return ok(p.showReviewer(name))
}

func (p *pull) showReviewer(name string) object {
	o := p.repo.server.person(name).show()
	o["vote"], o["isRequired"] = 0, false
	if slices.Contains(p.Approvals, name) {
		o["vote"] = 10
	}
	return o
}

func (r *Repo) listPulls(c *call, _ none) answer {
	query := c.URL.Query()
	branch := func(name string) string { return strings.TrimPrefix(query.Get("searchCriteria."+name), "refs/heads/") }
	state := strings.TrimPrefix(cmp.Or(query.Get("searchCriteria.status"), "active"), "all")
	found := r.Matching(state, branch("sourceRefName"), branch("targetRefName"), (*pull).state)
	shown := lists.Map(found, func(p *pull) object {
		p.settle()
		shown := p.show()
		shown["labels"] = lists.Map(p.Labels, tag)
		if units := utf16.Encode([]rune(p.Body)); len(units) > listedBody {
			shown["description"] = string(utf16.Decode(units[:listedBody]))
		}
		return shown
	})
	return list(part(shown, query.Get("$skip"), query.Get("$top"), 101))
}

func (r *Repo) createPull(c *call, asked pullBody) answer { // auto-complete is ignored (peer)
	p, refused := r.open(c.By.Login, strings.TrimPrefix(asked.Source, "refs/heads/"),
		strings.TrimPrefix(asked.Target, "refs/heads/"), value(asked.Title), value(asked.Description))
	if refused.Status != 0 {
		return refused
	}
	hostfake.Set(&p.Draft, asked.Draft)
	for _, label := range asked.Labels {
		if !r.server.DropsLabels {
			p.AddLabel(label.Name)
		}
	}
	return created(p.show())
}

// open opens a pull request, also without a difference, or returns Azure's error.
func (r *Repo) open(author, source, target, title, description string) (*pull, answer) {
	head, base := r.Git.Head(source), r.Git.Head(target)
	_, exists := r.IsOpen(source, target)
	switch {
	case exists:
		return nil, fail(http.StatusConflict, "GitPullRequestExistsException",
			"TF401179: An active pull request for the source and target branch already exists.")
	case head == "" || base == "":
		return nil, fail(http.StatusBadRequest, "GitPullRequestStaleException", "TF401398: The pull request cannot be "+
			"activated because the source and/or the target branch no longer exists, or the requested merge is invalid.")
	case tooLong(description):
		return nil, fail(http.StatusBadRequest, "InvalidArgumentValueException", saysTooLong)
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
	return p, answer{}
}

const saysTooLong = "A description for a pull request must not be longer than 4000 characters."

func tooLong(description string) bool { return len(utf16.Encode([]rune(description))) > maxBody }

func (p *pull) update(c *call, asked pullBody) answer {
	test := p.repo.server.t
	switch status := value(asked.Status); {
	case tooLong(value(asked.Description)):
		return fail(http.StatusBadRequest, "InvalidArgumentValueException", saysTooLong)
	case p.State == hostfake.Merged, p.State == hostfake.Closed && status != states[hostfake.Open]: // peer
		return fail(http.StatusBadRequest, "GitPullRequestNotEditableException",
			"TF401181: The pull request cannot be edited due to its state.")
	case status == states[hostfake.Merged]:
		test.Error("it is completed by a request, and not by auto-complete")
	case status == states[hostfake.Closed]:
		p.End(hostfake.Closed, p.repo.Server.Now())
	case status == states[hostfake.Open]:
		_ = p.Reopen()
	}
	hostfake.Set(&p.Title, asked.Title)
	hostfake.Set(&p.Body, asked.Description)
	hostfake.Set(&p.Draft, asked.Draft)
	if asked.Options != nil {
		p.options = *asked.Options
		if p.options.Delete == nil || *p.options.Delete {
			test.Error("auto-complete deletes the source branch")
		}
		if p.AutoMerge != "" {
			p.AutoMerge = p.method()
		}
	}
	if asked.Completer != nil {
		p.AutoMerge, p.merging, p.failed = "", p.repo.Server.Host.Lag, ""
		if asked.Completer.ID == p.repo.server.person(c.By.Login).id {
			p.PullRequest.SetAutoMerge(c.By.Login, p.method())
		} else if asked.Completer.ID != noIdentity {
			test.Errorf("auto-complete is set by another one: %s", asked.Completer.ID)
		}
	}
	return ok(p.show())
}

func when(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// show returns a pull request in the API's format. Only lists contain labels (peer; in the answer of a create or of
// an update unsure).
func (p *pull) show() object {
	commit := func(sha string) object { return object{"commitId": sha} }
	o := object{
		"repository": p.repo.show(), "pullRequestId": p.Number, "codeReviewId": p.Number, "status": p.state(),
		"createdBy": p.repo.server.person(p.Author).show(), "creationDate": when(p.Created), "title": p.Title,
		"sourceRefName": "refs/heads/" + p.Head, "targetRefName": "refs/heads/" + p.Base, "isDraft": p.Draft,
		"mergeStatus": p.mergeStatus(), "lastMergeSourceCommit": commit(p.HeadCommit),
		"lastMergeTargetCommit": commit(p.BaseCommit), "supportsIterations": true,
		"reviewers": lists.Map(p.Reviewers, p.showReviewer),
		"url":       fmt.Sprintf("%s/_apis/git/repositories/%s/pullRequests/%d", p.repo.server.URL, p.repo.id, p.Number),
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
