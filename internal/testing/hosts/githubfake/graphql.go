package githubfake

import (
	"net/http"
	"strings"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
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
	case t.Access(p.repo.Name) < Write:
		kind, message = "FORBIDDEN", "Resource not accessible by personal access token"
	case aboutPull:
		reply(w, http.StatusOK, object{"data": object{"node": p.showQueue(), "viewer": object{"login": t.Login}}})
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
func (a *api) pullOf(id string, t *hostfake.Token) *pull {
	for _, repo := range a.server.repos {
		repo.sync()
		for _, candidate := range repo.All {
			if candidate.nodeID() == id && t.Access(repo.Name) > hostfake.None {
				return candidate
			}
		}
	}
	return nil
}

// mutate carries out a mutation, or returns the type of an error and its message.
func (p *pull) mutate(t *hostfake.Token, query string, variables map[string]string) (kind, message string) {
	const unprocessable = "UNPROCESSABLE"
	switch {
	case strings.Contains(query, "enablePullRequestAutoMerge("):
		switch {
		case p.State != hostfake.Open:
			return unprocessable, "Pull request is closed"
		case p.Draft:
			return unprocessable, "Pull request is a draft"
		case p.AutoMerge != "":
			return unprocessable, "Auto merge is already enabled"
		case p.QueuedBy != "":
			return unprocessable, "Pull request is already in the merge queue"
		case p.waitsFor() == "":
			return unprocessable, "Pull request Pull request is in " + p.mergeable() + " status"
		}
		p.SetAutoMerge(t.Login, strings.ToLower(variables["method"]))
	case strings.Contains(query, "disablePullRequestAutoMerge("):
		if p.AutoMerge == "" {
			return unprocessable, "Can't disable auto-merge for this pull request"
		}
		p.AutoMerge = ""
	case strings.Contains(query, "convertPullRequestToDraft("):
		if p.repo.noDrafts {
			return "FORBIDDEN", t.Login + " does not have permission to convert the pull request " + p.nodeID() + " to draft."
		}
		p.Draft, p.QueuedBy = true, ""
	case strings.Contains(query, "enqueuePullRequest("):
		return p.enqueue(t.Login, variables["head"])
	case strings.Contains(query, "dequeuePullRequest("):
		if p.QueuedBy == "" {
			return unprocessable, "Pull request is not in the merge queue"
		}
		p.QueuedBy = ""
	case strings.Contains(query, "markPullRequestReadyForReview("):
		p.Draft = false
		p.mergeWhenReady()
	default:
		return unprocessable, "The fake does not know this query"
	}
	return "", ""
}
