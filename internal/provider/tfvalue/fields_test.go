package tfvalue

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// A struct is written and read by the names of its fields. Empty values are null, but for a field with the option.
func TestStruct(t *testing.T) {
	type nested struct {
		UseOIDC bool
		Numbers *int
	}
	type object struct {
		ClientID      string
		CACertificate string
		Names         []string `attribute:"only_names,empty"`
		Values        []string
		Labels        map[string]string
		List          []nested
		One           *nested
		ByKey         map[string]nested
		Internal      string `attribute:"-"`
	}
	given := object{ClientID: "a", Names: []string{}, Labels: map[string]string{"k": ""},
		List: []nested{{UseOIDC: true, Numbers: new(3)}}, ByKey: map[string]nested{"k": {}}, Internal: "b"}

	inner := types.ObjectType{AttrTypes: map[string]attr.Type{"use_oidc": types.BoolType, "numbers": types.Int64Type}}
	texts := types.ListType{ElemType: types.StringType}
	v := Encode(types.ObjectType{AttrTypes: map[string]attr.Type{
		"client_id": types.StringType, "ca_certificate": types.StringType, "only_names": texts, "values": texts,
		"labels": types.MapType{ElemType: types.StringType}, "list": types.ListType{ElemType: inner}, "one": inner,
		"by_key": types.MapType{ElemType: inner}, "internal": types.StringType,
	}}, &given)

	var ps problem.Problems
	d := NewDecoder(v, &ps)
	for name, null := range map[string]bool{"client_id": false, "ca_certificate": true, "only_names": false,
		"values": true, "one": true, "internal": true} {
		if IsNull(d.Arguments[name]) != null {
			t.Errorf("%s is %s", name, d.Arguments[name])
		}
	}
	var got object
	d.Read(&got)
	given.Internal = ""
	if diff := cmp.Diff(given, got); diff != "" || len(ps) > 0 {
		t.Errorf("%s %v", diff, ps)
	}
}

// Results have times in UTC and durations in seconds. A zero time is null, and an empty string without the option.
func TestResultOfStruct(t *testing.T) {
	type object struct {
		At, Never  time.Time
		Took       *time.Duration
		Good, Open *bool
		Name       string
		Text       string `attribute:",empty"`
	}
	at := time.Date(2026, 1, 31, 13, 0, 0, 0, time.FixedZone("", 3600))
	objectType := types.ObjectType{AttrTypes: map[string]attr.Type{
		"at": types.StringType, "never": types.StringType, "took": types.Int64Type, "good": types.BoolType,
		"open": types.BoolType, "name": types.StringType, "text": types.StringType,
	}}
	v := Result(objectType, object{At: at, Took: new(90 * time.Second), Good: new(false)})
	want := types.ObjectValueMust(objectType.AttrTypes, map[string]attr.Value{
		"at": types.StringValue("2026-01-31T12:00:00Z"), "never": types.StringNull(), "took": types.Int64Value(90),
		"good": types.BoolValue(false), "open": types.BoolNull(), "name": types.StringNull(), "text": types.StringValue(""),
	})
	if diff := cmp.Diff(want.String(), v.String()); diff != "" {
		t.Error(diff)
	}

	type times struct{ At, Never, Later, Wrong time.Time }
	var ps problem.Problems
	var got times
	Decoder{Problems: &ps, Arguments: map[string]attr.Value{
		"at": types.StringValue("2026-01-31T13:00:00+01:00"), "later": types.StringUnknown(),
		"wrong": types.StringValue("today"),
	}}.Read(&got)
	if diff := cmp.Diff(times{At: at.UTC()}, got); diff != "" || len(ps) != 1 || ps[0].Summary != "Invalid time" {
		t.Errorf("%s %v", diff, ps)
	}
}
