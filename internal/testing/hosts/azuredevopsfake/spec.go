package azuredevopsfake

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// specText is an extract of Microsoft's description of the API, version 7.1 (MIT, see testdata/LICENSE).
//
//go:embed testdata/git-7.1.json
var specText []byte

var spec = mustLoad()

type document struct {
	Paths       map[string]map[string]operation `json:"paths"`
	Definitions map[string]definition           `json:"definitions"`

	schemas map[string]*jsonschema.Schema // by reference, such as #/definitions/GitStatus
}

type operation struct {
	Parameters []parameter `json:"parameters"`
	Responses  map[string]struct {
		Schema reference `json:"schema"`
	} `json:"responses"`
}

type parameter struct {
	Name   string    `json:"name"`
	In     string    `json:"in"`
	Type   string    `json:"type"`
	Schema reference `json:"schema"`
}

// reference refers to a definition, or to a list of its objects.
type reference struct {
	Ref   string     `json:"$ref"`
	Items *reference `json:"items"`
}

// definition is an object, also with the fields of those that it extends.
type definition struct {
	AllOf      []reference    `json:"allOf"`
	Properties map[string]any `json:"properties"`
}

func (d *document) properties(ref string) map[string]any {
	of, all := d.Definitions[strings.TrimPrefix(ref, definitions)], map[string]any{}
	for _, base := range of.AllOf {
		maps.Copy(all, d.properties(base.Ref))
	}
	maps.Copy(all, of.Properties)
	return all
}

const definitions = "#/definitions/"

// mustLoad reads the description. Its objects have only the fields that it lists.
func mustLoad() *document {
	d := &document{schemas: map[string]*jsonschema.Schema{}}
	if err := json.Unmarshal(specText, d); err != nil {
		panic(err)
	}
	d.Definitions["IdentityBase"].Properties["descriptor"] = object{"type": "string"}
	d.Definitions["PolicyConfiguration"].Properties["settings"] = object{}
	schemas := object{}
	for name := range d.Definitions {
		schemas[name] = object{
			"type": "object", "properties": d.properties(definitions + name), "additionalProperties": false,
		}
	}
	for _, name := range []string{"ReferenceLinks", "PropertiesCollection"} { // the description calls maps of objects so
		schemas[name] = object{}
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	c.AssertFormat()
	if err := c.AddResource("git.json", object{"definitions": schemas}); err != nil {
		panic(err)
	}
	for name := range schemas {
		d.schemas[definitions+name] = c.MustCompile("git.json" + definitions + name)
	}
	return d
}

// operationOf returns the operation of a request, or nil if the description has none.
func (d *document) operationOf(req *http.Request) *operation {
	got := strings.Split(req.URL.EscapedPath(), "/")
	for path, operations := range d.Paths {
		op, known := operations[strings.ToLower(req.Method)]
		want := strings.Split(path, "/")
		same := known && len(want) == len(got)
		for i := 0; same && i < len(want); i++ {
			same = strings.EqualFold(want[i], got[i]) || strings.HasPrefix(want[i], "{") && got[i] != "" && got[i] != "_apis"
		}
		if same {
			return &op
		}
	}
	return nil
}

// checkRequest returns an error if a request has a part that the description lacks.
func (o *operation) checkRequest(req *http.Request, body []byte) (problems []string) {
	if !strings.Contains(req.Header.Get("Accept"), "api-version=7.1") {
		problems = append(problems, "it asks for no version: "+req.Header.Get("Accept"))
	}
	for name, values := range req.URL.Query() {
		i := slices.IndexFunc(o.Parameters, func(p parameter) bool { return p.In == "query" && p.Name == name })
		if i < 0 {
			problems = append(problems, "query "+name+" is unknown")
			continue
		}
		_, notNumber := strconv.Atoi(values[0])
		_, notBoolean := strconv.ParseBool(values[0])
		if kind := o.Parameters[i].Type; kind == "integer" && notNumber != nil || kind == "boolean" && notBoolean != nil {
			problems = append(problems, fmt.Sprintf("query %s is %q", name, values[0]))
		}
	}
	i := slices.IndexFunc(o.Parameters, func(p parameter) bool { return p.In == "body" })
	if i < 0 {
		if len(body) > 0 {
			problems = append(problems, "it takes no body: "+string(body))
		}
		return problems
	}
	return append(problems, spec.check(o.Parameters[i].Schema.Ref, body)...)
}

// checkAnswer returns an error if a successful answer differs from the description, which has 200 for all answers, and
// an array for a list.
func (o *operation) checkAnswer(body []byte) (problems []string) {
	want := o.Responses["200"].Schema
	switch {
	case want.Ref != "":
		return spec.check(want.Ref, body)
	case want.Items == nil:
		return nil
	}
	var list struct {
		Count *int
		Value []json.RawMessage
	}
	if err := json.Unmarshal(body, &list); err != nil || list.Count == nil {
		return []string{"the answer is no list with its length"}
	}
	for _, one := range list.Value {
		problems = append(problems, spec.check(want.Items.Ref, one)...)
	}
	return problems
}

// check returns an error if an object differs from its definition.
func (d *document) check(ref string, text []byte) []string {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = d.schemas[ref].Validate(value)
	}
	if err != nil {
		return []string{err.Error()}
	}
	return nil
}
