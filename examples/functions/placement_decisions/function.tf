# In your configuration: kalypso_environment_rendering.dev.assignments, and data.kalypso_clusters.all.cluster_types.
locals {
  assignments   = { large = { shop-web = "0123456789ab" }, small = { shop-web = "ba9876543210", shop-api = "0a1b2c3d4e5f" } }
  cluster_types = { large = { clusters = ["store-1", "store-2"] }, small = { clusters = ["kiosk-7"] } }
}

# For kubectl apply on the hub. With kubernetes_manifest:
# for_each = { for object in local.decisions : object.metadata.name => object }, and manifest = each.value.
output "decisions" {
  value = join("---\n", [
    for object in provider::kalypso::placement_decisions(local.assignments, local.cluster_types, { namespace = "fleet" }) :
    yamlencode(object)
  ])
}
