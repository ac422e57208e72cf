package githubfake

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// checkRun is a check run of an app. While it has no conclusion, it is in progress.
type checkRun struct {
	name, conclusion, app string
	at                    time.Time
}

// repository answers the query of the commits of a repo.
func (x *execution) repository(asked object) any {
	name := fmt.Sprint(asked["owner"], "/", asked["name"])
	r, t := x.server.repos[strings.ToLower(name)], x.caller
	switch {
	case r == nil || t.Access(r.Name) == hostfake.None:
		return x.fail("NOT_FOUND", "Could not resolve to a Repository with the name '"+name+"'.")
	case !may(t, "statuses", hostfake.Read) || !may(t, "checks", hostfake.Read) || !may(t, "contents", hostfake.Read):
		return x.fail("FORBIDDEN", "Resource not accessible by integration")
	}
	return object{"object": r.commit}
}

// commit answers with a commit; nil if the repo lacks it.
func (r *Repo) commit(asked object) any {
	hash, _ := asked["oid"].(string)
	if r.Git.Commit(hash) == "" {
		return nil
	}
	statuses, runs := r.statusNodes(hash), r.checkRunNodes(hash)
	commit := object{
		"__typename": "Commit", "oid": hash, "statusCheckRollup": nil, "status": nil,
		"checkSuites": func(asked object) any { return r.checkSuites(asked, hash, runs) },
	}
	if all := slices.Concat(statuses, runs); len(all) > 0 {
		commit["statusCheckRollup"] = object{"contexts": connection(all)}
	}
	if len(statuses) > 0 {
		commit["status"] = object{"context": func(asked object) any {
			for _, s := range statuses {
				if s["context"] == asked["name"] {
					return s
				}
			}
			return nil
		}}
	}
	return commit
}

// checkSuites answers with a suite for each app that has a run of the requested name.
func (r *Repo) checkSuites(asked object, commit string, nodes []object) any {
	filter, _ := asked["filterBy"].(object)
	var suites []object
	runs := map[string][]object{} // by app
	for i, c := range r.checkRuns[commit] {
		if c.name == filter["checkName"] {
			if runs[c.app] == nil {
				suites = append(suites, object{"app": object{"slug": c.app}, "checkRuns": func(asked object) any {
					return connection(runs[c.app])(asked)
				}})
			}
			runs[c.app] = append(runs[c.app], nodes[i])
		}
	}
	return connection(suites)(asked)
}

// connection answers with the first nodes.
func connection(nodes []object) func(asked object) any {
	return func(asked object) any {
		first, _ := asked["first"].(float64)
		to := min(int(first), len(nodes))
		return object{
			"pageInfo": object{"hasNextPage": to < len(nodes), "endCursor": strconv.Itoa(to)}, "nodes": nodes[:to],
		}
	}
}

// statusNodes returns the latest status of each context of a commit.
func (r *Repo) statusNodes(commit string) []object {
	var nodes []object
	for _, s := range slices.Backward(r.LatestOf(commit)) {
		node := object{
			"__typename": "StatusContext", "context": s.Context, "state": strings.ToUpper(s.State),
			"description": s.Description,
			"targetUrl":   nil, "createdAt": s.Created.UTC().Truncate(time.Second), "creator": nil,
		}
		if s.TargetURL != "" {
			node["targetUrl"] = s.TargetURL
		}
		if s.Login != "" { // GraphQL leaves the suffix of a bot out
			node["creator"] = object{"__typename": kindOf(s.Login), "login": strings.TrimSuffix(s.Login, botSuffix)}
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// checkRunNodes returns the check runs of a commit.
func (r *Repo) checkRunNodes(commit string) []object {
	var nodes []object
	for _, c := range r.checkRuns[commit] {
		node := object{
			"__typename": "CheckRun", "name": c.name, "status": "IN_PROGRESS", "conclusion": nil, "startedAt": c.at,
			"completedAt": nil,
			"detailsUrl":  nil, "checkSuite": object{"app": object{"slug": c.app}},
		}
		if c.conclusion != "" {
			node["status"], node["conclusion"], node["completedAt"] = "COMPLETED", strings.ToUpper(c.conclusion), c.at
		}
		nodes = append(nodes, node)
	}
	return nodes
}
