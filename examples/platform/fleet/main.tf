# The environments, their repos, and where the provider reads what their clusters run: for all root modules.
variable "reports" {
  description = "A folder with a file of reports for each environment, instead of the sources in fleet.yaml. Null means the sources."
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
    reports = { reports = try(jsondecode(file("${var.reports}/${environment.name}.json")), []) }
  }[var.reports == null ? "fleet" : "reports"] }
}
