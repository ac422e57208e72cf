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
	var r *Repo
	var p *pull
	for _, repo := range s.repos {
		repo.sync()
		for _, candidate := range repo.pulls {
			if candidate.nodeID(repo) == asked.Variables["id"] && t.access(repo.Name) > None {
				r, p = repo, candidate
			}
		}
	}
	problem := func(kind, message string) {
		reply(w, http.StatusOK, object{"data": nil, "errors": []object{{"type": kind, "message": message}}})
	}
	switch {
	case p == nil:
		problem("NOT_FOUND", "Could not resolve to a node with the global id of '"+asked.Variables["id"]+"'.")
		return
	case t.access(r.Name) < Write:
		problem("FORBIDDEN", "Resource not accessible by personal access token")
		return
	}
	switch {
	case strings.Contains(asked.Query, "enablePullRequestAutoMerge("):
		method := strings.ToLower(asked.Variables["method"])
		switch {
		case p.state != "open":
			problem("UNPROCESSABLE", "Pull request is closed")
			return
		case p.draft:
			problem("UNPROCESSABLE", "Pull request is a draft")
			return
		case p.autoMerge != "":
			problem("UNPROCESSABLE", "Auto merge is already enabled")
			return
		case r.waitsFor(p) == "":
			problem("UNPROCESSABLE", "Pull request Pull request is in "+r.mergeable(p)+" status")
			return
		}
		p.autoMerge = method
	case strings.Contains(asked.Query, "disablePullRequestAutoMerge("):
		if p.autoMerge == "" {
			problem("UNPROCESSABLE", "Can't disable auto-merge for this pull request")
			return
		}
		p.autoMerge = ""
	case strings.Contains(asked.Query, "convertPullRequestToDraft("):
		if r.noDrafts {
			problem("FORBIDDEN", t.login+" does not have permission to convert the pull request "+p.nodeID(r)+" to draft.")
			return
		}
		p.draft = true
	case strings.Contains(asked.Query, "markPullRequestReadyForReview("):
		p.draft = false
		r.mergeWhenReady(p)
	default:
		problem("UNPROCESSABLE", "The fake does not know this query")
		return
	}
	reply(w, http.StatusOK, object{"data": object{"pullRequest": object{"id": asked.Variables["id"]}}})
}
