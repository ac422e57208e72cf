package tfvalue

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

func stringList(all ...attr.Value) types.List { return types.ListValueMust(types.StringType, all) }

func stringMap(all map[string]attr.Value) types.Map { return types.MapValueMust(types.StringType, all) }

func TestDecode(t *testing.T) {
	null, later := types.StringNull(), types.StringUnknown()
	var ps problem.Problems
	d := NewDecoder(types.ObjectValueMust(
		map[string]attr.Type{
			"null": types.StringType, "unknown": types.StringType, "set": types.StringType,
			"list": types.ListType{ElemType: types.StringType}, "unknownList": types.ListType{ElemType: types.StringType},
			"map": types.MapType{ElemType: types.StringType}, "unknownMap": types.MapType{ElemType: types.StringType},
		},
		map[string]attr.Value{
			"null": null, "unknown": later, "set": types.StringValue("s"),
			"list":        stringList(types.StringValue("a"), later, null),
			"unknownList": types.ListUnknown(types.StringType),
			"map":         stringMap(map[string]attr.Value{"a": types.StringValue("b"), "u": later, "n": null}),
			"unknownMap":  types.MapUnknown(types.StringType),
		}), &ps, problem.Attr("at"))

	for name, want := range map[string]string{"null": "", "missing": "", "unknown": unknown.Text, "set": "s"} {
		if got := d.String(name); got != want {
			t.Errorf("string %s: got %q, want %q", name, got, want)
		}
	}
	if diff := cmp.Diff([]string{"a", unknown.Text, unknown.Text}, d.Strings("list")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{unknown.Text}, d.Strings("unknownList")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"a": "b", "u": unknown.Text, "n": unknown.Text},
		d.StringMap("map")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{unknown.Text: unknown.Text}, d.StringMap("unknownMap")); diff != "" {
		t.Error(diff)
	}
	var at []string
	for _, p := range ps {
		at = append(at, p.Summary+" "+PathOf(p).String())
	}
	if diff := cmp.Diff([]string{"Null element at.list[2]", `Null element at.map["n"]`}, at); diff != "" {
		t.Error(diff)
	}
}

func TestPathOf(t *testing.T) {
	steps := []problem.Step{
		problem.Attr("deployment_targets"), problem.Index(1), problem.Attr("labels"), problem.Key("a/b"),
	}
	for want, p := range map[string]problem.Problem{
		``:                                    {},
		`deployment_targets[1].labels["a/b"]`: {Path: steps},
		`workloads["hello"].deployment_targets[1].labels["a/b"]`: {Path: steps,
			Origin: problem.Origin{Attribute: "workloads", Key: "hello"}},
		`environment`:         {Origin: problem.Origin{Attribute: "environment"}},
		`manifests["f.yaml"]`: {Path: steps, Origin: problem.Origin{Key: "f.yaml", Document: 2, Line: 7}},
		`labels`:              {Path: []problem.Step{problem.Attr("labels"), problem.Key(unknown.Text)}},
	} {
		if got := PathOf(p).String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Terraform finds no source line for a nested attribute. So the diagnostic is at an outer attribute whose line
// Terraform can show, and contains the rest of the path.
func TestDiagnostic(t *testing.T) {
	p := problem.Problem{
		Kind: string(fleet.KindWorkload), Name: "w", Summary: "S", Detail: "D.",
		Path: []problem.Step{
			problem.Attr("deployment_targets"),
			problem.Index(1),
			problem.Attr("labels"),
			problem.Key("a"),
		},
	}
	const object = "D.\n\nObject: Workload \"w\""
	nested := p
	nested.Origin = problem.Origin{Attribute: "workloads", Key: "k"}
	warning := p
	warning.Severity, warning.Path = problem.Warning, nil
	own := p
	own.Path = []problem.Step{problem.Attr("labels"), problem.Key("a")}
	for name, test := range map[string]struct {
		problem problem.Problem
		want    diag.Diagnostic
	}{
		"attribute of the resource": {own, diag.NewAttributeErrorDiagnostic(path.Root("labels").AtMapKey("a"), "S",
			object+"\nAttribute: labels[\"a\"]")},
		"attribute of an element": {p, diag.NewAttributeErrorDiagnostic(path.Root("deployment_targets").AtListIndex(1), "S",
			object+"\nAttribute: deployment_targets[1].labels[\"a\"]")},
		"attribute of an object in a rendering": {nested, diag.NewAttributeErrorDiagnostic(
			path.Root("workloads").AtMapKey("k"), "S",
			object+" from workloads[\"k\"]\nAttribute: workloads[\"k\"].deployment_targets[1].labels[\"a\"]")},
		"no attribute": {problem.Problem{Summary: "S", Detail: "D."}, diag.NewErrorDiagnostic("S", "D.")},
		"warning":      {warning, diag.NewWarningDiagnostic("S", object)},
	} {
		if got := diagnostic(test.problem); !got.Equal(test.want) {
			t.Errorf("%s: got %v, want %v", name, got, test.want)
		}
	}
}

func TestTerraformJSON(t *testing.T) {
	for in, want := range map[string]string{
		``:                             ``,
		`text`:                         `text`,
		`5`:                            `5`,
		`null`:                         `null`,
		` "s" `:                        ` "s" `,
		`{`:                            `{`,
		"{ \"b\": 1,\n\"a\": [1.0] }":  `{"a":[1],"b":1}`,
		`[1, {"<": "&"}]`:              `[1,{"\u003c":"\u0026"}]`,
		`{"a": 1, "a": "x"}`:           `{"a":"x"}`,
		`{"a": [{"b": 1, "b": null}]}`: `{"a":[{"b":null}]}`,
		`{"n": 123456789012345678901234567890.5e1}`: `{"n":1234567890123456789012345678905}`,
	} {
		if got := terraformJSON(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestKnown(t *testing.T) {
	var ps problem.Problems
	d := Decoder{Problems: &ps, Arguments: map[string]attr.Value{
		"on": types.BoolValue(true), "later": types.BoolUnknown(), "none": types.BoolNull(), "number": types.Int64Value(3),
		"partly": stringList(types.StringValue("a"), types.StringUnknown()),
	}}
	if got := d.String("number"); got != "3" {
		t.Errorf("the number is %q", got)
	}
	for name, want := range map[string][3]bool{ // results of True, UnlessFalse and Known
		"on": {true, true, true}, "later": {false, false, false}, "none": {false, true, true},
		"missing": {false, true, true},
	} {
		if got := [3]bool{d.True(name), d.UnlessFalse(name), d.Known(name)}; got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if d.Known("on", "partly") || len(ps) > 0 {
		t.Errorf("a list with an unknown element counts as known, or there are problems: %v", ps)
	}
}
