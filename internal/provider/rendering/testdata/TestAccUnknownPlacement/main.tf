# A rendering for each way in which placement may depend on values that are known after apply, each with a branch of its
# own. The cluster type west comes with the second round. Until then, "web" has only north to choose.

variable "repo" {
  type = string
}

# Another round makes all that follows from the outputs of terraform_data unknown again.
variable "round" {
  type = string
}

variable "require_known" {
  type    = bool
  default = false
}

resource "terraform_data" "round" {
  input = var.round
}

resource "terraform_data" "whole" {
  input = { round = var.round, properties = local.cost, placement = local.number, taints = local.pci }
}

locals {
  moving = terraform_data.round.output # another value in each round
  last   = local.moving == "three"
  still  = substr(local.moving, 0, 0) # empty in each round

  # The same in each round.
  whole_properties = terraform_data.whole.output.properties
  whole_placement  = terraform_data.whole.output.placement
  whole_taints     = terraform_data.whole.output.taints

  cost   = { cost = "1" }
  number = { number_of_cluster_types = 1 }
  cheap  = { number_of_cluster_types = 1, prefer = [{ property = "cost", weight = -1 }] }
  pci    = [{ key = "pci", value = "true", effect = "NoSelect" }]

  # What differs: of the cluster type west, and the placement of the policies "web", which selects north and west, and
  # "batch", which selects east.
  cases = {
    known = { web = local.cheap }

    # Taints.
    taint        = { west = { taints = [{ key = "pci", value = local.moving, effect = "NoSelect" }] } }
    taint_effect = { west = { taints = [{ key = "pci", effect = local.last ? "NoSelectIfNew" : "NoSelect" }] } }
    taints       = { west = { taints = local.whole_taints } }
    taint_tolerated = {
      west = { taints = [{ key = "pci", value = local.moving, effect = "NoSelect" }] }
      web  = { tolerations = [{ operator = "Exists" }] }
    }
    taint_number = {
      west = { taints = [{ key = "pci", value = local.moving, effect = "NoSelect" }] }
      web  = local.number
    }
    taint_unread = {
      west = { taints = [{ key = "pci", value = local.moving, effect = "NoSelect" }] }
      web  = { names = ["north"] }
    }
    toleration = {
      west = { taints = local.pci }
      web  = { tolerations = [{ key = "pci", value = local.last ? "true" : "false" }] }
    }
    toleration_unread = { web = { tolerations = [{ key = "pci", value = local.moving }] } }
    taint_and_toleration = {
      west = { taints = [{ key = "pci", value = local.moving, effect = "NoSelect" }] }
      web  = { tolerations = [{ key = "pci", value = "three${local.still}" }] }
    }

    # Properties and labels.
    property        = { west = { properties = { cost = local.last ? "9" : "0" } }, web = local.cheap }
    property_unread = { west = { properties = { cost = local.last ? "9" : "0" } }, web = local.number }
    properties      = { west = { properties = local.whole_properties }, web = local.cheap }
    label = {
      west = { labels = { region = "west", zone = "1${local.still}" } }
      web  = { number_of_cluster_types = 2, spread = [{ key = "zone" }] }
    }
    label_unread = { west = { labels = { region = "west", zone = "1${local.still}" } }, web = local.number }

    # The placement itself.
    number = { web = { number_of_cluster_types = local.last ? 2 : 1 } }
    names  = { web = { names = ["${local.still}north"] } }
    weight = {
      web = { number_of_cluster_types = 1, prefer = [{ property = "cost", weight = local.last ? 1 : -1 }] }
    }
    preference = { web = { number_of_cluster_types = 1, prefer = [{ property = "cost${local.still}" }] } }
    skew       = { web = { number_of_cluster_types = 2, spread = [{ key = "zone", max_skew = local.last ? 2 : 1 }] } }
    spread_key = { web = { number_of_cluster_types = 2, spread = [{ key = "zone${local.still}" }] } }
    unsatisfied = {
      web = {
        number_of_cluster_types = 2
        spread = [{
          key                = "zone"
          when_unsatisfiable = local.last ? "ScheduleAnyway" : "DoNotSchedule"
        }]
      }
    }
    generation = { web = { number_of_cluster_types = 1, generation = local.moving } }
    placement  = { web = local.whole_placement }
    name       = { web = local.number, name = "web${local.still}" }

    # The decisions of a policy that has nothing to place.
    decisions = { idle = { number_of_cluster_types = local.last ? null : 1 } }

    # Where a policy balances, all that have a number are coupled.
    balance = {
      west  = { properties = { cost = local.last ? "9" : "0" } }
      web   = local.cheap
      batch = { number_of_cluster_types = 1, prefer = [{ balance = true }] }
    }
  }

  east  = { region = "east", zone = "2" }
  north = { region = "north", zone = "1" }
  west  = { labels = { region = "west", zone = "1" }, properties = local.cost }
  kind  = { reconciler = "reconciler", namespace_service = "namespace" }
}

resource "kalypso_environment_rendering" "case" {
  for_each = {
    for name, differs in local.cases :
    name => merge({ west = {}, name = "web", web = null, batch = null, idle = null }, differs)
  }
  environment = "dev"
  cluster_types = merge(
    {
      east  = merge(local.kind, { name = "east", labels = local.east })
      north = merge(local.kind, { name = "north", labels = local.north, properties = { cost = "5" } })
    },
    var.round == "one" ? {} : { west = merge(local.kind, { name = "west" }, local.west, each.value.west) },
  )
  templates = { for type in ["reconciler", "namespace"] : type => {
    name = type, type = type, manifests = ["# name: {{ .DeploymentTargetName }}\n"]
  } }
  scheduling_policies = {
    web = {
      name                       = each.value.name
      deployment_target_selector = { match_labels = { team = "web" } }
      cluster_type_selector = {
        match_expressions = [{ key = "region", operator = "In", values = ["north", "west"] }]
      }
      placement = each.value.web
    }
    idle = {
      name                       = "idle"
      deployment_target_selector = { match_labels = { team = "none" } }
      cluster_type_selector      = { match_all = true }
      placement                  = each.value.idle
    }
    batch = {
      name                       = "batch"
      deployment_target_selector = { match_labels = { team = "batch" } }
      cluster_type_selector      = { match_labels = { region = "east" } }
      placement                  = each.value.batch
    }
  }
  workloads = { for name, team in { hello = "web", job = "batch" } : name => {
    name = name, labels = { team = team }, deployment_targets = [{ name = "main", environment = "dev" }]
  } }
  gitops_repo   = { repo = var.repo, branch = each.key }
  guardrails    = { max_removed = "100%", moved = "ignore", unsatisfied = "ignore", require_known = var.require_known }
  create_branch = true
}
