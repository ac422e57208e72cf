package rendering_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// secretsRoot renders references from resources, from inline objects and from YAML. Its data source explains them.
const secretsRoot = acc.TerraformBlock + `
resource "terraform_data" "later" {
  input = "west/db"
}

resource "kalypso_cluster_type" "all" {
  for_each          = toset(["large", "small"])
  name              = each.key
  labels            = { region = each.key == "large" ? "west" : "east" }
  reconciler        = "r"
  namespace_service = "n"
}

resource "kalypso_secret" "base" {
  name = "base"
  data = {
    PASSWORD = { store = "vault", key = "db", property = "password" }
    TOKEN    = { store = "azure", key = "token" }
    KEY      = { store = "azure", key = "key" }
  }
}

resource "kalypso_secret" "west" {
  name   = "west"
  labels = { region = "west" }
  data   = { PASSWORD = { store = "vault", key = terraform_data.later.output } }
}

locals {
  templates = {
    r = { name = "r", type = "reconciler", manifests = ["# r: {{ .DeploymentTargetName }}"] }
    n = { name = "n", type = "namespace", manifests = ["# n: {{ .Namespace }}"] }
  }
  secrets = {
    base   = kalypso_secret.base
    west   = kalypso_secret.west
    inline = { name = "z", labels = { cluster-type = "small" }, data = { OWN = { store = "own", key = "k" } } }
  }
  policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true }
    }
  }
  yaml = { "secret.yaml" = <<-EOT
    apiVersion: scheduler.kalypso.io/v1alpha1
    kind: PlatformSecret
    metadata: {name: yaml, labels: {workload: app}}
    spec: {data: {FROM_YAML: {store: vault, key: "{{ .Environment }}/yaml"}}}
  EOT
  }
  workloads = { app = { name = "app", deployment_targets = [{ name = "web", environment = "dev" }] } }
}

resource "kalypso_environment_rendering" "this" {
  environment         = "dev"
  cluster_types       = kalypso_cluster_type.all
  templates           = local.templates
  secrets             = local.secrets
  scheduling_policies = local.policies
  workloads           = local.workloads
  manifests           = local.yaml
  delivery            = { strategy = "none", describe = "keys" }
  preview             = "manifests"
}

data "kalypso_assignments" "this" {
  environment         = "dev"
  cluster_types       = kalypso_cluster_type.all
  templates           = local.templates
  secrets             = local.secrets
  scheduling_policies = local.policies
  workloads           = local.workloads
  manifests           = local.yaml
  explain             = true
}
`

// TestAccSecrets: the file of each assignment contains the references that apply to it, even references that were
// unknown at plan. The data source shows where each reference comes from.
func TestAccSecrets(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, map[string]string{"main.tf": secretsRoot})
	planned := r.Succeed("plan", "-no-color").Stdout
	for _, want := range []string{`"large/app-web/platform-secret.yaml" = (known after apply)`,
		`"small/app-web/platform-secret.yaml" = <<-EOT`} {
		if !strings.Contains(planned, want) {
			t.Errorf("the plan does not say %q:\n%s", want, planned)
		}
	}
	r.Apply()
	r.ExpectEmptyPlan()
	state := r.State()
	files, _ := state["kalypso_environment_rendering.this"]["files"].(map[string]any)
	got := map[string]any{}
	for path, content := range files {
		if strings.Contains(path, "platform-secret") {
			got[path] = content
		}
	}
	acc.ExpectYAML(t, "testdata/TestAccSecrets/files.yaml", got)
	explained := map[string]any{}
	all, _ := state["data.kalypso_assignments.this"]["assignments"].([]any)
	for _, a := range all {
		told, _ := a.(map[string]any)
		name, _ := told["cluster_type"].(string)
		explained[name] = map[string]any{"secrets": told["secrets"], "references": told["references"]}
	}
	acc.ExpectYAML(t, "testdata/TestAccSecrets/explained.yaml", explained)

	r.Write("main.tf", strings.Replace(secretsRoot, `key = "token"`, `key = "renamed"`, 1))
	description, _ := r.Plan()["kalypso_environment_rendering.this"].After["description"].(string)
	const want = "### References to secrets\n\n- `base` on 2 deployment targets of `large`, `small`: `TOKEN`\n"
	if !strings.Contains(description, want) {
		t.Errorf("the description does not say %q:\n%s", want, description)
	}
}

// TestAccSecretsBadInput: a reference that no cluster could use fails the plan, with an error that names the object and
// its attribute.
func TestAccSecretsBadInput(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, map[string]string{"main.tf": secretsRoot})
	r.Apply()
	secret := func(data string) string {
		return strings.Replace(secretsRoot, `data = { OWN = { store = "own", key = "k" } }`, "data = { "+data+" }", 1)
	}
	for text, want := range map[string][]string{
		secret(`OWN = { store = "", key = "k" }`): {"Missing store", `secrets["inline"].data["OWN"].store`,
			`The reference "OWN" names no ClusterSecretStore.`},
		secret(`OWN = { store = "own" }`): {"Missing key", `secrets["inline"].data["OWN"].key`,
			`The reference "OWN" lacks the key`},
		secret(`OWN = { store = "own, vault", key = "k"}`): {"Invalid store", `secrets["inline"].data["OWN"].store`,
			"A reference names one ClusterSecretStore."},
		secret(`"a b" = { store = "own", key = "k" }`): {"Invalid secret key", `secrets["inline"].data["a b"]`},
		secret(`PASSWORD = { store = "own", key = "k" }`): {
			"Secret references two stores", `secrets["inline"].data["PASSWORD"].property`, `PlatformSecret "z"`,
			"small / app-web",
		},
		strings.Replace(secretsRoot, `name = "z"`, `name = "Z"`, 1): {"Invalid name", `secrets["inline"].name`,
			`"Z" is not valid`},
		strings.Replace(secretsRoot, "preview             =", `configs = { c = { name = "c", data = { TOKEN = "x" } } }
  preview =`, 1): {
			"Key set by a secret and a config", `secrets["base"].data["TOKEN"]`,
			`The key "TOKEN" is a secret here and a value in the config "c"`,
			"large / app-web", "small / app-web",
		},
		strings.Replace(secretsRoot, "key: \"{{", "store: own, key: \"{{", 1): {"Invalid YAML", "secret.yaml",
			`key "store" already set`},
		strings.Replace(secretsRoot, `namespace_service = "n"`, `namespace_service = "n"
  secret_type = "lost"`, 1): {"Missing template", `The template "lost" does not exist`, "secret_type"},
	} {
		r.Write("main.tf", text)
		r.ExpectError(want, "plan", "-no-color")
	}
}

// clearRoot renders one config. Its placeholders are the config type, the values of TOKEN and of OTHER, and the maximum
// length of TOKEN.
const clearRoot = acc.TerraformBlock + `
variable "value" {
  type      = string
  sensitive = true
}
variable "other" {
  default   = "x"
  sensitive = true
}
variable "guardrail" {
  default = null
}
resource "terraform_data" "later" {
  input = var.other
}
resource "kalypso_environment_rendering" "this" {
  environment         = "dev"
  cluster_types       = { large = { name = "large", reconciler = "r", namespace_service = "n", config_type = %q } }
  templates = {
    r = { name = "r", type = "reconciler", manifests = ["# r: {{ .DeploymentTargetName }}"] }
    n = { name = "n", type = "namespace", manifests = ["# n: {{ .Namespace }}"] }
    f = { name = "f", type = "config", manifests = ["{{ fail .ConfigData.TOKEN }}"] }
  }
  configs = { c = { name = "c", data = { TOKEN = %s, OTHER = %s } } }
  config_schemas      = { s = { name = "s", schema = jsonencode({ properties = { TOKEN = { maxLength = %d } } }) } }
  scheduling_policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true }
    }
  }
  workloads           = { app = { name = "app", deployment_targets = [{ name = "web", environment = "dev" }] } }
  delivery            = { strategy = "none", describe = "values" }
  guardrails          = { secrets = var.guardrail }
}
`

// TestAccSecretValuesInConfigs: a new or changed config value that is plainly a secret fails the plan, unless the
// guardrail allows it. No output contains the value.
func TestAccSecretValuesInConfigs(t *testing.T) {
	t.Parallel()
	token, other := "gh"+"p_"+strings.Repeat("aB3", 12), "gl"+"pat-"+strings.Repeat("aB3", 8)
	root := func(configType string, length int) string {
		return fmt.Sprintf(clearRoot, configType, "var.value", "var.other", length)
	}
	r := acc.NewRoot(t, map[string]string{"main.tf": root("", 1000)})
	as := func(command string, variables ...string) []string {
		args := []string{command, "-no-color"}
		if command == "apply" {
			args = append(args, "-auto-approve")
		}
		for _, v := range variables {
			args = append(args, "-var", v)
		}
		return args
	}
	var outputs []string
	refused := func(args []string, want ...string) {
		t.Helper()
		out := r.Terraform(args...)
		outputs = append(outputs, out.Text())
		want = append(want, "Plain-text secret", `ConfigMap "c"`, `configs["c"].data["TOKEN"]`, "kalypso_secret",
			"guardrails.secrets")
		for _, text := range want {
			if out.Code == 0 || !strings.Contains(out.Text(), text) {
				t.Errorf("it ended with %d; %q is not in the output:\n%s", out.Code, text, out.Text())
			}
		}
	}
	passes := func(args []string, want ...string) {
		t.Helper()
		out := r.Succeed(args...)
		outputs = append(outputs, out.Text())
		for _, text := range want {
			if !strings.Contains(out.Text(), text) {
				t.Errorf("%q is not in the output:\n%s", text, out.Text())
			}
		}
	}
	refused(as("plan", "value="+token), "a GitHub token")
	passes(as("plan", "value=text"))
	// Other errors of the same plan do not contain the value either.
	r.Write("main.tf", root("f", 3))
	refused(as("plan", "value="+token), "Values violate their schema", "Template rendering failed", "(secret)")
	r.Write("main.tf", root("", 1000))

	passes(as("apply", "value="+token, "guardrail=warn"), "Warning: Plain-text secret")
	passes(as("plan", "value="+token, "guardrail=warn"), "No changes.")
	passes(as("plan", "value="+token, "other=y"), "OTHER", "now")
	refused(as("plan", "value="+other), "a GitLab token")
	passes(as("plan", "value="+other, "guardrail=ignore"), "TOKEN", "(secret)")

	// The apply checks a value that is unknown at plan.
	r.Write("main.tf", fmt.Sprintf(clearRoot, "", "terraform_data.later.output", `"y"`, 1000))
	passes(as("plan", "value=x", "other="+other))
	refused(as("apply", "value=x", "other="+other))

	for _, out := range outputs {
		if strings.Contains(out, token) || strings.Contains(out, other) {
			t.Errorf("the output contains a secret:\n%s", out)
		}
	}
}

// TestAccSecretValuesInLogs: no log of any level contains a config value that is plainly a secret. The plan fails
// because of the value, an apply pushes it, and a template fails with it.
func TestAccSecretValuesInLogs(t *testing.T) {
	t.Parallel()
	acc.NeedTerraform(t)
	token := "gh" + "p_" + strings.Repeat("zY8", 12)
	logs, repo := filepath.Join(t.TempDir(), "logs"), gitserver.InitBare(t)
	root := func(configType string) string {
		text := strings.NewReplacer(`strategy = "none", `, "", "  guardrails ", `  create_branch = true
  gitops_repo         = { repo = var.repo, branch = "dev" }
  guardrails `).Replace(clearRoot + "variable \"repo\" {}\n")
		return fmt.Sprintf(text, configType, "var.value", "var.other", 1000)
	}
	r := acc.NewRoot(t, map[string]string{"main.tf": root("")})
	r.StartProviders()
	r.Env = append(r.Env, "TF_CLI_CONFIG_FILE="+recording(t, logs), "TF_LOG=TRACE", "TF_VAR_value="+token,
		"TF_VAR_repo=file://"+repo)
	if out := r.Terraform("plan", "-no-color"); out.Code == 0 {
		t.Error("the plan passes")
	}
	r.Apply("-var=guardrail=warn")
	if tree := gitserver.Tree(t, repo, "dev"); !strings.Contains(tree["large/app-web/platform-config.yaml"], token) {
		t.Errorf("the value was not pushed: %v", tree)
	}
	r.Write("main.tf", root("f"))
	if out := r.Terraform("plan", "-no-color", "-var=guardrail=ignore"); out.Code == 0 {
		t.Error("the plan passes, although the template fails with the value")
	}
	written := acc.ReadFile(t, logs)
	for _, module := range []string{`"@module":"kalypso"`, `"@module":"sdk.framework"`} {
		if !strings.Contains(written, module) {
			t.Errorf("the log has no lines of %s", module)
		}
	}
	for line := range strings.Lines(written + r.Printed.String()) {
		if strings.Contains(line, token) {
			t.Errorf("this line contains the value: %s", line)
		}
	}
}
