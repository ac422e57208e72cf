package fleetyaml_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// TestSecretProblems: a reference that External Secrets could not resolve is an error at its key and field.
func TestSecretProblems(t *testing.T) {
	t.Parallel()
	const head = kalypso + "kind: PlatformSecret\nmetadata: {name: s}\nspec:\n  data:\n    "
	for data, want := range map[string]string{
		`A: {store: vault, key: a/b}`:                     "",
		`A: {store: vault.eu, key: a/b, property: ""}`:    "",
		`"a.b-C_1": {store: v, key: k}`:                   "",
		`A: {key: k}`:                                     `spec.data["A"].store: Missing store`,
		`A: {store: "", key: k}`:                          `spec.data["A"].store: Missing store`,
		`A: {store: vault}`:                               `spec.data["A"].key: Missing key`,
		`A: {store: vault, key: ""}`:                      `spec.data["A"].key: Missing key`,
		`A: {store: Vault, key: k}`:                       `spec.data["A"].store: Invalid store`,
		`A: {store: "vault, azure", key: k}`:              `spec.data["A"].store: Invalid store`,
		`A: {store: [vault, azure], key: k}`:              ": Invalid YAML",
		`A: {store: vault, store: azure, key: k}`:         ": Invalid YAML",
		`A: {store: vault, key: k, stores: azure}`:        ": Unknown fields",
		`A: vault/k`:                                      ": Invalid YAML",
		`"a/b": {store: vault, key: k}`:                   `spec.data["a/b"]: Invalid secret key`,
		`"": {store: vault, key: k}`:                      `spec.data[""]: Invalid secret key`,
		`A: {store: vault, key: k, property: {name: no}}`: ": Invalid YAML",
	} {
		objects, _, problems := fleetyaml.Parse(t.Context(), problem.Origin{Key: "s.yaml"}, head+data+"\n")
		for _, o := range objects {
			problems = append(problems, o.Validate()...)
		}
		got := ""
		for _, p := range problems {
			got += fleet.YAMLPath(p) + ": " + p.Summary
			if p.Summary != "Invalid YAML" && p.Subject() != `PlatformSecret "s" from s.yaml, document 1, line 1` {
				t.Errorf("%s: the subject is %s", data, p.Subject())
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", data, problems, diff)
		}
	}
}
