package githubfake

import (
	_ "embed"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

//go:embed schema.graphql
var schemaText string

var schema = gqlparser.MustLoadSchema(&ast.Source{Name: "schema.graphql", Input: schemaText})

// checkRun is a check run of an app. While it has no conclusion, it is in progress.
type checkRun struct {
	name, conclusion, app string
	at                    time.Time
}

// queryStatuses answers a query for the statuses of commits. It answers all fields of a status and of a check run,
// requested or not.
func (a *api) queryStatuses(
	w http.ResponseWriter, t *hostfake.Token, doc *ast.QueryDocument, variables map[string]string,
) {
	problem := func(kind, message string) {
		reply(w, http.StatusOK, object{"data": object{"repository": nil},
			"errors": []object{{"type": kind, "message": message}}})
	}
	name := variables["owner"] + "/" + variables["name"]
	r := a.server.repos[strings.ToLower(name)]
	switch {
	case r == nil || t.Access(r.Name) == hostfake.None:
		problem("NOT_FOUND", "Could not resolve to a Repository with the name '"+name+"'.")
		return
	case !may(t, "statuses", Read) || !may(t, "checks", Read) || !may(t, "contents", Read):
		problem("FORBIDDEN", "Resource not accessible by integration")
		return
	}
	answer := object{}
	for _, selection := range doc.Operations[0].SelectionSet {
		field, _ := selection.(*ast.Field)
		switch field.Name {
		case "viewer":
			answer[field.Alias] = object{"login": t.Login}
		case "repository":
			commits := object{}
			for _, selection := range field.SelectionSet {
				if field, ok := selection.(*ast.Field); ok && field.Name == "object" {
					commits[field.Alias] = r.answerCommit(field, variables)
				}
			}
			answer[field.Alias] = commits
		}
	}
	reply(w, http.StatusOK, object{"data": answer})
}

// answerCommit answers the fields of a commit; nil if the repo lacks it.
func (r *Repo) answerCommit(asked *ast.Field, variables map[string]string) any {
	commit := argument(asked, "oid", variables)
	if !r.commits[commit] {
		if r.Git.Commit(commit) == "" {
			return nil
		}
		r.commits[commit] = true
	}
	statuses, runs := r.statusNodes(commit), r.checkRunNodes(commit)
	answer := object{"oid": commit}
	for _, field := range fieldsOf(asked) {
		switch field.Name {
		case "statusCheckRollup":
			answer[field.Alias] = nil
			if all := slices.Concat(statuses, runs); len(all) > 0 {
				answer[field.Alias] = object{"contexts": connection(fieldsOf(field)[0], all, variables)}
			}
		case "status":
			answer[field.Alias] = nil
			if len(statuses) > 0 {
				context := fieldsOf(field)[0]
				answer[field.Alias] = object{context.Alias: named(statuses, "context", argument(context, "name", variables))}
			}
		case "checkSuites":
			answer[field.Alias] = r.checkSuites(field, commit, variables)
		}
	}
	return answer
}

// checkSuites answers with a suite for each app that has a run of the requested name.
func (r *Repo) checkSuites(asked *ast.Field, commit string, variables map[string]string) object {
	name, nodes := filterOf(asked, "checkName", variables), r.checkRunNodes(commit)
	var apps []string
	byApp := map[string][]object{}
	for i, c := range r.checkRuns[commit] {
		if c.name == name {
			if byApp[c.app] == nil {
				apps = append(apps, c.app)
			}
			byApp[c.app] = append(byApp[c.app], nodes[i])
		}
	}
	var suites []object
	for _, app := range apps {
		suite := object{"app": object{"slug": app}}
		for _, field := range fieldsOf(asked) {
			if field.Name == "nodes" {
				runs := fieldsOf(field)[0]
				suite[runs.Alias] = connection(runs, byApp[app], variables)
			}
		}
		suites = append(suites, suite)
	}
	return connection(asked, suites, variables)
}

// connection answers with the first nodes.
func connection(asked *ast.Field, nodes []object, variables map[string]string) object {
	first, _ := strconv.Atoi(argument(asked, "first", variables))
	to := min(first, len(nodes))
	return object{
		"pageInfo": object{"hasNextPage": to < len(nodes), "endCursor": strconv.Itoa(to)},
		"nodes":    append([]object{}, nodes[:to]...),
	}
}

// named returns the first node with a name; nil if there is none.
func named(nodes []object, key, name string) any {
	for _, n := range nodes {
		if n[key] == name {
			return n
		}
	}
	return nil
}

// argument returns the value of an argument, or "".
func argument(field *ast.Field, name string, variables map[string]string) string {
	if a := field.Arguments.ForName(name); a != nil {
		return valueOf(a.Value, variables)
	}
	return ""
}

// filterOf returns a value of the argument filterBy.
func filterOf(field *ast.Field, name string, variables map[string]string) string {
	return valueOf(field.Arguments.ForName("filterBy").Value.Children.ForName(name), variables)
}

func valueOf(v *ast.Value, variables map[string]string) string {
	if v.Kind == ast.Variable {
		return variables[v.Raw]
	}
	return v.Raw
}

// fieldsOf returns the fields of an object, also those that a type condition or a fragment names.
func fieldsOf(field *ast.Field) []*ast.Field {
	var all []*ast.Field
	selections := slices.Clone(field.SelectionSet)
	for i := 0; i < len(selections); i++ {
		switch s := selections[i].(type) {
		case *ast.Field:
			all = append(all, s)
		case *ast.InlineFragment:
			selections = append(selections, s.SelectionSet...)
		case *ast.FragmentSpread:
			selections = append(selections, s.Definition.SelectionSet...)
		}
	}
	return all
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
