package hostingtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
)

var answers = []row{
	{"an answer that repeats the credential is shown without it", func(p *place) {
		times := func(header string) any { // the error of the decoder repeats it
			return map[string]any{"created_at": header, "updated_at": header, "creationDate": header}
		}
		for form, encode := range map[string]func(header string) any{
			"message": func(header string) any { return map[string]any{"message": "refused: " + header} },
			"field":   func(header string) any { return map[string]any{"message": map[string]any{header: []string{"bad"}}} },
			"time":    times,
			"times":   func(header string) any { return []any{times(header)} },
		} {
			for _, status := range []int{http.StatusOK, http.StatusForbidden, http.StatusNotFound, http.StatusBadGateway} {
				p.repeating(form, status, encode)
			}
		}
	}},
	{"a list with long texts is read in smaller pages", func(p *place) {
		ours := p.open().Number
		body := strings.Repeat("y", min(p.repo.MaxBody, 60_000))
		for i := range 12 {
			branch := fmt.Sprint("other", i)
			p.local.branch(branch)
			p.people.Open(p, branch, "main", "Title", body)
		}
		p.repo = p.with(Writer, smallAnswers)
		query := githost.Query{Target: "main", Marker: Marker, Open: true}
		p.until("the pull requests", func() bool {
			found, err := p.repo.Find(p.ctx, query)
			return found != nil || err != nil
		})
		p.found(query, ours)
	}},
	{"a part of an answer that is null is an error of the server, or does not matter", func(p *place) {
		recorder := &recorder{}
		repo := p.over(transport(recorder.record))
		now := githost.PullRequest{}
		variants := 0
		for _, op := range operations(p.local.head("change"), p.repo.Issues != nil) {
			if now.Number > 0 {
				now = p.Must(repo.Read(p.ctx, now.Number))
			}
			recorder.exchanges = nil
			issue := p.newestIssue()
			if err := op.do(call{p.ctx, repo, now, issue}); err != nil {
				p.Fatalf("%s: %v", op.name, err)
			}
			exchanges := recorder.exchanges
			if now.Number == 0 {
				now = p.Must(repo.Find(p.ctx, Query))
			}
			for i, e := range exchanges {
				for _, part := range nulls(e.body) {
					variants++
					p.withNull(op, now, issue, exchanges, i, part)
				}
			}
		}
		if variants < 100 {
			p.Errorf("only %d answers were tried", variants)
		}
	}},
}

// smallAnswers makes answers with several long texts too large.
func smallAnswers(a *httpapi.Access) { a.MaxAnswer = 300_000 }

// repeating does each operation on answers with a status that contain the credential of their request.
func (p *place) repeating(form string, status int, encode func(header string) any) {
	p.Helper()
	var credentials []string
	repo := p.over(transport(func(req *http.Request) (*http.Response, error) {
		for _, name := range []string{"Authorization", "Private-Token"} {
			if header := req.Header.Get(name); header != "" {
				credentials = append(credentials, header[strings.LastIndex(header, " ")+1:])
				body, err := json.Marshal(encode(name + ": " + header))
				return exchange{status: status, body: string(body), header: http.Header{
					"Content-Type": {"application/json"}, "X-Accepted-Github-Permissions": {header}, "Retry-After": {"3600"},
				}}.answer(req), err
			}
		}
		return nil, fmt.Errorf("the request to %s has no credential", req.URL)
	}))
	ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
	defer cancel()
	for _, op := range operations(p.local.head("change"), p.repo.Issues != nil) {
		err := op.do(call{ctx, repo, githost.PullRequest{Number: 1, State: githost.Open}, 1})
		for _, credential := range credentials {
			if err != nil && strings.Contains(err.Error(), credential) {
				p.Errorf("%s of a %s, HTTP %d: the credential is in the error: %v", form, op.name, status, err)
			}
		}
	}
	if len(credentials) == 0 {
		p.Errorf("%s, HTTP %d: no request had a credential", form, status)
	}
}

// withNull does an operation on recorded answers, of which one has null in one place.
func (p *place) withNull(
	op operation, now githost.PullRequest, issue int, exchanges []exchange, at int, null variant,
) {
	p.Helper()
	answer := exchanges[at] // of an error, the status counts
	what := fmt.Sprintf("%s: the answer to %s, %s null", op.name, answer.key, null.path)
	defer func() {
		if r := recover(); r != nil {
			p.Errorf("%s: panic: %v", what, r)
		}
	}()
	exchanges = slices.Clone(exchanges)
	exchanges[at].body = null.body
	ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
	defer cancel()
	err := op.do(call{ctx, p.over(replay(exchanges)), now, issue})
	var e *githost.Error
	switch wholeObject := null.path == "" && answer.body[0] == '{' && answer.status < http.StatusMultipleChoices; {
	case err == nil && wholeObject:
		p.Errorf("%s: no error", what)
	case err != nil && (!errors.As(err, &e) || e.Host == "" || e.Kind == nil):
		p.Errorf("%s: the error %v is not one of the host", what, err)
	}
}

// transport answers requests but OPTIONS: the library of Azure DevOps keeps their answer for all hosts of the process.
type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodOptions {
		return http.DefaultTransport.RoundTrip(req)
	}
	return t(req)
}

// exchange is a request, with its answer.
type exchange struct {
	key    string // method and path
	status int
	header http.Header
	body   string
}

func (e exchange) answer(req *http.Request) *http.Response {
	return &http.Response{
		StatusCode: e.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req, Header: e.header.Clone(),
		Body: io.NopCloser(strings.NewReader(e.body)),
	}
}

// recorder records exchanges.
type recorder struct {
	mu        sync.Mutex
	exchanges []exchange
}

func (r *recorder) record(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	e := exchange{req.Method + " " + req.URL.Path, resp.StatusCode, resp.Header, string(body)}
	r.exchanges = append(r.exchanges, e)
	return e.answer(req), err
}

// replay gives recorded answers, each once.
func replay(exchanges []exchange) transport {
	var mu sync.Mutex
	return func(req *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		for i, e := range exchanges {
			if e.key == req.Method+" "+req.URL.Path {
				exchanges = slices.Delete(exchanges, i, i+1)
				return e.answer(req), nil
			}
		}
		header := http.Header{"Content-Type": {"application/json"}}
		return exchange{status: http.StatusNotFound, header: header, body: "{}"}.answer(req), nil
	}
}

// variant is JSON with null in one place.
type variant struct{ path, body string }

// nulls returns JSON with each of its parts replaced by null.
func nulls(body string) []variant {
	var parsed any
	if json.Unmarshal([]byte(body), &parsed) != nil {
		return nil
	}
	all := []variant{{"", "null"}}
	var visit func(path string, part any)
	visit = func(path string, part any) {
		try := func(name string, set func(any), old any) {
			set(nil)
			text, err := json.Marshal(parsed)
			if err == nil {
				all = append(all, variant{path + name, string(text)})
			}
			set(old)
			visit(path+name, old)
		}
		switch part := part.(type) {
		case []any:
			for i, old := range part {
				try(fmt.Sprintf("[%d]", i), func(v any) { part[i] = v }, old)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(part)) {
				try("."+name, func(v any) { part[name] = v }, part[name])
			}
		}
	}
	visit("", parsed)
	return all
}

// call contains the arguments of an operation.
type call struct {
	ctx   context.Context
	repo  githost.Repo
	now   githost.PullRequest
	issue int // the number of an issue
}

// operation is one of the operations of a repo.
type operation struct {
	name string
	text string // a part of its errors; "": not needed
	do   func(c call) error
}

// operations returns all operations that contact the host. If the host has issues, the last operations are on issues.
func operations(commit string, withIssues bool) []operation {
	content := Proposal()
	content.Labels, content.Reviewers = []string{"promoted"}, []string{Ann}
	edited := content
	edited.Title, edited.Body, edited.RemoveLabels = "Other", "Other\n\n"+Marker, []string{"old"}
	status := githost.Status{Context: "dev", State: githost.Success}
	one := func(_ *githost.PullRequest, err error) error { return err }
	all := []operation{
		{"Open", "open", func(c call) error { return one(c.repo.Open(c.ctx, content)) }},
		{"Find", "find", func(c call) error { return one(c.repo.Find(c.ctx, Query)) }},
		{"Read", "read", func(c call) error { return one(c.repo.Read(c.ctx, c.now.Number)) }},
		{"MissingReviewers", "", func(c call) error {
			_, err := c.repo.MissingReviewers(c.ctx, c.now, []string{Ann, Bob})
			return err
		}},
		{"Edit", "", func(c call) error { return one(c.repo.Edit(c.ctx, c.now, edited)) }},
		{"MergeWhenReady", "", func(c call) error { return one(c.repo.MergeWhenReady(c.ctx, c.now, githost.Squash)) }},
		{"Close", "close", func(c call) error { return one(c.repo.Close(c.ctx, c.now.Number)) }},
		{"SetStatus", "set", func(c call) error { _, err := c.repo.SetStatus(c.ctx, commit, status); return err }},
		{"Status", "status", func(c call) error { _, err := c.repo.Status(c.ctx, commit, "dev"); return err }},
		{"LatestStatuses", "the statuses", func(c call) error {
			_, err := c.repo.LatestStatuses(c.ctx, []string{commit}, []string{"dev"})
			return err
		}},
		{"StatusHistory", "statuses of commit ", func(c call) error {
			_, _, err := c.repo.StatusHistory(c.ctx, commit)
			return err
		}},
	}
	if withIssues {
		all = append(all, issueOperations()...)
	}
	return all
}
