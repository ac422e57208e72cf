// The program graphql validates a GraphQL request with a schema, and writes the fields that it selects as JSON. The
// fake GitHub of the tests runs it, so that the provider's module graph contains no GraphQL parser.
//
// usage: graphql SCHEMA < REQUEST
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

type request struct {
	Query     string
	Variables map[string]any
}

// answer is the operation of a request with its selection, or the reason why the request is invalid.
type answer struct {
	Error     string
	Operation ast.Operation
	Selection []selection
}

// selection is a field, or a fragment for objects of a type.
type selection struct {
	Type      string // of a fragment
	Alias     string
	Name      string
	Arguments map[string]any
	Selection []selection
}

func main() {
	log.SetFlags(0)
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: os.Args[1], Input: string(text)})
	if err != nil {
		log.Fatal(err)
	}
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(parse(schema, asked)); err != nil {
		log.Fatal(err)
	}
}

func parse(schema *ast.Schema, asked request) answer {
	doc, errs := gqlparser.LoadQueryWithRules(schema, asked.Query, rules.NewDefaultRules())
	if errs != nil {
		return answer{Error: errs.Error()}
	}
	operation := doc.Operations[0]
	return answer{Operation: operation.Operation, Selection: fields(operation.SelectionSet, asked.Variables)}
}

// fields returns a selection with its fragments in place, and the variables in its arguments.
func fields(set ast.SelectionSet, variables map[string]any) (all []selection) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			all = append(all, selection{Alias: s.Alias, Name: s.Name, Arguments: s.ArgumentMap(variables),
				Selection: fields(s.SelectionSet, variables)})
		case *ast.InlineFragment:
			all = append(all, selection{Type: s.TypeCondition, Selection: fields(s.SelectionSet, variables)})
		case *ast.FragmentSpread:
			of := s.Definition
			all = append(all, selection{Type: of.TypeCondition, Selection: fields(of.SelectionSet, variables)})
		}
	}
	return all
}
