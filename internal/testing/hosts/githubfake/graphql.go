package githubfake

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

//go:embed schema.graphql
var schemaText string

var schema = gqlparser.MustLoadSchema(&ast.Source{Name: "schema.graphql", Input: schemaText})

// execution executes a request of a caller.
type execution struct {
	server    *Server
	caller    *hostfake.Token
	variables object
	errors    []object
}

type graphQLRequest struct {
	Query     string
	Variables object
}

// graphql implements what the REST API lacks: auto-merge, merge queues, draft pull requests, and the statuses of many
// commits. It validates each request with GitHub's schema.
func (s *Server) graphql(c *call, asked graphQLRequest) answer {
	doc, errs := gqlparser.LoadQueryWithRules(schema, asked.Query, rules.NewDefaultRules())
	if errs != nil {
		return ok(object{"errors": []object{{"message": errs.Error()}}})
	}
	x := &execution{server: s, caller: c.By, variables: asked.Variables}
	root := object{"viewer": object{"login": x.caller.Login}, "repository": x.repository, "node": x.node}
	for _, mutation := range schema.Mutation.Fields {
		root[mutation.Name] = func(asked object) any { return x.mutate(mutation.Name, asked) }
	}
	body := object{"data": x.object(doc.Operations[0].SelectionSet, root)}
	if len(x.errors) > 0 {
		body["errors"] = x.errors
	}
	return ok(body)
}

// object answers the selected fields of an object. The value of a field may be a function of the arguments.
func (x *execution) object(selected ast.SelectionSet, of object) object {
	shown := object{}
	for _, field := range fieldsOf(selected, of["__typename"]) {
		shown[field.Alias] = x.value(field, of[field.Name])
	}
	return shown
}

func (x *execution) value(field *ast.Field, value any) any {
	switch value := value.(type) {
	case func(asked object) any:
		return x.value(field, value(field.ArgumentMap(x.variables)))
	case object:
		return x.object(field.SelectionSet, value)
	case []object:
		return lists.Map(value, func(one object) object { return x.object(field.SelectionSet, one) })
	}
	return value
}

// fieldsOf returns the selected fields, also those of the fragments for a type.
func fieldsOf(selected ast.SelectionSet, kind any) (all []*ast.Field) {
	for _, s := range selected {
		switch s := s.(type) {
		case *ast.Field:
			all = append(all, s)
		case *ast.InlineFragment:
			if s.TypeCondition == kind {
				all = slices.Concat(all, fieldsOf(s.SelectionSet, kind))
			}
		case *ast.FragmentSpread:
			if s.Definition.TypeCondition == kind {
				all = slices.Concat(all, fieldsOf(s.Definition.SelectionSet, kind))
			}
		}
	}
	return all
}

// fail adds an error of a field, which is null.
func (x *execution) fail(kind, message string) any {
	x.errors = append(x.errors, object{"type": kind, "message": message})
	return nil
}

// find returns a pull request that the caller may write, or adds an error.
func (x *execution) find(id any) *pull {
	for _, repo := range x.server.repos {
		repo.sync()
		i := slices.IndexFunc(repo.All, func(p *pull) bool { return p.nodeID() == id })
		switch access := x.caller.Access(repo.Name); {
		case i < 0 || access == hostfake.None:
		case access < hostfake.Write:
			x.fail("FORBIDDEN", "Resource not accessible by personal access token")
			return nil
		default:
			return repo.All[i]
		}
	}
	x.fail("NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%v'.", id))
	return nil
}

// node answers the query of a pull request.
func (x *execution) node(asked object) any {
	if p := x.find(asked["id"]); p != nil {
		return p.showQueue()
	}
	return nil
}

// mutate carries out a mutation.
func (x *execution) mutate(mutation string, asked object) any {
	input, _ := asked["input"].(object)
	id := "pullRequestId"
	if mutation == "dequeuePullRequest" {
		id = "id"
	}
	p := x.find(input[id])
	if p == nil {
		return nil
	}
	if kind, message := p.mutate(x.caller, mutation, input); kind != "" {
		return x.fail(kind, message)
	}
	return object{}
}

// mutate carries out a mutation, or returns the type of an error and its message.
func (p *pull) mutate(t *hostfake.Token, mutation string, input object) (kind, message string) {
	const unprocessable = "UNPROCESSABLE"
	switch mutation {
	case "enablePullRequestAutoMerge":
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
		p.SetAutoMerge(t.Login, strings.ToLower(fmt.Sprint(input["mergeMethod"])))
	case "disablePullRequestAutoMerge":
		if p.AutoMerge == "" {
			return unprocessable, "Can't disable auto-merge for this pull request"
		}
		p.AutoMerge = ""
	case "convertPullRequestToDraft":
		if p.repo.NoDrafts {
			return "FORBIDDEN", t.Login + " does not have permission to convert the pull request " + p.nodeID() + " to draft."
		}
		p.Draft, p.QueuedBy = true, ""
	case "enqueuePullRequest":
		head, _ := input["expectedHeadOid"].(string)
		return p.enqueue(t.Login, head)
	case "dequeuePullRequest":
		if p.QueuedBy == "" {
			return unprocessable, "Pull request is not in the merge queue"
		}
		p.QueuedBy = ""
	case "markPullRequestReadyForReview":
		p.Draft = false
		p.mergeWhenReady()
	}
	return "", ""
}
