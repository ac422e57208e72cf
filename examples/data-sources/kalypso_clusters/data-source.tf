# The hubs. A cluster is contacted only if a data source lists it.
variable "hub_kubeconfig" {
  type      = string
  sensitive = true
}

provider "kalypso" {
  clusters = { hub = { kubeconfig = var.hub_kubeconfig } }
}

data "kalypso_clusters" "all" {
  source = {
    kubernetes = [
      { cluster = "hub", kind = "cluster_profile" },
      { cluster = "hub", kind = "argocd", namespaces = ["argocd"] },
    ]
    clusters = { store-17 = { labels = { region = "west" } } } # that this configuration creates
  }

  match = [ # the first that matches
    { cluster_type = "large", match_labels = { size = "large" } },
    { cluster_type = "store", match_expressions = [{ key = "region", operator = "In", values = ["west", "east"] }] },
  ]
}

# A cluster type for each rule.
resource "kalypso_cluster_type" "all" {
  for_each          = data.kalypso_clusters.all.cluster_types
  name              = each.key
  reconciler        = "flux"
  namespace_service = "namespace"
}

# Every cluster must run the folder of its cluster type.
data "kalypso_deployment_state" "dev" {
  gitops_repo = { repo = "https://github.com/acme/gitops", branch = "dev" }
  expected    = data.kalypso_clusters.all.cluster_types
  source      = { reports = jsondecode(file("${path.module}/reports.json")) }
}

output "unmatched" {
  value = data.kalypso_clusters.all.unmatched
}
