package requesttable

import (
	"encoding/json"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"
)

// document is the part of a file requests.yaml that is checked.
type document struct {
	Base        string
	Conventions struct {
		Pagination    struct{ Query map[string]field }
		ListsInBodies *struct{} `json:"lists_in_bodies"` // lists may be texts with commas
	}
	Operations map[string]struct {
		Method, Path string
		Query, Body  map[string]field
		QueryNewer   map[string]any `json:"query_newer"`
		AtLeastOne   *struct{}      `json:"at_least_one"`
		BodyNeeded   bool           `json:"body_required"`
		Answers      map[string]field
	}
	Shapes map[string]map[string]json.RawMessage
	Values map[string]struct{ All []any }
}

// field is a parameter, or a part of an answer.
type field struct {
	Type               any // a text, or a list of them
	Shape              string
	Items              *field
	Required, Nullable bool
	Values             []any
	ValuesOf           string `json:"values_of"`
	Open               bool   // has more values than Values
	MinValue           any    `json:"min_value"`
	MaxValue           any    `json:"max_value"`
}

// MustParse returns the table of a file requests.yaml.
func MustParse(text []byte) Table {
	d := &document{}
	if err := yaml.Unmarshal(text, d); err != nil {
		panic(err)
	}
	definitions := map[string]any{}
	for name := range d.Shapes {
		definitions[name] = closed(d.properties(name))
	}
	var operations []*Operation
	for _, op := range d.Operations {
		schemas := map[string]any{}
		for name := range op.QueryNewer {
			schemas["query."+name] = true
		}
		for name, f := range op.Query {
			if paging, paged := d.Conventions.Pagination.Query[name]; paged {
				f = paging
			}
			if schemas["query."+name] = d.schema(f); f.Type == "array" { // it is repeated
				schemas["query."+name] = true
			}
		}
		for status, f := range op.Answers {
			schemas["answer."+status] = d.schema(f)
		}
		if op.Body != nil {
			body := d.body(op.Body)
			if op.AtLeastOne != nil {
				body["minProperties"] = 1
			}
			schemas["body"] = body
		}
		operations = append(operations,
			&Operation{Method: op.Method, Path: d.Base + op.Path, Schemas: schemas, BodyNeeded: op.BodyNeeded})
	}
	return New(definitions, operations...)
}

// closed is the schema of an object that has only these properties.
func closed(properties map[string]any) map[string]any {
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

func (d *document) body(fields map[string]field) map[string]any {
	properties, required := map[string]any{}, []any{}
	for name, f := range fields {
		schema := d.schema(f)
		if f.Type == "array" && d.Conventions.ListsInBodies != nil {
			schema = anyOf(schema, map[string]any{"type": "string"})
		}
		if properties[name] = schema; f.Required {
			required = append(required, name)
		}
	}
	body := closed(properties)
	body["required"] = required
	return body
}

func anyOf(schemas ...any) map[string]any { return map[string]any{"anyOf": schemas} }

// properties returns the schemas of the fields of a shape, also of the one that it extends.
func (d *document) properties(shape string) map[string]any {
	all, base := map[string]any{}, ""
	if json.Unmarshal(d.Shapes[shape]["extends"], &base) == nil {
		maps.Copy(all, d.properties(base))
	}
	for name, text := range d.Shapes[shape] {
		var f field
		if json.Unmarshal(text, &f) == nil { // else it is a note
			all[name] = d.schema(f)
		}
	}
	return all
}

// schema returns the JSON schema of a field.
func (d *document) schema(f field) map[string]any {
	schema := map[string]any{"type": f.Type, "minimum": f.MinValue, "maximum": f.MaxValue}
	switch {
	case f.Shape != "":
		schema["$ref"] = "#/definitions/" + f.Shape
	case f.Type == "date-time":
		schema["type"], schema["format"] = "string", "date-time"
	}
	if f.Items != nil {
		schema["items"] = d.schema(*f.Items)
	}
	if values := slices.Concat(f.Values, d.Values[f.ValuesOf].All); len(values) > 0 && !f.Open {
		schema["enum"] = values
	}
	maps.DeleteFunc(schema, func(_ string, value any) bool { return value == nil })
	if f.Nullable {
		return anyOf(schema, map[string]any{"type": "null"})
	}
	return schema
}
