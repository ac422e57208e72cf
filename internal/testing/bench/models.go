package main

// modelConfiguration is a root module that declares a fleet as model resources with for_each.
const modelConfiguration = `terraform {
  required_providers {
    kalypso = { source = "terraform-kalypso/kalypso" }
  }
}

resource "kalypso_template" "all" {
  for_each = { flux = "reconciler", ns = "namespace", cm = "config" }
  name     = each.key
  type     = each.value
  manifests = [join("\n", [
    "apiVersion: v1", "kind: ConfigMap",
    "metadata: { name: {{ .DeploymentTargetName }}-${each.key}, namespace: {{ .Namespace }} }", "data:",
    "{{ toYaml .ConfigData | indent 2 }}", "",
  ])]
}

resource "kalypso_cluster_type" "all" {
  for_each          = { for i in range(50) : format("cluster-%%02d", i) => i }
  name              = each.key
  labels            = { region = "r${each.value %% 5}", size = "s${each.value %% 3}", pool = "p${each.value %% 20}" }
  reconciler        = kalypso_template.all["flux"].name
  namespace_service = kalypso_template.all["ns"].name
  config_type       = kalypso_template.all["cm"].name
}

resource "kalypso_config" "all" {
  for_each = { for i in range(100) : format("config-%%03d", i) => i }
  name     = each.key
  labels = (each.value %% 2 == 0 ? { region = "r${each.value %% 5}" } :
  { cluster-type = format("cluster-%%02d", each.value %% 50) })
  data = { for k in range(10) : "KEY_${k}" => "value ${k} of ${each.key}" }
}

resource "kalypso_workload" "all" {
  for_each  = { for i in range(100) : format("app-%%03d", i) => i }
  name      = each.key
  workspace = "team-${each.value %% 10}"
  labels    = { family = "f${each.value %% 20}" }
  deployment_targets = [for t in ["test", "perf", "uat"] : {
    name        = t
    environment = "dev"
    labels      = { purpose = t }
    manifests   = { repo = "https://github.com/example/${each.key}", branch = "dev", path = "./${t}" }
  }]
}

resource "kalypso_scheduling_policy" "all" {
  for_each                   = { for i in range(20) : format("policy-%%02d", i) => i }
  name                       = each.key
  deployment_target_selector = { match_labels = { family = "f${each.value}" } }
  cluster_type_selector      = { match_labels = { pool = "p${each.value}" } }
}

resource "kalypso_environment_rendering" "this" {
  environment         = "dev"
  cluster_types       = kalypso_cluster_type.all
  templates           = kalypso_template.all
  configs             = kalypso_config.all
  scheduling_policies = kalypso_scheduling_policy.all
  workloads           = kalypso_workload.all
  gitops_repo         = { repo = "file://%s", branch = "dev" }
  create_branch       = true
}
`
