package model_test

import (
	"fmt"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// modelIdentity returns the identity of an object in a state. The state does not contain the file that an import read.
func modelIdentity(name string) map[string]any {
	return map[string]any{"name": name, "file": nil, "repo": nil, "branch": nil, "commit": nil}
}

// The identity of an object is its name. An import also needs the file.
func TestAccModelIdentity(t *testing.T) {
	t.Parallel()
	const address = "kalypso_config.this"
	object := func(name string) string {
		return fmt.Sprintf("resource \"kalypso_config\" \"this\" {\n  name = %q\n  data = { region = \"west\" }\n}\n", name)
	}
	r := acc.NewRoot(t, map[string]string{"terraform.tf": acc.TerraformBlock, "main.tf": object("first")})
	r.OwnProcess() // the import ID is a path in the working directory
	r.Apply()
	r.ExpectIdentity(address, modelIdentity("first"))
	r.Write("main.tf", object("second"))
	r.Apply()
	r.ExpectIdentity(address, modelIdentity("second"))
	r.ExpectEmptyPlan()

	r.EmptyState()
	r.Write("objects.yaml", `apiVersion: v1
kind: ConfigMap
metadata: {name: first, labels: {platform-config: "true"}}
data: {region: east}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: second, labels: {platform-config: "true"}}
data: {region: west}
`)
	if r.ImportByIdentity(address, `{ name = "second", file = "objects.yaml" }`) {
		r.ExpectEmptyPlan()
		r.ExpectIdentity(address, modelIdentity("second"))
	}
}
