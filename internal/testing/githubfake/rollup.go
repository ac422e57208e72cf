package githubfake

import (
	_ "embed"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

//go:embed schema.graphql
var schemaText string

var schema = gqlparser.MustLoadSchema(&ast.Source{Name: "schema.graphql", Input: schemaText})

// checkRun is a check run of an app. While it has no conclusion, it is in progress.
type checkRun struct {
	name, conclusion, app string
	at                    time.Time
}

// queryStatuses answers a query for the statuses of commits. It validates the query with GitHub's schema, and answers
// all fields that a commit has.
func (s *Server) queryStatuses(w http.ResponseWriter, t *token, query, name string) {
	problem := func(kind, message string) {
		reply(w, http.StatusOK, object{"data": object{"repository": nil},
			"errors": []object{{"type": kind, "message": message}}})
	}
	doc, errs := gqlparser.LoadQueryWithRules(schema, query, rules.NewDefaultRules())
	if errs != nil {
		reply(w, http.StatusOK, object{"errors": []object{{"message": errs.Error()}}})
		return
	}
	r := s.repos[strings.ToLower(name)]
	switch {
	case r == nil || t.access(r.Name) == None:
		problem("NOT_FOUND", "Could not resolve to a Repository with the name '"+name+"'.")
		return
	case !t.may("statuses", Read) || !t.may("checks", Read) || !t.may("contents", Read):
		problem("FORBIDDEN", "Resource not accessible by integration")
		return
	}
	answer := object{}
	for _, selection := range doc.Operations[0].SelectionSet {
		field, _ := selection.(*ast.Field)
		switch field.Name {
		case "viewer":
			answer[field.Alias] = object{"login": t.login}
		case "repository":
			commits := object{}
			for _, selection := range field.SelectionSet {
				if field, ok := selection.(*ast.Field); ok && field.Name == "object" {
					commits[field.Alias] = r.rollup(field.Arguments.ForName("oid").Value.Raw, contextsOf(field))
				}
			}
			answer[field.Alias] = commits
		}
	}
	reply(w, http.StatusOK, object{"data": answer})
}

// contextsOf returns the field contexts below a field.
func contextsOf(field *ast.Field) *ast.Field {
	selections := field.SelectionSet
	for len(selections) > 0 {
		var next ast.SelectionSet
		for _, s := range selections {
			switch s := s.(type) {
			case *ast.Field:
				if s.Name == "contexts" {
					return s
				}
				next = append(next, s.SelectionSet...)
			case *ast.InlineFragment:
				next = append(next, s.SelectionSet...)
			case *ast.FragmentSpread:
				next = append(next, s.Definition.SelectionSet...)
			}
		}
		selections = next
	}
	return &ast.Field{}
}

// rollup returns a page of the latest statuses and the check runs of a commit; nil if the repo lacks the commit.
func (r *Repo) rollup(commit string, contexts *ast.Field) any {
	if !r.commits[commit] {
		if r.commit(commit) == "" {
			return nil
		}
		r.commits[commit] = true
	}
	nodes := []object{}
	for _, s := range r.latest(commit) {
		node := object{
			"__typename": "StatusContext", "context": s.Context, "state": strings.ToUpper(s.State), "description": s.Description,
			"targetUrl": nil, "createdAt": s.CreatedAt, "creator": nil,
		}
		if s.TargetURL != "" {
			node["targetUrl"] = s.TargetURL
		}
		if s.Creator != nil { // GraphQL leaves the suffix of a bot out
			node["creator"] = object{"__typename": s.Creator.Type, "login": strings.TrimSuffix(s.Creator.Login, botSuffix)}
		}
		nodes = append(nodes, node)
	}
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
	if len(nodes) == 0 {
		return object{"oid": commit, "statusCheckRollup": nil}
	}
	number := func(name string) int {
		argument := contexts.Arguments.ForName(name)
		if argument == nil {
			return 0
		}
		n, _ := strconv.Atoi(argument.Value.Raw)
		return n
	}
	from := min(number("after"), len(nodes))
	to := min(from+number("first"), len(nodes))
	return object{"oid": commit, "statusCheckRollup": object{"contexts": object{
		"pageInfo": object{"hasNextPage": to < len(nodes), "endCursor": strconv.Itoa(to)}, "nodes": nodes[from:to],
	}}}
}
