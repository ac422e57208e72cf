variable "hubs" {
  type = any
}

variable "source_of_clusters" {
  type = any
}

variable "last" {
  type    = any
  default = null
}

variable "gitops_repo" {
  type = any
}

variable "head" {
  type = string
}

provider "kalypso" {
  clusters = var.hubs
}

data "kalypso_clusters" "this" {
  source = var.source_of_clusters
  match = [
    { cluster_type = "large", match_labels = { size = "large" } },
    { cluster_type = "small", match_expressions = [{ key = "size", operator = "In", values = ["small", "tiny"] }] },
  ]
  last     = var.last
  timeouts = { read = "5s" }
}

resource "kalypso_cluster_type" "all" {
  for_each          = data.kalypso_clusters.this.cluster_types
  name              = each.key
  labels            = { clusters = length(each.value.clusters) }
  reconciler        = "reconciler"
  namespace_service = "namespace"
}

# Small clusters run the head, and large ones if they have the label runs.
data "kalypso_deployment_state" "this" {
  gitops_repo = var.gitops_repo
  expected    = data.kalypso_clusters.this.cluster_types
  source = { reports = [for name, c in data.kalypso_clusters.this.clusters : {
    cluster = name, folder = c.cluster_type, revision = "stage@sha1:${var.head}", state = "current"
    time    = plantimestamp()
  } if c.cluster_type == "small" || c.cluster_type == "large" && can(c.labels.runs)] }
}

output "inventory" {
  value = data.kalypso_clusters.this
}

output "cluster_types" {
  value = kalypso_cluster_type.all
}

output "state" {
  value = data.kalypso_deployment_state.this
}

output "decisions" {
  value = provider::kalypso::placement_decisions(
    { large = { shop-web = "0123" }, small = {} }, data.kalypso_clusters.this.cluster_types, { namespace = "fleet" },
  )
}
