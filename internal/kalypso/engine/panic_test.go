package engine_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// extremeTexts and extremeNumbers are values at and beyond the limits of fields.
var (
	extremeTexts = []string{
		"", " ", "-1", "a", "dev", "true", "\x00", "\xff\xfe", "\u202e", "é", "null", "~", "{}", "[]", "{{", "{{ . }}",
		"{{ .X.Y.Z }}", "{{ range . }}", `{{ template "x" }}`, `{{ index .ConfigData "A" "B" }}`, "a: b: c", "- a\n---\n- b",
		`{"type": 1}`, `{"$ref": "#"}`, `{"pattern": "("}`, "9223372036854775808", "1e999", "..", "/", "a/b/c", "*", "=",
		strings.Repeat("a", 300), strings.Repeat("-", 64), unknown.Text, "In", "DoesNotExist", "Exists", "cluster-type",
	}
	extremeNumbers = []int64{0, 1, -1, 2, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, math.MaxInt32 + 1}
)

// fields calls visit for each settable field below v.
func fields(v reflect.Value, visit func(reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fields(v.Elem(), visit)
		}
		if v.CanSet() && !v.Type().Implements(reflect.TypeFor[fleet.Object]()) {
			visit(v)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fields(v.Field(i), visit)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			fields(v.Index(i), visit)
		}
		visit(v)
	default:
		visit(v)
	}
}

// setExtreme sets a field to an extreme value.
func setExtreme(r *rand.Rand, v reflect.Value) {
	text := func() string { return extremeTexts[r.IntN(len(extremeTexts))] }
	switch v.Kind() {
	case reflect.String:
		v.SetString(text())
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(extremeNumbers[r.IntN(len(extremeNumbers))])
	case reflect.Pointer:
		v.SetZero()
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			setExtreme(r, v.Elem())
		}
	case reflect.Slice:
		switch n := v.Len(); {
		case r.IntN(3) == 0:
			v.SetZero()
		case r.IntN(2) == 0 && n > 0:
			v.Set(reflect.AppendSlice(v.Slice3(0, n, n), v)) // each element twice
		case v.Type().Elem().Kind() != reflect.Pointer:
			element := reflect.New(v.Type().Elem()).Elem()
			fields(element, func(field reflect.Value) { setExtreme(r, field) })
			v.Set(reflect.Append(v.Slice3(0, n, n), element))
		}
	case reflect.Map:
		v.SetZero()
		if v.Type() == reflect.TypeFor[map[string]string]() && r.IntN(4) > 0 {
			v.Set(reflect.ValueOf(map[string]string{text(): text(), "a": text()}))
		}
	default:
		// A struct is set field by field. No other types occur.
	}
}

// TestNoPanic sets fields of random fleets to extreme values. A stage may report problems, but must not panic.
func TestNoPanic(t *testing.T) {
	touched := map[string]bool{}
	for seed := range seeds.Of(t, 400, 20_000) {
		r := rand.New(rand.NewPCG(seed, 30))
		f := &optionedFleet{Fleet: randomFleet(seed)}
		f.Limits = fleet.Limits{Assignments: 500, FileSize: 1 << 16}
		for _, p := range f.Policies {
			p.Placement = &placement.Spec{
				Number: new(1 + r.IntN(3)),
				Prefer: []placement.Preference{{Property: "cost", Weight: 1}, {Balance: true, Weight: -1}},
				Spread: []placement.Spread{{Key: "region"}}, Tolerations: []placement.Toleration{{Operator: placement.Exists}},
			}
		}
		for _, ct := range f.ClusterTypes {
			ct.Taints = []placement.Taint{{Key: "k", Effect: placement.NoSelectIfNew}}
			ct.Properties = map[string]string{"cost": "1"}
		}
		for range 1 + r.IntN(3) {
			var all []reflect.Value
			fields(reflect.ValueOf(f), func(v reflect.Value) { all = append(all, v) })
			v := all[r.IntN(len(all))]
			touched[v.Type().String()] = true
			setExtreme(r, v)
		}
		guard := func(call func()) {
			defer problem.ReportPanic(func(p *problem.Panic) { t.Errorf("seed %d: %v", seed, p) })
			call()
		}
		result, problems := f.run(t.Context())
		for _, o := range f.Objects() {
			problems = append(problems, engine.CheckObject(o)...)
			guard(func() { _, _ = fleetyaml.Marshal(o) })
		}
		guard(func() {
			if result.Schedule != nil {
				_ = result.Schedule.CheckUnsatisfied(t.Context(), f.Fleet, problem.Warn)
			}
		})
		var internal *problem.Panic
		if errors.As(problems, &internal) {
			t.Errorf("seed %d: %v", seed, internal)
		}
	}
	for _, want := range []string{"*int", "int", "string", "map[string]string", "[]string", "bool"} {
		if !touched[want] && !seeds.Single() {
			t.Errorf("no field of type %s was set", want)
		}
	}
}

// TestInvalidNumber reports a number of cluster types that is below 1, and places nothing.
func TestInvalidNumber(t *testing.T) {
	for _, number := range []int{0, -1, math.MinInt + 1} {
		f := randomFleet(1)
		for _, p := range f.Policies {
			p.Placement = &placement.Spec{Number: &number}
		}
		_, problems := engine.Run(t.Context(), f, engine.Options{})
		if !slices.ContainsFunc(problems, func(p problem.Problem) bool {
			return p.Summary == "Invalid number of cluster types"
		}) {
			t.Errorf("%d: %v", number, problems)
		}
		if errors.As(problems, new(*problem.Panic)) {
			t.Errorf("%d: %v", number, problems)
		}
	}
}
