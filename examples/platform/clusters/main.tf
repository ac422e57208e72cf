# Where the provider reads what the clusters of each environment run.
variable "fleet" {
  description = "The content of fleet.yaml."
  type        = any
}

variable "reports" {
  description = "A folder with a file of reports for each environment, instead of the sources in fleet.yaml. Null means the sources."
  type        = string
  default     = null
}

output "sources" {
  value = { for environment in var.fleet.environments : environment.name => {
    fleet   = environment.clusters
    reports = { reports = try(jsondecode(file("${var.reports}/${environment.name}.json")), []) }
  }[var.reports == null ? "fleet" : "reports"] }
}
