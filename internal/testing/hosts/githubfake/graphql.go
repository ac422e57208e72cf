package githubfake

import (
	"net/http"
	"strings"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// graphql implements what the REST API lacks: auto-merge, merge queues, draft pull requests, and the statuses of many
// commits. It validates each request with GitHub's schema.
func (a *api) graphql(w http.ResponseWriter, req *http.Request) {
	t := a.caller(w, req)
	var asked struct {
		Query     string
		Variables map[string]string
	}
	if t == nil || !decode(w, req, &asked) {
		return
	}
	doc, errs := gqlparser.LoadQueryWithRules(schema, asked.Query, rules.NewDefaultRules())
	if errs != nil {
		reply(w, http.StatusOK, object{"errors": []object{{"message": errs.Error()}}})
		return
	}
	aboutPull := strings.Contains(asked.Query, "node(id: $id)")
	if doc.Operations[0].Operation == ast.Query && !aboutPull {
		a.queryStatuses(w, t, doc, asked.Variables)
		return
	}
	p := a.pullOf(asked.Variables["id"], t)
	var kind, message string
	switch {
	case p == nil:
		kind = "NOT_FOUND"
		message = "Could not resolve to a node with the global id of '" + asked.Variables["id"] + "'."
	case t.access(p.repo.Name) < Write:
		kind, message = "FORBIDDEN", "Resource not accessible by personal access token"
	case aboutPull:
		reply(w, http.StatusOK, object{"data": object{"node": p.showQueue(), "viewer": object{"login": t.login}}})
		return
	default:
		kind, message = p.mutate(t, asked.Query, asked.Variables)
	}
	if kind != "" {
		reply(w, http.StatusOK, object{"data": nil, "errors": []object{{"type": kind, "message": message}}})
		return
	}
	reply(w, http.StatusOK, object{"data": object{"pullRequest": object{"id": asked.Variables["id"]}}})
}

// pullOf returns the pull request with a node ID that a caller may see, or nil.
func (a *api) pullOf(id string, t *token) *pull {
	for _, repo := range a.server.repos {
		repo.pulls.sync()
		for _, candidate := range repo.pulls.all {
			if candidate.nodeID() == id && t.access(repo.Name) > None {
				return candidate
			}
		}
	}
	return nil
}

// mutate carries out a mutation, or returns the type of an error and its message.
func (p *pull) mutate(t *token, query string, variables map[string]string) (kind, message string) {
	const unprocessable = "UNPROCESSABLE"
	switch {
	case strings.Contains(query, "enablePullRequestAutoMerge("):
		switch {
		case p.state != "open":
			return unprocessable, "Pull request is closed"
		case p.draft:
			return unprocessable, "Pull request is a draft"
		case p.autoMerge != "":
			return unprocessable, "Auto merge is already enabled"
		case p.queuedBy != "":
			return unprocessable, "Pull request is already in the merge queue"
		case p.waitsFor() == "":
			return unprocessable, "Pull request Pull request is in " + p.mergeable() + " status"
		}
		p.autoMerge, p.autoMergeBy = strings.ToLower(variables["method"]), t.login
	case strings.Contains(query, "disablePullRequestAutoMerge("):
		if p.autoMerge == "" {
			return unprocessable, "Can't disable auto-merge for this pull request"
		}
		p.autoMerge = ""
	case strings.Contains(query, "convertPullRequestToDraft("):
		if p.repo.noDrafts {
			return "FORBIDDEN", t.login + " does not have permission to convert the pull request " + p.nodeID() + " to draft."
		}
		p.draft, p.queuedBy = true, ""
	case strings.Contains(query, "enqueuePullRequest("):
		return p.enqueue(t.login, variables["head"])
	case strings.Contains(query, "dequeuePullRequest("):
		if p.queuedBy == "" {
			return unprocessable, "Pull request is not in the merge queue"
		}
		p.queuedBy = ""
	case strings.Contains(query, "markPullRequestReadyForReview("):
		p.draft = false
		p.mergeWhenReady()
	default:
		return unprocessable, "The fake does not know this query"
	}
	return "", ""
}
