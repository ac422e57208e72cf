package azuredevopsfake

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// specText is an extract of Microsoft's description of the API, version 7.1 (MIT, see testdata/LICENSE).
//
//go:embed testdata/git-7.1.json
var specText []byte

var spec = mustLoad()

type document struct {
	Paths       map[string]map[string]operation `json:"paths"`
	Definitions map[string]*schema              `json:"definitions"`
}

type operation struct {
	Parameters []parameter `json:"parameters"`
	Responses  map[string]struct {
		Schema *schema `json:"schema"`
	} `json:"responses"`
}

type parameter struct {
	Name   string  `json:"name"`
	In     string  `json:"in"`
	Type   string  `json:"type"`
	Schema *schema `json:"schema"`
}

type schema struct {
	Ref        string             `json:"$ref"`
	Type       string             `json:"type"`
	Format     string             `json:"format"`
	Enum       []any              `json:"enum"`
	Items      *schema            `json:"items"`
	AllOf      []*schema          `json:"allOf"`
	Properties map[string]*schema `json:"properties"`
}

func mustLoad() (d document) {
	if err := json.Unmarshal(specText, &d); err != nil {
		panic(err)
	}
	for _, name := range []string{"ReferenceLinks", "PropertiesCollection"} { // the description calls maps of objects so
		d.Definitions[name] = &schema{}
	}
	d.Definitions["IdentityBase"].Properties["descriptor"] = &schema{Type: "string"}
	d.Definitions["PolicyConfiguration"].Properties["settings"] = &schema{}
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
	return append(problems, spec.checkText("body", o.Parameters[i].Schema, body)...)
}

// checkAnswer returns an error if a successful answer differs from the description, which has 200 for all answers, and
// an array for a list.
func (o *operation) checkAnswer(body []byte) []string {
	want := o.Responses["200"].Schema
	if want == nil {
		return nil
	}
	if want.Type == "array" {
		var list struct {
			Count *int
			Value json.RawMessage
		}
		if err := json.Unmarshal(body, &list); err != nil || list.Count == nil {
			return []string{"the answer is no list with its length"}
		}
		body = list.Value
	}
	return spec.checkText("answer", want, body)
}

func (d *document) checkText(name string, s *schema, text []byte) []string {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return []string{name + " is no JSON: " + err.Error()}
	}
	return d.check(name, s, value)
}

// resolve follows a reference.
func (d *document) resolve(s *schema) *schema {
	if s != nil && s.Ref != "" {
		return d.Definitions[strings.TrimPrefix(s.Ref, "#/definitions/")]
	}
	return s
}

// property returns a field of an object, also of those that it extends; nil: there is none.
func (d *document) property(s *schema, name string) *schema {
	if p := s.Properties[name]; p != nil {
		return p
	}
	for _, base := range s.AllOf {
		if p := d.property(d.resolve(base), name); p != nil {
			return p
		}
	}
	return nil
}

// check returns an error if a JSON value differs from its schema. An empty schema accepts any value.
func (d *document) check(name string, s *schema, value any) (problems []string) {
	s = d.resolve(s)
	if s.Type == "" && s.Enum == nil {
		return nil
	}
	var ok bool
	switch value := value.(type) {
	case string:
		_, notTime := time.Parse(time.RFC3339, value)
		ok = s.Enum == nil && s.Type == "string" && (s.Format != "date-time" || notTime == nil) &&
			(s.Format != "uuid" || len(value) == 36) || slices.Contains(s.Enum, any(value))
	case bool:
		ok = s.Type == "boolean"
	case float64:
		ok = s.Type == "integer"
	case []any:
		if ok = s.Type == "array"; ok {
			for i, one := range value {
				problems = append(problems, d.check(fmt.Sprintf("%s[%d]", name, i), s.Items, one)...)
			}
		}
	case map[string]any:
		if ok = s.Type == "object"; ok {
			for key, one := range value {
				if p := d.property(s, key); p != nil {
					problems = append(problems, d.check(name+"."+key, p, one)...)
				} else {
					problems = append(problems, name+"."+key+" is unknown")
				}
			}
		}
	default: // null
		ok = false
	}
	if !ok {
		problems = append(problems, fmt.Sprintf("%s is %v", name, value))
	}
	return problems
}
