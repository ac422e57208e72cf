// Package requesttable checks requests to the API of a host, and its answers, against a table of the requests that we
// send: a file requests.yaml.
package requesttable

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// Table is the part of a table that is checked. A field is a parameter, or a part of an answer.
type Table struct {
	Base        string `json:"base"`
	Conventions struct {
		Pagination struct {
			Query map[string]field `json:"query"`
		} `json:"pagination"`
		ListsInBodies *struct{} `json:"lists_in_bodies"` // lists may be texts with commas
	} `json:"conventions"`
	Operations map[string]*Operation     `json:"operations"`
	Shapes     map[string]map[string]any `json:"shapes"`
	Values     map[string]map[string]any `json:"values"`
}

// Operation is a request of a table.
type Operation struct {
	Method     string           `json:"method"`
	Path       string           `json:"path"`
	Query      map[string]field `json:"query"`
	QueryNewer map[string]any   `json:"query_newer"`
	Body       map[string]field `json:"body"`
	AtLeastOne *struct{}        `json:"at_least_one"`
	BodyNeeded bool             `json:"body_required"`
	Answers    map[string]field `json:"answers"`

	table *Table
}

type field struct {
	Type     any    `json:"type"` // a text, or a list of them
	Shape    string `json:"shape"`
	Items    *field `json:"items"`
	Required bool   `json:"required"`
	Nullable bool   `json:"nullable"`
	Values   []any  `json:"values"`
	ValuesOf string `json:"values_of"`
	Open     bool   `json:"open"` // has more values than Values
	MinValue *int   `json:"min_value"`
	MaxValue *int   `json:"max_value"`
}

// MustParse returns a table.
func MustParse(text []byte) *Table {
	t := &Table{}
	if err := yaml.Unmarshal(text, t); err != nil {
		panic(err)
	}
	for _, op := range t.Operations {
		op.table = t
		for name, f := range t.Conventions.Pagination.Query {
			if _, paged := op.Query[name]; paged {
				op.Query[name] = f
			}
		}
	}
	return t
}

// Find returns the operation of a request by its escaped path, or nil if the table has none. If a path matches several,
// the most exact one counts.
func (t *Table) Find(method, path string) (found *Operation) {
	below, ok := strings.CutPrefix(path, t.Base)
	for _, op := range t.Operations {
		if ok && op.Method == method && op.matches(below) &&
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

// CheckRequest returns the problems of a request that has a part that the table lacks.
func (o *Operation) CheckRequest(query url.Values, body []byte) (problems []string) {
	for name, values := range query {
		f, known := o.Query[strings.TrimSuffix(name, "[]")]
		if _, newer := o.QueryNewer[name]; !known && !newer {
			problems = append(problems, fmt.Sprintf("query %s is unknown", name))
		}
		for _, value := range values {
			if known && !f.parses(value) {
				problems = append(problems, fmt.Sprintf("query %s is %q", name, value))
			}
		}
	}
	switch {
	case o.Body != nil:
		problems = append(problems, o.checkBody(body)...)
	case len(body) > 0 && string(body) != "null":
		problems = append(problems, fmt.Sprintf("it takes no body: %s", body))
	}
	return problems
}

func (o *Operation) checkBody(body []byte) (problems []string) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	var fields map[string]any
	if len(body) == 0 && !o.BodyNeeded {
		body = []byte("{}")
	}
	if err := json.Unmarshal(body, &fields); err != nil {
		problem("the body is no object: %v", err)
	}
	for name, value := range fields {
		f, known := o.Body[name]
		_, isText := value.(string)
		list := f.is("array") && isText && o.table.Conventions.ListsInBodies != nil
		switch {
		case !known:
			problem("%s is unknown", name)
		case !list && len(o.table.check(name, f, value)) > 0:
			problem("%s is %v", name, value)
		}
	}
	for name, f := range o.Body {
		if _, given := fields[name]; f.Required && !given {
			problem("%s is missing", name)
		}
	}
	if o.AtLeastOne != nil && len(fields) == 0 {
		problem("the body is empty")
	}
	return problems
}

// CheckAnswer returns the problems of a successful answer that differs from the table.
func (o *Operation) CheckAnswer(status int, body []byte) []string {
	f, known := o.Answers[strconv.Itoa(status)]
	if !known {
		return []string{fmt.Sprintf("status %d is unknown", status)}
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return []string{err.Error()}
	}
	return o.table.check("answer", f, value)
}

// parses reports whether a text of a query is a value of the field.
func (f field) parses(text string) bool {
	if len(f.Values) > 0 && !slices.Contains(f.Values, any(text)) {
		return false
	}
	number, notNumber := strconv.Atoi(text)
	if notNumber == nil && (f.MinValue != nil && number < *f.MinValue || f.MaxValue != nil && number > *f.MaxValue) {
		return false
	}
	return f.is("string") || f.is("array") || f.is("integer") && notNumber == nil ||
		f.is("boolean") && (text == "true" || text == "false")
}

func (f field) is(kind string) bool {
	if all, ok := f.Type.([]any); ok {
		return slices.Contains(all, any(kind))
	}
	return f.Type == kind
}

// check returns an error if a JSON value differs from its field.
func (t *Table) check(name string, f field, value any) (problems []string) {
	wrong := []string{fmt.Sprintf("%s is %v", name, value)}
	switch value := value.(type) {
	case nil:
		if !f.Nullable {
			return wrong
		}
	case string:
		_, notTime := time.Parse(time.RFC3339, value)
		if !f.is("string") && (!f.is("date-time") || notTime != nil) || !t.allows(f, value) {
			return wrong
		}
	case bool:
		if !f.is("boolean") {
			return wrong
		}
	case float64:
		if !f.is("integer") && !f.is("number") {
			return wrong
		}
	case []any:
		if !f.is("array") {
			return wrong
		}
		for i, one := range value {
			if f.Items != nil {
				problems = append(problems, t.check(fmt.Sprintf("%s[%d]", name, i), *f.Items, one)...)
			}
		}
	case map[string]any:
		if f.Shape == "" && !f.is("object") {
			return wrong
		}
		return t.checkShape(name, f.Shape, value)
	}
	return problems
}

// checkShape returns an error if an object differs from its shape; "": any object.
func (t *Table) checkShape(name, shape string, object map[string]any) (problems []string) {
	for key, value := range object {
		part, known := t.part(shape, key)
		switch {
		case shape == "":
		case !known:
			problems = append(problems, name+"."+key+" is unknown")
		default:
			problems = append(problems, t.check(name+"."+key, part, value)...)
		}
	}
	return problems
}

// allows reports whether a text is one of the field's values.
func (t *Table) allows(f field, text string) bool {
	values := f.Values
	if f.ValuesOf != "" {
		values, _ = t.Values[f.ValuesOf]["all"].([]any)
	}
	return len(values) == 0 || f.Open || slices.Contains(values, any(text))
}

// part returns a field of a shape, or of the one that it extends.
func (t *Table) part(shape, key string) (f field, known bool) {
	for ; shape != ""; shape, _ = t.Shapes[shape]["extends"].(string) {
		if value, ok := t.Shapes[shape][key].(map[string]any); ok {
			data, err := json.Marshal(value)
			known = err == nil && json.Unmarshal(data, &f) == nil
			return f, known
		}
	}
	return f, false
}
