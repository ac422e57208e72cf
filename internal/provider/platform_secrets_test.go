package provider_test

import (
	"strings"
	"testing"
)

// secretsRoot renders references of resources, of objects in place and of YAML, and explains them.
const secretsRoot = terraformBlock + `
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
    r = { name = "r", type = "reconciler", manifests = ["r: {{ .DeploymentTargetName }}"] }
    n = { name = "n", type = "namespace", manifests = ["n: {{ .Namespace }}"] }
  }
  secrets  = { base = kalypso_secret.base, west = kalypso_secret.west, inline = { name = "z", labels = { cluster-type = "small" }, data = { OWN = { store = "own", key = "k" } } } }
  policies = { all = { name = "all", deployment_target_selector = { match_all = true }, cluster_type_selector = { match_all = true } } }
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

// TestAccSecrets: references come to the file of each assignment that they apply to, those that are not known yet too, and
// the data source tells where each comes from.
func TestAccSecrets(t *testing.T) {
	t.Parallel()
	r := newRoot(t, map[string]string{"main.tf": secretsRoot})
	planned := r.succeed("plan", "-no-color").stdout
	for _, want := range []string{`"large/app-web/platform-secret.yaml" = (known after apply)`, `"small/app-web/platform-secret.yaml" = <<-EOT`} {
		if !strings.Contains(planned, want) {
			t.Errorf("the plan does not say %q:\n%s", want, planned)
		}
	}
	r.apply()
	r.expectEmptyPlan()
	state := r.state()
	files, _ := state["kalypso_environment_rendering.this"]["files"].(map[string]any)
	got := map[string]any{}
	for path, content := range files {
		if strings.Contains(path, "platform-secret") {
			got[path] = content
		}
	}
	expectYAML(t, "testdata/TestAccSecrets/files.yaml", got)
	explained := map[string]any{}
	all, _ := state["data.kalypso_assignments.this"]["assignments"].([]any)
	for _, a := range all {
		told, _ := a.(map[string]any)
		name, _ := told["cluster_type"].(string)
		explained[name] = map[string]any{"secrets": told["secrets"], "references": told["references"]}
	}
	expectYAML(t, "testdata/TestAccSecrets/explained.yaml", explained)
}

// TestAccSecretsBadInput: what no cluster could use is an error of the plan, on the object and its attribute.
func TestAccSecretsBadInput(t *testing.T) {
	t.Parallel()
	r := newRoot(t, map[string]string{"main.tf": secretsRoot})
	r.apply()
	secret := func(data string) string {
		return strings.Replace(secretsRoot, `data = { OWN = { store = "own", key = "k" } }`, "data = { "+data+" }", 1)
	}
	for text, want := range map[string][]string{
		secret(`OWN = { store = "", key = "k" }`):          {"Missing store", `secrets["inline"].data["OWN"].store`, `The reference "OWN" names no ClusterSecretStore.`},
		secret(`OWN = { store = "own" }`):                  {"Missing key", `secrets["inline"].data["OWN"].key`, `The reference "OWN" names no key`},
		secret(`OWN = { store = "own, vault", key = "k"}`): {"Invalid store", `secrets["inline"].data["OWN"].store`, "A reference names one ClusterSecretStore."},
		secret(`"a b" = { store = "own", key = "k" }`):     {"Invalid secret key", `secrets["inline"].data["a b"]`},
		secret(`PASSWORD = { store = "own", key = "k" }`): {
			"Reference to two stores", `secrets["inline"].data["PASSWORD"].property`, `PlatformSecret "z"`, "small / app-web",
		},
		strings.Replace(secretsRoot, `name = "z"`, `name = "Z"`, 1): {"Invalid name", `secrets["inline"].name`, `"Z" is not valid`},
		strings.Replace(secretsRoot, "preview             =", `configs = { c = { name = "c", data = { TOKEN = "x" } } }
  preview =`, 1): {
			"Secret and config of one key", `secrets["base"].data["TOKEN"]`, `The key "TOKEN" is a secret here and a value in the config "c"`,
			"large / app-web", "small / app-web",
		},
		strings.Replace(secretsRoot, "key: \"{{", "store: own, key: \"{{", 1): {"Invalid YAML", "secret.yaml", `key "store" already set`},
		strings.Replace(secretsRoot, `namespace_service = "n"`, `namespace_service = "n"
  secret_type = "lost"`, 1): {"Missing template", `The template "lost" does not exist`, "secret_type"},
	} {
		r.write("main.tf", text)
		r.expectError(want, "plan", "-no-color")
	}
}
