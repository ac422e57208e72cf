terraform {
  required_providers {
    kalypso = { source = "terraform-kalypso/kalypso" }
  }
}

provider "kalypso" {
  commit_author = { name = "Platform", email = "platform@example.com" }
}

variable "place" {
  type        = string
  description = "Folder with the repos."
}

variable "region" {
  type    = string
  default = "west"
}

locals {
  gitops_repo = { repo = "file://${var.place}/gitops.git", branch = "stage" }
}

resource "kalypso_cluster_type" "drone" {
  name              = "drone"
  labels            = { kind = "drone" }
  reconciler        = "reconciler"
  namespace_service = "namespace"
}

resource "kalypso_template" "namespace" {
  name = "namespace"
  type = "namespace"
  manifests = [<<-EOT
    apiVersion: v1
    kind: Namespace
    metadata:
      name: "{{ .Namespace }}"
      labels:
        region: "{{ .ConfigData.REGION }}"
  EOT
  ]
}

resource "kalypso_config" "region" {
  name   = "region"
  labels = { kind = "drone" }
  data   = { REGION = var.region }
}

resource "kalypso_scheduling_policy" "all" {
  name                       = "all"
  deployment_target_selector = { match_all = true }
  cluster_type_selector      = { match_all = true }
}

resource "kalypso_workload" "shop" {
  name               = "shop"
  deployment_targets = [{ name = "web", environment = "stage", manifests = { path = "./web" } }]
}

resource "kalypso_environment_rendering" "stage" {
  environment   = "stage"
  gitops_repo   = local.gitops_repo
  create_branch = true

  cluster_types       = { drone = kalypso_cluster_type.drone }
  configs             = { region = kalypso_config.region }
  scheduling_policies = { all = kalypso_scheduling_policy.all }
  workloads           = { shop = kalypso_workload.shop }
  templates = {
    namespace = kalypso_template.namespace
    reconciler = {
      name = "reconciler"
      type = "reconciler"
      manifests = [<<-EOT
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: "{{ .DeploymentTargetName }}"
        data:
          path: {{ .Manifests.path | quote }}
      EOT
      ]
    }
  }
}

data "kalypso_deployment_state" "stage" {
  gitops_repo = local.gitops_repo
  source      = { reports = fileexists("reports.json") ? jsondecode(file("reports.json")) : [] }
  stale_after = "1000000h"
  versions    = true
  depends_on  = [terraform_data.delivered]
}

# The state of the deployment is read once the tree is delivered.
resource "terraform_data" "delivered" {
  input = kalypso_environment_rendering.stage.commit_sha
}

resource "kalypso_deployment_record" "git" {
  deployment = data.kalypso_deployment_state.stage
  store      = { git = { repo = "file://${var.place}/history.git", branch = "history" } }
}

resource "kalypso_deployment_record" "postgres" {
  deployment = data.kalypso_deployment_state.stage
  store      = { postgres = {} }
}

output "commit" {
  value = kalypso_environment_rendering.stage.commit_sha
}
