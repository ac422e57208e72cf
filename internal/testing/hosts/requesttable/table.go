// Package requesttable checks requests to the API of a host, and its answers, against a table of the requests that we
// send, which is described in OpenAPI 3.1.
package requesttable

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// Table lists the requests to an API, first those with the most exact paths.
type Table []*operation

type operation struct {
	method, template string         // such as GET /users/{id}
	path             *regexp.Regexp // matches escaped paths
	bodyNeeded       bool           // an absent body is not an empty object
	// The schema of each part: body, query.state for the parameter state, answer.200 for the answer with that status.
	parts map[string]*jsonschema.Schema
}

// document is the part of a description that is checked.
type document struct {
	Paths      map[string]map[string]described
	Components any
}

// described is the description of an operation.
type described struct {
	Parameters []struct {
		Name, In string
		Schema   map[string]any
	}
	RequestBody struct {
		Required bool
		Content  content
	}
	Responses map[string]struct{ Content content }
}

type content map[string]struct{ Schema any } // by media type

// MustParse returns the table of a description.
func MustParse(text []byte) (t Table) {
	var d document
	if err := yaml.Unmarshal(text, &d); err != nil {
		panic(err)
	}
	schemas := map[string]any{"components": d.Components}
	for template, methods := range d.Paths {
		for method, op := range methods {
			schemas[strconv.Itoa(len(t))] = op.schemas()
			t = append(t, &operation{strings.ToUpper(method), template, op.path(template), op.RequestBody.Required,
				map[string]*jsonschema.Schema{}})
		}
	}
	t.compile(schemas)
	slices.SortFunc(t, func(a, b *operation) int {
		return cmp.Compare(strings.Count(a.template, "{"), strings.Count(b.template, "{"))
	})
	return t
}

// schemas returns the schemas of the parts.
func (d described) schemas() map[string]any {
	parts := map[string]any{}
	for _, p := range d.Parameters {
		parts[p.In+"."+p.Name] = p.Schema
	}
	for _, body := range d.RequestBody.Content {
		parts["body"] = body.Schema
	}
	for status, answer := range d.Responses {
		parts["answer."+status] = true
		for _, body := range answer.Content {
			parts["answer."+status] = body.Schema
		}
	}
	return parts
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

// path returns what matches the paths of a template, whose case does not matter.
func (d described) path(template string) *regexp.Regexp {
	digits := map[string]bool{}
	for _, p := range d.Parameters {
		digits["{"+p.Name+"}"] = p.Schema["type"] == "integer"
	}
	return regexp.MustCompile("(?i)^" + placeholder.ReplaceAllStringFunc(template, func(name string) string {
		if digits[name] {
			return `\d+`
		}
		return `[^/]+`
	}) + "$")
}

// compile compiles the schemas of the operations, which have their indexes as names.
func (t Table) compile(schemas map[string]any) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("table.json", schemas); err != nil {
		panic(err)
	}
	for i, op := range t {
		parts, _ := schemas[strconv.Itoa(i)].(map[string]any)
		for name := range parts {
			op.parts[name] = c.MustCompile(fmt.Sprintf("table.json#/%d/%s", i, name))
		}
	}
}

// find returns the operation of a request by its escaped path. If a path matches several, the most exact one counts.
func (t Table) find(method, path string) (*operation, error) {
	for _, op := range t {
		if op.method == method && op.path.MatchString(path) {
			return op, nil
		}
	}
	return nil, fmt.Errorf("%s %s is not in the table of requests", method, path)
}

// Answer answers a request with an escaped path by an API. It fails the test where the request, or a successful answer,
// differs from the table.
func (t Table) Answer(
	test testing.TB, w *httptest.ResponseRecorder, req *http.Request, path string, body []byte, api http.Handler,
) {
	test.Helper()
	err := t.Check(req.Method, path, req.URL.RawQuery, body)
	api.ServeHTTP(w, req)
	if err == nil && w.Code < http.StatusMultipleChoices {
		err = t.CheckAnswer(req.Method, path, w.Code, w.Body.Bytes())
	}
	if err != nil {
		test.Error(err)
	}
}

// Check returns an error for a request with an escaped path that the table lacks, or that has a part that the table
// lacks.
func (t Table) Check(method, path, query string, body []byte) error {
	op, err := t.find(method, path)
	if err != nil {
		return err
	}
	values, err := url.ParseQuery(query)
	problems := []error{err}
	for name, all := range values {
		schema, known := op.parts["query."+strings.TrimSuffix(name, "[]")]
		if !known {
			problems = append(problems, fmt.Errorf("query %s is unknown", name))
			continue
		}
		for _, value := range all {
			if schema.Validate(value) != nil && check(schema, []byte(value)) != nil {
				problems = append(problems, fmt.Errorf("query %s is %q", name, value))
			}
		}
	}
	schema, known := op.parts["body"]
	switch {
	case known && len(body) == 0 && !op.bodyNeeded:
		problems = append(problems, check(schema, []byte("{}")))
	case known:
		problems = append(problems, check(schema, body))
	case len(body) > 0 && string(body) != "null":
		problems = append(problems, fmt.Errorf("it takes no body: %s", body))
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("%s %s is not as in the table of requests: %w", method, path, err)
	}
	return nil
}

// CheckAnswer returns the problem of a successful answer to a request that differs from the table.
func (t Table) CheckAnswer(method, path string, status int, body []byte) error {
	op, err := t.find(method, path)
	if err != nil {
		return err
	}
	schema, known := op.parts[fmt.Sprint("answer.", status)]
	if !known {
		return fmt.Errorf("the answer to %s %s has an unknown status, %d", method, path, status)
	}
	if err := check(schema, body); err != nil {
		return fmt.Errorf("the answer to %s %s: %w", method, path, err)
	}
	return nil
}

// check returns the problem of JSON that differs from its schema.
func check(schema *jsonschema.Schema, text []byte) error {
	if schema.Bool != nil { // anything is right
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}
