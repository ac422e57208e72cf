// Package requesttable checks requests to the API of a host, and its answers, against a table of the requests that we
// send. JSON schemas describe the parts of a request.
package requesttable

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Table lists the requests to an API.
type Table []*Operation

// Operation is a request of a table.
type Operation struct {
	Method string
	Path   string // with segments such as {id}, of which {index} is a number
	// Schemas has the JSON schema of each part, which may refer to the definitions of [New]: body, query.state for the
	// parameter state, answer.200 for the answer with that status.
	Schemas map[string]any
	// BodyNeeded says that an absent body is not an empty object.
	BodyNeeded bool

	compiled map[string]*jsonschema.Schema
}

// New returns a table of operations, with definitions by name.
func New(definitions map[string]any, operations ...*Operation) Table {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	c.AssertFormat()
	parts := map[string]any{}
	for i, op := range operations {
		parts[strconv.Itoa(i)] = op.Schemas
	}
	if err := c.AddResource("table.json", map[string]any{"definitions": definitions, "operations": parts}); err != nil {
		panic(err)
	}
	for i, op := range operations {
		op.compiled = map[string]*jsonschema.Schema{}
		for name := range op.Schemas {
			op.compiled[name] = c.MustCompile(fmt.Sprintf("table.json#/operations/%d/%s", i, name))
		}
	}
	return operations
}

// Find returns the operation of a request by its escaped path, or nil if the table has none. If a path matches several,
// the most exact one counts.
func (t Table) Find(method, path string) (found *Operation) {
	for _, op := range t {
		if op.Method == method && op.matches(path) &&
			(found == nil || strings.Count(op.Path, "{") < strings.Count(found.Path, "{")) {
			found = op
		}
	}
	return found
}

func (o *Operation) matches(path string) bool {
	want, got := strings.Split(o.Path, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		_, notNumber := strconv.Atoi(got[i])
		placeholder := strings.HasPrefix(want[i], "{") && got[i] != ""
		if want[i] != got[i] && (!placeholder || want[i] == "{index}" && notNumber != nil) {
			return false
		}
	}
	return true
}

// Answer answers a request with an escaped path by an API. It fails the test where the request, or a successful answer,
// differs from the table.
func (t Table) Answer(
	test testing.TB, w *httptest.ResponseRecorder, req *http.Request, path string, body []byte, api http.Handler,
) {
	test.Helper()
	if err := t.Check(req.Method, path, req.URL.RawQuery, body); err != nil {
		test.Error(err)
	}
	api.ServeHTTP(w, req)
	if op := t.Find(req.Method, path); op != nil && w.Code < http.StatusMultipleChoices {
		if err := op.CheckAnswer(w.Code, w.Body.Bytes()); err != nil {
			test.Errorf("the fake's answer to %s %s: %v", req.Method, path, err)
		}
	}
}

// Check returns an error for a request with an escaped path that the table lacks, or that differs from the table.
func (t Table) Check(method, path, query string, body []byte) error {
	op := t.Find(method, path)
	if op == nil {
		return fmt.Errorf("%s %s is not in the table of requests", method, path)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return err
	}
	if err := op.CheckRequest(values, body); err != nil {
		return fmt.Errorf("%s %s is not as in the table of requests: %w", method, path, err)
	}
	return nil
}

// CheckRequest returns the problems of a request that has a part that the table lacks.
func (o *Operation) CheckRequest(query url.Values, body []byte) error {
	var problems []error
	for name, values := range query {
		schema, known := o.compiled["query."+strings.TrimSuffix(name, "[]")]
		if !known {
			problems = append(problems, fmt.Errorf("query %s is unknown", name))
			continue
		}
		for _, value := range values {
			if schema.Validate(value) != nil && check(schema, []byte(value)) != nil {
				problems = append(problems, fmt.Errorf("query %s is %q", name, value))
			}
		}
	}
	schema, known := o.compiled["body"]
	switch {
	case known && len(body) == 0 && !o.BodyNeeded:
		problems = append(problems, check(schema, []byte("{}")))
	case known:
		problems = append(problems, check(schema, body))
	case len(body) > 0 && string(body) != "null":
		problems = append(problems, fmt.Errorf("it takes no body: %s", body))
	}
	return errors.Join(problems...)
}

// CheckAnswer returns the problem of a successful answer that differs from the table.
func (o *Operation) CheckAnswer(status int, body []byte) error {
	schema, known := o.compiled[fmt.Sprint("answer.", status)]
	if !known {
		return fmt.Errorf("status %d is unknown", status)
	}
	return check(schema, body)
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
