package gitea

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// requests.yaml lists the requests that the provider may send.
//
//go:embed testdata/requests.yaml
var rulesText []byte

// operation is a request in requests.yaml.
type operation struct {
	Method, Path string
	Query        map[string]parameter
	Body         map[string]parameter
	BodyRequired bool `yaml:"body_required"`
}

// parameter is a parameter of a path or query, or a field of a body.
type parameter struct {
	Type     any // a name, or several
	Required bool
	Values   []string
	Items    *parameter
	MinValue *int `yaml:"min_value"`
	MaxValue *int `yaml:"max_value"`
}

// readRules returns the operations of requests.yaml.
func readRules() ([]operation, error) {
	var document struct {
		Conventions struct {
			Pagination struct{ Query map[string]parameter }
		}
		Operations map[string]operation
	}
	if err := yaml.Unmarshal(rulesText, &document); err != nil {
		return nil, err
	}
	var all []operation
	for _, o := range document.Operations {
		for name, p := range document.Conventions.Pagination.Query {
			if _, paged := o.Query[name]; paged {
				o.Query[name] = p
			}
		}
		all = append(all, o)
	}
	// If a path matches several, the most exact one counts.
	slices.SortFunc(all, func(a, b operation) int {
		return cmp.Or(strings.Count(a.Path, "{")-strings.Count(b.Path, "{"), strings.Compare(a.Path, b.Path))
	})
	return all, nil
}

// check returns an error for a request that requests.yaml does not have.
func check(rules []operation, r Request) error {
	for _, o := range rules {
		if o.Method == r.Method && o.matches(r.Path) {
			if err := o.check(r); err != nil {
				return fmt.Errorf("%s %s is not as in requests.yaml: %w", r.Method, r.Path, err)
			}
			return nil
		}
	}
	return fmt.Errorf("%s %s is not in requests.yaml", r.Method, r.Path)
}

func (o operation) matches(path string) bool {
	want, got := strings.Split(o.Path, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		_, number := strconv.Atoi(got[i])
		switch want[i] {
		case "{index}", "{id}":
			if number != nil {
				return false
			}
		default:
			if !strings.HasPrefix(want[i], "{") && want[i] != got[i] || got[i] == "" && i > 0 {
				return false
			}
		}
	}
	return true
}

func (o operation) check(r Request) error {
	query, err := url.ParseQuery(r.Query)
	if err != nil {
		return err
	}
	for name, values := range query {
		p, known := o.Query[name]
		if !known {
			return fmt.Errorf("query %s", name)
		}
		for _, value := range values {
			if err := p.checkText(value); err != nil {
				return fmt.Errorf("query %s: %w", name, err)
			}
		}
	}
	if r.Body == "" && !o.BodyRequired {
		return nil
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	for name, value := range body {
		p, known := o.Body[name]
		if !known {
			return fmt.Errorf("body %s", name)
		}
		if err := p.check(value); err != nil {
			return fmt.Errorf("body %s: %w", name, err)
		}
	}
	for name, p := range o.Body {
		if _, given := body[name]; p.Required && !given {
			return fmt.Errorf("body lacks %s", name)
		}
	}
	return nil
}

// checkText checks a value of a query.
func (p parameter) checkText(text string) error {
	if number, err := strconv.Atoi(text); err == nil && p.Type == "integer" {
		if p.MinValue != nil && number < *p.MinValue || p.MaxValue != nil && number > *p.MaxValue {
			return fmt.Errorf("%d is out of bounds", number)
		}
		return nil
	}
	return p.check(text)
}

// check checks a value of a body.
func (p parameter) check(value any) error {
	kind := map[bool]string{true: "null"}[value == nil]
	switch value := value.(type) {
	case string:
		kind = "string"
		if p.Values != nil && !slices.Contains(p.Values, value) {
			return fmt.Errorf("%q is not one of %q", value, p.Values)
		}
	case float64:
		kind = "integer"
	case bool:
		kind = "boolean"
	case map[string]any:
		kind = "object"
	case []any:
		kind = "array"
		for _, item := range value {
			if p.Items == nil {
				break
			}
			if err := p.Items.check(item); err != nil {
				return err
			}
		}
	}
	switch want := p.Type.(type) {
	case string:
		if want == kind {
			return nil
		}
	case []any:
		if slices.Contains(want, any(kind)) {
			return nil
		}
	}
	return fmt.Errorf("its type is %s, not %v", kind, p.Type)
}
