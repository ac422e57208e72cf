resource "terraform_data" "later" {
  input = "later"
}

resource "terraform_data" "azure" {
  input = "azure-app-config"
}

resource "terraform_data" "target" {
  input = { name = "test", environment = "dev", labels = { a = "b" } }
}

resource "kalypso_cluster_type" "known" {
  name              = "large"
  reconciler        = "r"
  namespace_service = "n"
}

resource "kalypso_cluster_type" "test" {
  name              = "large"
  labels            = { a = terraform_data.later.output }
  reconciler        = "r"
  namespace_service = "n"
}

resource "kalypso_template" "test" {
  name      = "t"
  type      = "config"
  manifests = ["a", terraform_data.later.output]
}

resource "kalypso_config" "test" {
  name = "c"
  data = { (terraform_data.later.output) = "x" }
}

resource "kalypso_config" "azure" {
  name = terraform_data.azure.output
  data = { "a.b.c" = "d" }
}

resource "kalypso_config_schema" "test" {
  name   = "s"
  schema = jsonencode({ title = terraform_data.later.output })
}

resource "kalypso_scheduling_policy" "test" {
  name                       = "p"
  deployment_target_selector = { match_all = terraform_data.later.output == "later" }
  cluster_type_selector      = { match_labels = { a = terraform_data.later.output } }
}

resource "kalypso_workload" "test" {
  name               = "w"
  workspace          = terraform_data.later.output
  deployment_targets = [terraform_data.target.output, { name = terraform_data.later.output, environment = "dev" }]
}

resource "kalypso_workload_registration" "test" {
  name     = "r"
  workload = { repo = "https://github.com/acme/${terraform_data.later.output}", branch = "main" }
}

resource "kalypso_secret" "test" {
  name = "s"
  data = { A = { store = terraform_data.later.output, key = "k" } }
}

resource "kalypso_secret" "element" {
  name = "s"
  data = { A = terraform_data.later.output == "later" ? { store = "vault", key = "k", property = null } : null }
}
