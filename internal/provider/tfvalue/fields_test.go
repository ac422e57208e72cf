package tfvalue

import (
	"testing"

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
