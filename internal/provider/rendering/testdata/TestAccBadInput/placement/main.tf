resource "kalypso_environment_rendering" "this" {
  environment = "dev"
  delivery    = { strategy = "none" }
  cluster_types = {
    small = {
      name              = "small"
      reconciler        = "all"
      namespace_service = "all"
      taints            = [{ key = "pci" }]
      properties        = { cpu = "?" }
    }
  }
  templates = { all = { name = "all", type = "reconciler", manifests = ["a: b"] } }
  scheduling_policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true }
      placement = {
        number_of_cluster_types = 0
        names                   = ["smal"]
        tolerations             = [{ value = "true" }]
        prefer                  = [{ property = "cpu", weight = 11 }, { weight = 1 }]
        spread                  = [{ key = "zone" }, { key = "region", max_skew = 0 }]
      }
    }
  }
  manifests = {
    "policy.yaml" = <<-EOT
      apiVersion: scheduler.kalypso.io/v1alpha1
      kind: SchedulingPolicy
      metadata:
        name: yaml
        annotations:
          kalypso.io/placement: |
            numberOfClusterTypes: 0
            spread: [{key: zone}]
      spec:
        deploymentTargetSelector: {}
        clusterTypeSelector: {}
    EOT
    "broken.yaml" = <<-EOT
      apiVersion: scheduler.kalypso.io/v1alpha1
      kind: SchedulingPolicy
      metadata:
        name: broken
        annotations:
          kalypso.io/placement: "{numberOfClusterType: 2}"
      spec:
        deploymentTargetSelector: {}
        clusterTypeSelector: {}
    EOT
  }
}
