package azuredevopsfake

import (
	_ "embed"
	"encoding/json"
	"maps"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/requesttable"
)

// specText is an extract of Microsoft's description of the API, version 7.1 (MIT, see testdata/LICENSE).
//
//go:embed testdata/git-7.1.json
var specText []byte

// requests are the operations of the description. Their paths are in lower case.
var requests = mustLoad()

// definition is an object, also with the fields of those that it extends.
type definition struct {
	AllOf []struct {
		Ref string `json:"$ref"`
	}
	Properties object
}

// mustLoad reads the description. Its objects have only the fields that it lists.
func mustLoad() requesttable.Table {
	var d struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In, Type string
				Schema         object
			}
			Responses map[string]struct{ Schema object }
		}
		Definitions map[string]definition
	}
	if err := json.Unmarshal(specText, &d); err != nil {
		panic(err)
	}
	d.Definitions["IdentityBase"].Properties["descriptor"] = object{"type": "string"}
	d.Definitions["PolicyConfiguration"].Properties["settings"] = object{}
	definitions := object{}
	for name := range d.Definitions {
		definitions[name] = object{
			"type": "object", "properties": properties(d.Definitions, name), "additionalProperties": false,
		}
	}
	for _, name := range []string{"ReferenceLinks", "PropertiesCollection"} { // the description calls maps of objects so
		definitions[name] = object{}
	}
	var operations []*requesttable.Operation
	for path, methods := range d.Paths {
		for method, op := range methods {
			answer := answerSchema(op.Responses["200"].Schema)
			schemas := object{"answer.200": answer, "answer.201": answer} // it has 200 for all answers
			for _, p := range op.Parameters {
				switch p.In {
				case "query":
					schemas["query."+p.Name] = object{"type": p.Type}
				case "body":
					schemas["body"] = p.Schema
				}
			}
			operations = append(operations, &requesttable.Operation{
				Method: strings.ToUpper(method), Path: strings.ToLower(path), Schemas: schemas, BodyNeeded: true,
			})
		}
	}
	return requesttable.New(definitions, operations...)
}

func properties(definitions map[string]definition, name string) object {
	all := object{}
	for _, base := range definitions[name].AllOf {
		maps.Copy(all, properties(definitions, strings.TrimPrefix(base.Ref, "#/definitions/")))
	}
	maps.Copy(all, definitions[name].Properties)
	return all
}

// answerSchema returns the schema of an answer. The description has an array for a list.
func answerSchema(described object) any {
	switch {
	case described == nil:
		return true
	case described["items"] == nil:
		return described
	}
	return object{"type": "object", "properties": object{"count": object{"type": "integer"}, "value": described},
		"required": []any{"count"}}
}
