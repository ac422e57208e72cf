# The dashboards of Microsoft's hub as outputs, from the recorded deployments.
variable "cluster" {
  description = "The cluster that the output cluster_state shows."
  type        = string
  default     = "prod-1"
}

data "kalypso_deployment_history" "ran" {
  for_each    = toset(["dev", "prod"])
  gitops_repo = { repo = var.gitops_url, branch = each.key }
  store       = local.store
  since       = "24h"
  limit       = 1000
  depends_on  = [kalypso_deployment_record.this]
}

locals {
  # Entries for the folders of cluster types have an empty deployment target.
  versions = flatten([for environment, history in data.kalypso_deployment_history.ran : [
    for v in history.versions : merge(v, { environment = environment }) if v.deployment_target != ""
  ]])
  runs = flatten([for environment, history in data.kalypso_deployment_history.ran : [
    for r in history.runs : merge(r, { environment = environment }) if r.deployment_target != ""
  ]])
}

# Environments State: which versions run, in which state, on how many clusters.
output "environments_state" {
  value = { for v in local.versions : "${v.environment} ${v.deployment_target}" =>
    "${coalesce(v.version, "none")}: ${v.state} on ${v.clusters}"...
  }
}

# Environment Discrepancies: deployment targets whose versions differ between environments.
output "discrepancies" {
  value = {
    for target in distinct(local.versions[*].deployment_target) : target => {
      for v in local.versions : v.environment => v.version... if v.deployment_target == target
    } if length(distinct([for v in local.versions : v.version if v.deployment_target == target])) > 1
  }
}

# Cluster State: what one cluster runs.
output "cluster_state" {
  value = {
    for r in local.runs : r.deployment_target => { version = r.version, state = r.state }
    if r.cluster == var.cluster && r.until == null
  }
}

# Environment History: the versions of each deployment target, newest first.
output "environment_history" {
  value = { for r in local.runs : "${r.environment} ${r.deployment_target}" =>
    "${r.cluster}: ${coalesce(r.version, "none")} ${r.state}"...
  }
}
