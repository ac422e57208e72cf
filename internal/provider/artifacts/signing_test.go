package artifacts_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/registry"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/artifacts/sign"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs/cosign"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/registryserver"
)

// TestAccSigningLife signs artifacts with the CLI: published ones without a signature, with invalid keys, after a
// signature was deleted, and with another key. cosign verifies the signatures. No file and no output of Terraform
// contains a key.
func TestAccSigningLife(t *testing.T) {
	t.Parallel()
	first, second := cosign.NewKey(t), cosign.NewKey(t)
	server, repo := registryserver.Start(t), gitserver.InitBare(t)
	commit := acc.SeedDelivery(t, repo, nil, map[string]string{"large": "a: 1\n"})
	const resource = `
resource "kalypso_oci_artifacts" "this" {
  gitops_repo = { repo = var.repo, branch = "stage", path = "fleet" }
  commit      = var.commit
  repository  = "oci://${var.registry}/fleet"
  tags        = ["latest"]
SIGNING
}
`
	const signing = `  signing = { key = var.key, password = var.password }`
	r := acc.NewRoot(t, map[string]string{"terraform.tf": acc.TerraformBlock, "main.tf": `
variable "repo" {}
variable "commit" {}
variable "registry" {}
variable "key" {
  sensitive = true
  ephemeral = true
}
variable "password" {
  sensitive = true
  ephemeral = true
}
`, "artifacts.tf": strings.ReplaceAll(resource, "SIGNING", "")})
	for name, value := range map[string]string{
		"repo": repo, "commit": commit, "registry": server.Host, "key": first.Private, "password": first.Password,
	} {
		r.Set(name, value)
	}
	const address = "kalypso_oci_artifacts.this"
	artifact := server.Host + "/fleet/large:latest"
	verifies := func(k cosign.Key, want bool) {
		t.Helper()
		if err := cosign.Verify(t, k.Public, artifact); (err == nil) != want {
			t.Errorf("verified: %v, want %v; %v", err == nil, want, err)
		}
	}
	r.Apply()
	if key := r.State()[address]["public_key"]; key != nil {
		t.Errorf("the public key is %v", key)
	}
	verifies(first, false)

	r.Write("artifacts.tf", strings.ReplaceAll(resource, "SIGNING", signing))
	server.Requests()
	for name, test := range map[string]struct{ key, password, want string }{
		"not a key":      {"canary", first.Password, "Invalid signing key"},
		"public key":     {first.Public, first.Password, "Invalid signing key"},
		"no password":    {first.Private, "", "The signing key needs its password"},
		"wrong password": {first.Private, "canary", "Wrong password of the signing key"},
	} {
		r.Set("key", test.key)
		r.Set("password", test.password)
		out := r.Terraform("apply", "-no-color", "-auto-approve")
		if out.Code == 0 || !strings.Contains(out.Text(), test.want) {
			t.Errorf("%s: %s", name, out.Text())
		}
	}
	if sent := server.Requests(); sent["PUT"]+sent["POST"] > 0 {
		t.Errorf("invalid keys: sent %v", sent)
	}
	r.Set("key", first.Private)
	r.Set("password", first.Password)
	r.Apply()
	r.ExpectEmptyPlan()
	verifies(first, true)
	if key := r.State()[address]["public_key"]; key != first.Public {
		t.Errorf("the public key is %v", key)
	}

	// The signature is deleted in the registry.
	opened := open(t, registry.Scheme+server.Host+"/fleet", "large")
	published := acc.As[map[string]any](acc.As[map[string]any](r.State()[address]["artifacts"])["large"])
	signature, err := opened.Resolve(t.Context(), sign.Signatures.Tag(digest.Digest(acc.As[string](published["digest"]))))
	if err == nil {
		err = opened.Manifests().Delete(t.Context(), signature)
	}
	if err != nil {
		t.Fatal(err)
	}
	verifies(first, false)
	r.Apply()
	r.ExpectEmptyPlan()
	verifies(first, true)

	// Another key.
	r.Set("key", second.Private)
	if c := r.Plan()[address]; len(c.Actions) != 1 || c.Actions[0] != "update" {
		t.Errorf("another key: %v", c.Actions)
	}
	r.ApplyPlan()
	r.ExpectEmptyPlan()
	verifies(second, true)
	verifies(first, true)

	seen := r.Printed.String() + r.Succeed("show", "-json", "plan").Stdout +
		acc.ReadFile(t, filepath.Join(r.Folder, "terraform.tfstate"))
	for _, secret := range []string{first.Private, second.Private} {
		secret = strings.Split(secret, "\n")[1] // the first line of the key itself
		if strings.Contains(seen, secret) || strings.Contains(seen, first.Password) || strings.Contains(seen, "canary") {
			t.Error("the key or its password is in the output, the plan or the state")
		}
	}
}

// TestOlderCLI checks that a key which the CLI would write to the state is an error.
func TestOlderCLI(t *testing.T) {
	t.Parallel()
	r := newRun(t) // a CLI without write-only arguments
	r.deliver(map[string]string{"large": "a: 1\n"})
	r.given["signing"] = map[string]any{"key": "canary"}
	r.server.Requests()
	made, ds := r.plans()
	if text := ds.String(); made != nil || !strings.Contains(text, "Terraform 1.11") || strings.Contains(text, "canary") {
		t.Errorf("planned %v: %s", made != nil, text)
	}
}
