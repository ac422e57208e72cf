package fleetyaml_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// TestMarshalYAMLUnprintable writes and reads characters that YAML requires to be escaped, but JSON does not.
func TestMarshalYAMLUnprintable(t *testing.T) {
	want := &fleet.Config{
		Meta: fleet.Meta{Name: "c"},
		Data: map[string]string{"k": "\x00\x07\x7f\u0080\u0085\u009f\u00a0\u2028\ufeff\ufffe\uffff \\u007f 🚀\t\r\n"},
	}
	text, err := fleetyaml.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	objects, _, ps := fleetyaml.Parse(t.Context(), problem.Origin{}, text)
	if len(ps) > 0 || len(objects) != 1 {
		t.Fatalf("%d objects, %v, of\n%s", len(objects), ps, text)
	}
	objects[0].Metadata().Origin = problem.Origin{}
	if diff := cmp.Diff(fleet.Object(want), objects[0]); diff != "" {
		t.Error(diff)
	}
}
