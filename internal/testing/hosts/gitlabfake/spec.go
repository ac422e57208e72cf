package gitlabfake

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// requestsText lists the requests that we send and the answers that we read, from GitLab's OpenAPI document and source.
//
//go:embed testdata/requests.yaml
var requestsText []byte

var requests = mustLoad()

// spec is the part of the table that is checked. A field is a parameter, or a part of an answer.
type spec struct {
	Base       string                    `json:"base"`
	Operations map[string]operation      `json:"operations"`
	Shapes     map[string]map[string]any `json:"shapes"`
	Values     map[string]map[string]any `json:"values"`
}

type operation struct {
	Method     string           `json:"method"`
	Path       string           `json:"path"`
	Query      map[string]field `json:"query"`
	QueryNewer map[string]any   `json:"query_newer"`
	Body       map[string]field `json:"body"`
	AtLeastOne *struct{}        `json:"at_least_one"`
	Answers    map[string]field `json:"answers"`
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
}

func mustLoad() (s spec) {
	if err := yaml.Unmarshal(requestsText, &s); err != nil {
		panic(err)
	}
	return s
}

// operationOf returns the operation of a request, or nil if the table has none.
func (s *spec) operationOf(req *http.Request) *operation {
	path, ok := strings.CutPrefix(req.URL.EscapedPath(), s.Base)
	got := strings.Split(path, "/")
	for _, op := range s.Operations {
		want := strings.Split(op.Path, "/")
		same := ok && op.Method == req.Method && len(want) == len(got)
		for i := range want {
			same = same && (want[i] == got[i] || strings.HasPrefix(want[i], "{") && got[i] != "")
		}
		if same {
			return &op
		}
	}
	return nil
}

// checkRequest returns an error if a request has a part that the table lacks.
func (o *operation) checkRequest(req *http.Request, body []byte) (problems []string) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for name, values := range req.URL.Query() {
		f, known := o.Query[strings.TrimSuffix(name, "[]")]
		if _, newer := o.QueryNewer[name]; !known && !newer {
			problem("query %s is unknown", name)
		}
		for _, value := range values {
			if known && !f.parses(value) {
				problem("query %s is %q", name, value)
			}
		}
	}
	if o.Body == nil {
		if len(body) > 0 && string(body) != "null" {
			problem("it takes no body: %s", body)
		}
		return problems
	}
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		problem("the body is no object: %v", err)
	}
	for name, value := range fields {
		f, known := o.Body[name]
		_, isText := value.(string)
		list := f.is("array") && isText // lists may be texts with commas
		switch {
		case !known:
			problem("%s is unknown", name)
		case !list && len(requests.check(name, f, value)) > 0:
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

// checkAnswer returns an error if a successful answer differs from the table.
func (o *operation) checkAnswer(status int, body []byte) []string {
	f, known := o.Answers[strconv.Itoa(status)]
	if !known {
		return []string{fmt.Sprintf("status %d is unknown", status)}
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return []string{err.Error()}
	}
	return requests.check("answer", f, value)
}

// parses reports whether a text of a query is a value of the field.
func (f field) parses(text string) bool {
	if len(f.Values) > 0 && !slices.Contains(f.Values, any(text)) {
		return false
	}
	_, notNumber := strconv.Atoi(text)
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
func (s *spec) check(name string, f field, value any) (problems []string) {
	wrong := []string{fmt.Sprintf("%s is %v", name, value)}
	switch value := value.(type) {
	case nil:
		if !f.Nullable {
			return wrong
		}
	case string:
		_, notTime := time.Parse(time.RFC3339, value)
		if !f.is("string") && (!f.is("date-time") || notTime != nil) || !s.allows(f, value) {
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
				problems = append(problems, s.check(fmt.Sprintf("%s[%d]", name, i), *f.Items, one)...)
			}
		}
	case map[string]any:
		if f.Shape == "" && !f.is("object") {
			return wrong
		}
		return s.checkShape(name, f.Shape, value)
	}
	return problems
}

// checkShape returns an error if an object differs from its shape; "": any object.
func (s *spec) checkShape(name, shape string, object map[string]any) (problems []string) {
	for key, value := range object {
		part, known := s.part(shape, key)
		switch {
		case shape == "":
		case !known:
			problems = append(problems, name+"."+key+" is unknown")
		default:
			problems = append(problems, s.check(name+"."+key, part, value)...)
		}
	}
	return problems
}

// allows reports whether a text is one of the field's values.
func (s *spec) allows(f field, text string) bool {
	values := f.Values
	if f.ValuesOf != "" {
		values, _ = s.Values[f.ValuesOf]["all"].([]any)
	}
	return len(values) == 0 || f.Open || slices.Contains(values, any(text))
}

// part returns a field of a shape, or of the one that it extends.
func (s *spec) part(shape, key string) (f field, known bool) {
	for ; shape != ""; shape, _ = s.Shapes[shape]["extends"].(string) {
		if value, ok := s.Shapes[shape][key].(map[string]any); ok {
			data, err := json.Marshal(value)
			known = err == nil && json.Unmarshal(data, &f) == nil
			return f, known
		}
	}
	return f, false
}
