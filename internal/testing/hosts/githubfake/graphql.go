package githubfake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// parser returns the path of the program that parses requests.
var parser = sync.OnceValues(func() (string, error) { return programs.BuildTool("graphql") })

// execution executes a request of a caller.
type execution struct {
	server *Server
	caller *hostfake.Token
	errors []object
}

type graphQLRequest struct {
	Query     string
	Variables object
}

// parsedRequest is the output of the program in tools/graphql.
type parsedRequest struct {
	Error     string
	Operation string
	Selection []selection
}

// selection is a field, or a fragment for objects of a type.
type selection struct {
	Type, Alias, Name string
	Arguments         object
	Selection         []selection
}

// parse validates a request with GitHub's schema.
func parse(asked graphQLRequest) (parsed parsedRequest, err error) {
	program, err := parser()
	if err != nil {
		return parsed, err
	}
	request, err := json.Marshal(asked)
	if err != nil {
		return parsed, err
	}
	schema := filepath.Join(programs.Root(), "internal", "testing", "hosts", "githubfake", "schema.graphql")
	cmd := exec.Command(program, schema) //nolint:noctx // it ends by itself
	cmd.Stdin = bytes.NewReader(request)
	out, err := cmd.Output()
	if err != nil {
		return parsed, err
	}
	return parsed, json.Unmarshal(out, &parsed)
}

// graphql implements what the REST API lacks: auto-merge, merge queues, draft pull requests, and the statuses of many
// commits.
func (s *Server) graphql(c *call, asked graphQLRequest) answer {
	request, err := parse(asked)
	if err != nil {
		panic(err) // the fake itself is broken
	}
	if request.Error != "" {
		return ok(object{"errors": []object{{"message": request.Error}}})
	}
	x := &execution{server: s, caller: c.By}
	root := object{"viewer": object{"login": x.caller.Login}, "repository": x.repository, "node": x.node}
	if request.Operation == "mutation" {
		for _, mutation := range request.Selection {
			root[mutation.Name] = func(asked object) any { return x.mutate(mutation.Name, asked) }
		}
	}
	body := object{"data": x.object(request.Selection, root)}
	if len(x.errors) > 0 {
		body["errors"] = x.errors
	}
	return ok(body)
}

// object answers the selected fields of an object. The value of a field may be a function of the arguments.
func (x *execution) object(selected []selection, of object) object {
	shown := object{}
	for _, s := range selected {
		switch s.Type {
		case "":
			shown[s.Alias] = x.value(s, of[s.Name])
		case of["__typename"]:
			maps.Copy(shown, x.object(s.Selection, of))
		}
	}
	return shown
}

func (x *execution) value(field selection, value any) any {
	switch value := value.(type) {
	case func(asked object) any:
		return x.value(field, value(field.Arguments))
	case object:
		return x.object(field.Selection, value)
	case []object:
		return lists.Map(value, func(one object) object { return x.object(field.Selection, one) })
	}
	return value
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
