# The environments, their repos, and where the provider reads what their clusters run: for all root modules.
variable "reports" {
  description = "The absolute path of a folder with a file of reports for each environment, instead of the sources in fleet.yaml. Null means the sources."
  type        = string
  default     = null
}

locals {
  environments = yamldecode(file("${path.module}/../fleet.yaml")).environments
}

output "environments" {
  description = "The names of the environments, in the order of promotion."
  value       = local.environments[*].name
}

output "before" {
  description = "For each environment, the one before it in a list, which is empty for the first."
  value = {
    for i, environment in local.environments : environment.name => slice(local.environments[*].name, max(i - 1, 0), i)
  }
}

output "repos" {
  description = "The repos of each environment, as its BaseRepo and its GitOpsRepo name them."
  value = {
    for name in local.environments[*].name : name => {
      for document in split("\n---\n", file("${path.module}/../environments/${name}/repos.yaml")) :
      yamldecode(document).kind => yamldecode(document).spec
    }
  }
}

output "sources" {
  description = "The source of the clusters' states, for each environment."
  value = { for environment in local.environments : environment.name => {
    fleet   = environment.clusters
    reports = { reports = jsondecode(try(file("${var.reports}/${environment.name}.json"), "[]")) } # no file: no reports yet
  }[var.reports == null ? "fleet" : "reports"] }
}
