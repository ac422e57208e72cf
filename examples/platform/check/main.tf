# Shows the team of a registration where its Workload runs in each environment, and why it does not run elsewhere,
# before a change is merged. It reads this repo and the team's, and writes nothing.
terraform {
  required_version = ">= 1.8"

  required_providers {
    kalypso = {
      source = "terraform-kalypso/kalypso"
    }
  }
}

provider "kalypso" {}

variable "registration" {
  description = "The name of the team's WorkloadRegistration in base/registrations."
  type        = string
}

variable "commit" {
  description = "The commit of the team's repo to check: the full hash. Null means the head of the registered branch."
  type        = string
  default     = null
}

module "fleet" {
  source = "../fleet"
}

locals {
  environments = module.fleet.environments
  hint         = "/ \\(did you mean [^)]*\\)/" # a hint compares with the labels of all teams, and this reads one team
  registrations = {
    for key, text in data.kalypso_control_plane.all[local.environments[0]].manifests :
    yamldecode(text).metadata.name => yamldecode(text).spec if yamldecode(text).kind == "WorkloadRegistration"
  }
  mine = { for name, spec in local.registrations : name => merge({ name = name }, spec) if name == var.registration }

  targets = flatten([for text in values(data.kalypso_workloads.mine.manifests) : [
    for target in try(yamldecode(text).spec.deploymentTargets, []) :
    { name = "${yamldecode(text).metadata.name}-${target.name}", environment = target.environment }
  ]])
  strays = [for target in local.targets : target if !contains(local.environments, target.environment)]

  # What the Workload requires of itself must be there. The other teams' Workloads are not read.
  workloads = [for text in values(data.kalypso_workloads.mine.manifests) : yamldecode(text).metadata.name]
  missing = { for name in local.environments : name => flatten([
    for a in data.kalypso_assignments.all[name].assignments : [
      for r in a.requires : "**${a.deployment_target} on ${a.cluster_type} requires ${join("-", compact([r.workload, r.deployment_target]))}:** ${replace(r.missing, local.hint, "")}"
      if r.missing != null && try(contains(local.workloads, r.workload), false)
    ]
  ]) }

  # A team that fails in an environment fails the check.
  broken = { for name in local.environments : name => concat(
    [for u in data.kalypso_assignments.all[name].unscheduled : u.deployment_target],
    [for f in data.kalypso_assignments.all[name].failed : f.deployment_target],
  ) }
}

# The platform's objects in this checkout. The other teams' repos are not read.
data "kalypso_control_plane" "all" {
  for_each             = toset(local.environments)
  directory            = "${path.module}/../environments/${each.key}"
  base_directory       = "${path.module}/../base"
  follow_registrations = false
}

data "kalypso_workloads" "mine" {
  registrations = local.mine
  pins          = { for name, spec in local.mine : name => var.commit }

  lifecycle {
    precondition {
      condition     = length(local.mine) == 1
      error_message = "There is no registration ${var.registration}. There are: ${join(", ", keys(local.registrations))}."
    }
  }
}

# Each deployment target on each cluster type: whether it runs there, and why.
data "kalypso_assignments" "all" {
  for_each    = toset(local.environments)
  environment = each.key
  manifests   = merge(data.kalypso_control_plane.all[each.key].manifests, data.kalypso_workloads.mine.manifests)
  why = flatten([
    for text in values(data.kalypso_workloads.mine.manifests) : [
      for target in yamldecode(text).spec.deploymentTargets : [
        for type in data.kalypso_control_plane.all[each.key].names["ClusterType"] :
        { target = "${yamldecode(text).metadata.name}-${target.name}", cluster_type = type }
      ] if target.environment == each.key
    ]
  ])
}

output "passed" {
  description = "Whether there are deployment targets, each runs somewhere, renders, and has what it requires of its own Workload."
  value       = length(local.targets) > 0 && length(flatten([local.strays, values(local.missing), values(local.broken)])) == 0
}

output "summary" {
  description = "The placement, as Markdown."
  value = join("\n", flatten([
    [for name in local.environments : [
      "## ${var.registration} in ${name}", "",
      "| deployment target | cluster type | runs there | why |", "|---|---|---|---|",
      [for a in data.kalypso_assignments.all[name].answers :
        "| ${a.target} | ${a.cluster_type} | ${a.assigned ? "yes" : "no"} | ${replace(a.reason, local.hint, "")} |"
      ],
      "",
      [for u in data.kalypso_assignments.all[name].unscheduled : ["**${u.deployment_target} runs nowhere.**", ""]],
      [for f in data.kalypso_assignments.all[name].failed : [
        "**${f.deployment_target} fails on ${coalesce(f.cluster_type, "all cluster types")}:** ${f.reason}", "",
      ]],
      [for text in local.missing[name] : [text, ""]],
    ]],
    length(local.targets) == 0 ? ["**The Workload has no deployment targets.**", ""] : [],
    [for t in local.strays : [
      "**${t.name} is for environment ${t.environment}, which does not exist.** There are: ${join(", ", local.environments)}.", "",
    ]],
  ]))
}
