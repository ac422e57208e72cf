package githubfake

import (
	"net/http"
	"strings"
)

// graphql implements what the REST API lacks: auto-merge, draft pull requests, and the statuses of many commits.
func (s *Server) graphql(w http.ResponseWriter, req *http.Request) {
	t := s.caller(w, req)
	var asked struct {
		Query     string
		Variables map[string]string
	}
	if t == nil || !decode(w, req, &asked) {
		return
	}
	if strings.HasPrefix(asked.Query, "query") {
		s.queryStatuses(w, t, asked.Query, asked.Variables)
		return
	}
	r, p := s.pullOf(asked.Variables["id"], t)
	var kind, message string
	switch {
	case p == nil:
		kind = "NOT_FOUND"
		message = "Could not resolve to a node with the global id of '" + asked.Variables["id"] + "'."
	case t.access(r.Name) < Write:
		kind, message = "FORBIDDEN", "Resource not accessible by personal access token"
	default:
		kind, message = r.mutate(t, p, asked.Query, asked.Variables["method"])
	}
	if kind != "" {
		reply(w, http.StatusOK, object{"data": nil, "errors": []object{{"type": kind, "message": message}}})
		return
	}
	reply(w, http.StatusOK, object{"data": object{"pullRequest": object{"id": asked.Variables["id"]}}})
}

// pullOf returns the pull request with a node ID that a caller may see, with its repo, or nil.
func (s *Server) pullOf(id string, t *token) (*Repo, *pull) {
	for _, repo := range s.repos {
		repo.sync()
		for _, candidate := range repo.pulls {
			if candidate.nodeID(repo) == id && t.access(repo.Name) > None {
				return repo, candidate
			}
		}
	}
	return nil, nil
}

// mutate carries out a mutation, or returns the type of an error and its message.
func (r *Repo) mutate(t *token, p *pull, query, method string) (kind, message string) {
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
		case r.waitsFor(p) == "":
			return unprocessable, "Pull request Pull request is in " + r.mergeable(p) + " status"
		}
		p.autoMerge = strings.ToLower(method)
	case strings.Contains(query, "disablePullRequestAutoMerge("):
		if p.autoMerge == "" {
			return unprocessable, "Can't disable auto-merge for this pull request"
		}
		p.autoMerge = ""
	case strings.Contains(query, "convertPullRequestToDraft("):
		if r.noDrafts {
			return "FORBIDDEN", t.login + " does not have permission to convert the pull request " + p.nodeID(r) + " to draft."
		}
		p.draft = true
	case strings.Contains(query, "markPullRequestReadyForReview("):
		p.draft = false
		r.mergeWhenReady(p)
	default:
		return unprocessable, "The fake does not know this query"
	}
	return "", ""
}
