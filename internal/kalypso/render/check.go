package render

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"text/template"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// check makes the checks of a site, see [valueChecks], and returns the value.
func (b *bounds) check(of string, v any) (any, error) { return b.checkOfKey(of, nil, v) }

// checkOfKey is [bounds.check] for the value of a key.
func (b *bounds) checkOfKey(of string, key, v any) (any, error) {
	c := checks(of[0])
	switch {
	case v != nil:
		if c&(reportsForm|reportsElements) != 0 {
			b.checkForm(of, key, reflect.ValueOf(v))
		}
	case c&rejectsMissing != 0:
		return nil, missingValue(of, key)
	case c&notesMissing != 0 && b.noted == nil:
		b.noted = missingValue(of, key)
	case c&emptiesMissing != 0:
		return "", nil
	case c&negatesMissing != 0:
		return false, nil
	}
	return v, nil
}

// bound returns the value of with. It returns an error if the value is not empty and a function got a missing value.
func (b *bounds) bound(v any) (any, error) {
	noted := b.noted
	b.noted = nil
	if isTrue, _ := template.IsTrue(v); isTrue {
		return v, noted
	}
	return v, nil
}

func missingValue(of string, key any) error {
	s := decodeSite(of, keyText(key))
	return &MissingValueError{Action: s.action, Value: s.value, Name: s.String(), Prints: s.checks&prints != 0}
}

func keyText(key any) string {
	if key == nil {
		return ""
	}
	return fmt.Sprint(key)
}

// index returns an empty text for a missing key of a map of texts, but a missing value for that of a dict. So it gets
// the value of item or items in place of the map.

// item returns a value that index looks a key up in: an empty dict for a map of texts without the key.
func item(key string, v any) any {
	if texts, ok := v.(map[string]string); ok {
		if _, ok := texts[key]; !ok {
			return map[string]any(nil)
		}
	}
	return v
}

// items returns a value that index looks any keys up in: a dict for a map of texts.
func items(v any) any {
	if texts, ok := v.(map[string]string); ok {
		return dictOf(texts)
	}
	return v
}

// hasGoForm reports whether text/template prints the value in Go's form of a map, a list or a struct.
func hasGoForm(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.Array, reflect.Struct:
		return !v.Type().Implements(reflect.TypeFor[fmt.Stringer]()) && !v.Type().Implements(reflect.TypeFor[error]())
	}
	return false
}

// checkForm reports a value that a function writes in Go's form.
func (b *bounds) checkForm(of string, key any, v reflect.Value) {
	if !hasGoForm(v) {
		return
	}
	if checks(of[0])&reportsElements != 0 && v.Kind() != reflect.Map && v.Kind() != reflect.Struct {
		inGoForm := false
		for i := range v.Len() {
			inGoForm = inGoForm || hasGoForm(elem(v.Index(i)))
		}
		if !inGoForm {
			return
		}
	}
	b.reportForm(of, key)
}

func (b *bounds) reportForm(of string, key any) {
	if b.forms != nil {
		b.forms.add(b.template, decodeSite(of, keyText(key)))
	}
}

// goForms contains the values that templates print in Go's form. It is safe for concurrent use.
type goForms struct{ found sync.Map } // goForm → true

// goForm is a value that a template prints in Go's form.
type goForm struct {
	template *fleet.Template
	value    string
}

func (g *goForms) add(t *fleet.Template, s site) { g.found.Store(goForm{t, s.String()}, true) }

// problems returns a warning for each template.
func (g *goForms) problems() (problems problem.Problems) {
	byTemplate := map[*fleet.Template][]string{}
	g.found.Range(func(key, _ any) bool {
		f := key.(goForm) //nolint:forcetypeassert // nothing else is stored
		byTemplate[f.template] = append(byTemplate[f.template], f.value)
		return true
	})
	for t, values := range byTemplate {
		slices.Sort(values)
		problems = append(problems, fleet.ProblemOf(t, problem.Problem{
			Severity: problem.Warning, Summary: "Map or list printed in Go's form",
			Detail: fmt.Sprintf("Template %q prints maps or lists in the form of Go, such as map[a:1] or [a b], which is "+
				"neither YAML nor JSON:\n%s\nPrint them with toJson, toYaml or stringify.", t.Name,
				problem.IndentedList(values, problem.MaxListed)),
		}))
	}
	return problems
}
