package promotion_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/signingkey"
)

const signaturesRoot = acc.TerraformBlock + `
variable "url" { type = string }
variable "password" { type = string }
variable "keys" { type = list(string) }
variable "approved" {
  type    = list(string)
  default = []
}
variable "mode" {
  type    = string
  default = "head"
}

provider "kalypso" {
  git_credentials = [{ url = var.url, username = "me", password = var.password }]
}

locals {
  verify = { ssh = var.keys, mode = var.mode }
}

data "kalypso_promotion" "this" {
  environment   = "prod"
  control_plane = { repo = "${var.url}/cp", branch = "main", verify = local.verify }
  gitops_repo   = { repo = "${var.url}/gitops", branch = "prod" }
  approved      = var.approved
}

data "kalypso_control_plane" "this" {
  repo      = "${var.url}/cp"
  branch    = "prod"
  promotion = data.kalypso_promotion.this
  verify    = local.verify
}

resource "kalypso_environment_rendering" "this" {
  environment = "prod"
  manifests   = data.kalypso_control_plane.this.manifests
  sources     = data.kalypso_control_plane.this.sources
  verified    = merge(data.kalypso_promotion.this.verified, data.kalypso_control_plane.this.verified)
  gitops_repo = { repo = "${var.url}/gitops", branch = "prod" }
  promotion   = data.kalypso_promotion.this
  create_branch = true
}

output "seen" {
  value = {
    unverified = data.kalypso_promotion.this.unverified
    waiting    = [for w in data.kalypso_promotion.this.waiting : "${w.commit} ${w.gate}: ${w.reason}"]
  }
}
`

// A promotion takes only commits that a listed key signed, or that people approve. The provider reads a control plane
// only at such commits. The record names the signers.
func TestAccSignatures(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t, gitserver.WithFilter())
	ann := signingkey.NewSSH(t)
	gitserver.Seed(t, h.Dir("gitops"), "main", map[string]string{"README.md": "GitOps\n"})
	version := 0
	commit := func(branch string, signed bool) string {
		version++
		files := map[string]string{"note.txt": strings.Repeat("x", version)}
		if branch == "main" {
			files["main.yaml"] = strings.Join([]string{
				acc.KalypsoYAML("Template", "flux", `{type: reconciler, manifests: ["# `+files["note.txt"]+`"]}`),
				acc.KalypsoYAML("Template", "namespace", `{type: namespace, manifests: ["# N"]}`),
				acc.KalypsoYAML("Workload", "shop",
					"{deploymentTargets: [{name: web, environment: prod, manifests: {repo: r, branch: b, path: p}}]}"),
			}, "---\n")
		} else {
			files["fleet.yaml"] = acc.KalypsoYAML("ClusterType", "large",
				"{reconciler: flux, namespaceService: namespace}") + "---\n" +
				acc.KalypsoYAML("SchedulingPolicy", "all", "{deploymentTargetSelector: {}, clusterTypeSelector: {}}") + "---\n" +
				acc.KalypsoYAML("GitOpsRepo", "prod", "{repo: "+h.RepoURL("gitops")+", branch: prod, path: .}")
		}
		made := h.Commit("cp", branch, files)
		if signed {
			made = ann.SignHead(t, h.Dir("cp"), branch)
		}
		return made
	}
	r := acc.NewRoot(t, map[string]string{"main.tf": signaturesRoot})
	r.Vars = map[string]any{"url": h.URL, "password": acc.GitHostPassword, "keys": []string{ann.Public}}
	r.Set("approved", []string{})
	recorded := func(promoted, reason string, verified map[string]string) {
		t.Helper()
		var record struct {
			Commit    string            `json:"promoted_commit"`
			Verified  map[string]string `json:"verified"`
			Promotion struct{ Reason string }
		}
		text := gitserver.Tree(t, h.Dir("gitops"), "prod")[acc.RecordPath]
		if err := json.Unmarshal([]byte(text), &record); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(verified, record.Verified); diff != "" || record.Commit != promoted ||
			record.Promotion.Reason != reason {
			t.Errorf("the record has %s because of %q; verified (-want +got):\n%s", record.Commit, record.Promotion.Reason, diff)
		}
	}
	seen := func(unverified string, waiting ...string) {
		t.Helper()
		var got struct {
			Unverified string
			Waiting    []string
		}
		r.Output("seen", &got)
		if got.Unverified != unverified || !cmp.Equal(got.Waiting, append([]string{}, waiting...)) {
			t.Errorf("got %+v", got)
		}
	}

	env, first := commit("prod", true), commit("main", true)
	r.Apply()
	recorded(first, "signed by "+signingkey.Email, map[string]string{env: signingkey.Email, first: signingkey.Email})

	second := commit("main", false)
	r.Apply()
	recorded(first, "signed by "+signingkey.Email, map[string]string{env: signingkey.Email, first: signingkey.Email})
	seen("", second+" signature: it is not signed")
	r.Set("approved", []string{second})
	if out := r.Apply(); !strings.Contains(out.Text(), "Promoted commit not verified") {
		t.Errorf("no warning of the approved commit:\n%s", out.Text())
	}
	recorded(second, "approved: no gate is needed, although it is not signed", map[string]string{env: signingkey.Email})
	seen("it is not signed")
	r.ExpectEmptyPlan()
	r.Set("approved", []string{})
	r.ExpectError([]string{"Commit not verified", second + " is not verified", "it is not signed"}, "plan", "-no-color")

	commit("main", false)
	third := commit("main", true)
	r.Set("mode", "history")
	r.ExpectError([]string{"Commit not verified"}, "plan", "-no-color") // the current commit is still the second one
	r.Set("mode", "head")
	r.Apply()
	recorded(third, "signed by "+signingkey.Email, map[string]string{env: signingkey.Email, third: signingkey.Email})
	unsigned := commit("prod", false)
	r.ExpectError([]string{unsigned + " is not verified", "it is not signed", "Branch: prod"}, "plan", "-no-color")
	commit("prod", true)
	acc.ExpectTexts(t, r.Apply().Text(), "0 added, 0 changed") // no object has changed, so the record is not written
	r.Set("mode", "history")
	r.ExpectError([]string{"Commit not verified", unsigned + " is not verified", "it is not signed"}, "plan", "-no-color")

	eve := signingkey.NewSSH(t)
	r.Vars["keys"] = []string{eve.Private}
	r.Set("mode", "head")
	_, encoded, _ := strings.Cut(strings.TrimSpace(eve.Private), "\n")
	out := r.Terraform("plan", "-no-color").Text()
	for line := range strings.Lines(encoded) {
		if strings.Contains(out, strings.TrimSpace(line)) {
			t.Errorf("the plan shows the key:\n%s", out)
		}
	}
	acc.ExpectTexts(t, strings.Join(strings.Fields(out), " "), "Invalid key", "It contains a private key.")
	r.Vars["keys"] = []string{ann.Public}
	r.Set("mode", "head")
	r.Write("later.tf", "resource \"terraform_data\" \"key\" {\n  input = var.keys[0]\n}\n")
	r.Write("main.tf", strings.Replace(signaturesRoot, "ssh = var.keys", "ssh = [terraform_data.key.output]", 1))
	acc.ExpectTexts(t, r.Succeed("plan", "-no-color").Text(), "(config refers to values not yet known)")
}
