# A rendering for each way in which an argument may not be known at plan, each with a branch of its own.

variable "repo" {
  type = string
}

# Another round makes all that follows from the outputs of terraform_data unknown again.
variable "round" {
  type = string
}

resource "terraform_data" "round" {
  input = var.round
}

resource "terraform_data" "base" {
  input = { round = var.round, base = local.base }
}

locals {
  moving = terraform_data.round.output     # another value in each round
  still  = substr(local.moving, 0, 0)      # empty in each round
  yes    = local.still == ""               # true in each round
  whole  = terraform_data.base.output.base # the same in each round

  base = {
    environment = "dev"
    cluster_types = {
      a = {
        name              = "a"
        labels            = { region = "west" }
        reconciler        = "reconciler"
        namespace_service = "namespace"
        config_type       = "config"
      }
      b = {
        name              = "b"
        labels            = { region = "east" }
        reconciler        = "reconciler"
        namespace_service = "namespace"
        config_type       = "config"
      }
    }
    templates = {
      reconciler = { name = "reconciler", type = "reconciler", manifests = ["# repo: {{ .Manifests.repo }}\n"] }
      namespace  = { name = "namespace", type = "namespace", manifests = ["# name: {{ .Namespace }}\n"] }
      config     = { name = "config", type = "config", manifests = ["# data: {{ .ConfigData.A }}{{ .ConfigData.B }}\n"] }
    }
    configs = {
      all = { name = "all", labels = {}, data = { A = "1", B = "2" } }
    }
    config_schemas = {
      schema = { name = "schema", schema = jsonencode({ type = "object" }) }
    }
    scheduling_policies = {
      policy = {
        name                       = "policy"
        deployment_target_selector = { match_labels = { purpose = "test" } }
        cluster_type_selector = {
          match_expressions = [{ key = "region", operator = "In", values = ["west", "east"] }]
        }
      }
    }
    workloads = {
      hello = {
        name = "hello"
        deployment_targets = [
          { name = "test", environment = "dev", labels = { purpose = "test" }, manifests = { repo = "r" } },
          { name = "idle", environment = "dev", labels = { purpose = "idle" }, manifests = { repo = "r" } },
        ]
      }
    }
    manifests       = {}
    promoted_commit = "c0"
    gitops_repo     = { repo = var.repo, branch = null, path = "." }
    delivery        = { strategy = "push" }
    guardrails      = { max_removed = "100%", allow_empty = true, emptied = "ignore", orphaned = "ignore", unscheduled = "ignore" }
    adopt           = false
    on_drift        = "fail"
    preview         = "manifests"
    create_branch   = true
    commit_message  = null
    timeouts        = {}
  }

  # What differs from the base.
  cases = {
    known = {}

    # A value of a config, or what it applies to.
    config_value = { configs = merge(local.base.configs, { late = kalypso_config.late }) }
    config_same = {
      configs = merge(
        local.base.configs,
        { late = { name = "late", labels = { cluster-type = "b" }, data = { B = "${local.still}2" } } },
      )
    }
    config_decides = {
      configs = { all = { name = "all", data = { A = local.moving } } }
      templates = merge(
        local.base.templates,
        { config = { name = "config", type = "config", manifests = ["{{ if eq .ConfigData.A \"one\" }}# x{{ end }}"] } },
      )
    }
    config_label = {
      configs = merge(
        local.base.configs,
        { late = { name = "late", labels = { region = "${local.still}east" }, data = { B = "3" } } },
      )
    }
    config_name = {
      configs = merge(
        local.base.configs,
        { late = { name = "late-${local.moving}", labels = { cluster-type = "b" }, data = { B = "3" } } },
      )
    }
    config_map = { configs = local.whole.configs }
    schema = {
      config_schemas = { schema = { name = "schema", schema = jsonencode({ type = "object", title = local.moving }) } }
    }
    schema_map = { config_schemas = local.whole.config_schemas }

    # Templates, and what they read.
    template_text = {
      templates = merge(
        local.base.templates,
        { namespace = { name = "namespace", type = "namespace", manifests = ["# x: ${local.moving}\n"] } },
      )
    }
    template_name = {
      templates = merge(
        local.base.templates,
        { config = merge(local.base.templates.config, { name = "config${local.still}" }) },
      )
    }
    template_map = { templates = local.whole.templates }
    template_ref = {
      cluster_types = merge(
        local.base.cluster_types,
        { b = merge(local.base.cluster_types.b, { config_type = "config${local.still}" }) },
      )
    }
    manifest_value = { workloads = { hello = { name = "hello", deployment_targets = [
      { name = "test", environment = "dev", labels = { purpose = "test" }, manifests = { repo = local.moving } },
    ] } } }

    # What decides the assignments.
    environment = { environment = "${local.still}dev" }
    cluster_label = {
      cluster_types = merge(
        local.base.cluster_types,
        { b = merge(local.base.cluster_types.b, { labels = { region = local.moving == "one" ? "east" : "north" } }) },
      )
    }
    cluster_config = {
      cluster_types = merge(
        local.base.cluster_types,
        { b = merge(local.base.cluster_types.b, { labels = { region = "east", zone = local.moving } }) },
      )
      configs = merge(
        local.base.configs,
        { zone = { name = "zone", labels = { zone = "one" }, data = { B = "3" } } },
      )
    }
    cluster_unread = {
      cluster_types = merge(
        local.base.cluster_types,
        { b = merge(local.base.cluster_types.b, { labels = { region = "east", zone = local.moving } }) },
      )
    }
    cluster_name = {
      cluster_types = merge(
        local.base.cluster_types,
        { b = merge(local.base.cluster_types.b, { name = "b-${local.moving}" }) },
      )
    }
    cluster_map = { cluster_types = local.whole.cluster_types }
    cluster_keys = {
      cluster_types = { for name in toset([local.moving]) : name => merge(local.base.cluster_types.a, { name = name }) }
    }
    target_label = {
      workloads = {
        hello = {
          name = "hello"
          deployment_targets = [
            {
              name        = "test"
              environment = "dev"
              labels      = { purpose = local.moving == "two" ? "idle" : "test" }
              manifests   = { repo = "r" }
            },
          ]
        }
      }
    }
    target_one = {
      workloads = { hello = { name = "hello", deployment_targets = [
        {
          name        = "test"
          environment = "dev"
          labels      = { purpose = "test", tier = "iron" }
          manifests   = { repo = "r" }
        },
        {
          name        = "idle"
          environment = "dev"
          labels      = { purpose = "idle", tier = local.moving == "one" ? "gold" : "iron" }
          manifests   = { repo = "r" }
        },
      ] } }
      scheduling_policies = merge(local.base.scheduling_policies, { gold = {
        name                       = "gold"
        deployment_target_selector = { match_labels = { tier = "gold" } }
        cluster_type_selector      = { match_labels = { region = "west" } }
      } })
    }
    target_read = {
      workloads = {
        hello = {
          name = "hello"
          deployment_targets = [
            {
              name        = "test"
              environment = "dev"
              labels      = { purpose = "test", tier = local.moving }
              manifests   = { repo = "r" }
            },
          ]
        }
      }
      templates = merge(
        local.base.templates,
        {
          namespace = {
            name      = "namespace"
            type      = "namespace"
            manifests = ["# name: {{ .Namespace }}\n# tier: {{ .Labels.tier }}\n"]
          }
        },
      )
    }
    target_unread = {
      workloads = {
        hello = {
          name = "hello"
          deployment_targets = [
            {
              name        = "test"
              environment = "dev"
              labels      = { purpose = "test", tier = local.moving }
              manifests   = { repo = "r" }
            },
          ]
        }
      }
    }
    target_name = {
      workloads = {
        hello = {
          name = "hello"
          deployment_targets = [
            { name = local.moving, environment = "dev", labels = { purpose = "test" }, manifests = { repo = "r" } },
          ]
        }
      }
    }
    target_list = {
      workloads = { hello = { name = "hello", deployment_targets = local.whole.workloads.hello.deployment_targets } }
    }
    target_elsewhere = {
      workloads = merge(
        local.base.workloads,
        { other = { name = "other", deployment_targets = [{ name = local.moving, environment = "stage" }] } },
      )
    }
    workload_name = { workloads = { hello = merge(local.base.workloads.hello, { name = local.moving }) } }
    workload_map  = { workloads = local.whole.workloads }
    policy_selector = {
      scheduling_policies = {
        policy = merge(
          local.base.scheduling_policies.policy,
          { deployment_target_selector = { match_labels = { purpose = "test${local.still}" } } },
        )
      }
    }
    policy_map     = { scheduling_policies = local.whole.scheduling_policies }
    manifests_text = { manifests = { late = "# ${local.moving}\n" } }
    manifests_keys = { manifests = { "late-${local.moving}" = "# nothing\n" } }
    manifests_map  = { manifests = local.whole.manifests }

    # Where the tree goes, and how.
    promoted_commit = { promoted_commit = local.moving }
    repo            = { gitops_repo = merge(local.base.gitops_repo, { repo = "${local.still}${var.repo}" }) }
    branch          = { gitops_repo = merge(local.base.gitops_repo, { branch = "branch${local.still}" }) }
    path            = { gitops_repo = merge(local.base.gitops_repo, { path = "below/${local.moving}" }) }
    path_same       = { gitops_repo = merge(local.base.gitops_repo, { path = "below${local.still}" }) }
    gitops_repo     = { gitops_repo = merge(local.whole.gitops_repo, { branch = "gitops_repo" }) }
    strategy        = { delivery = { strategy = "push${local.still}" } }
    strategy_ends   = { delivery = { strategy = local.moving == "two" ? "none" : "push" } }
    delivery        = { delivery = local.whole.delivery }
    guardrails      = { guardrails = local.whole.guardrails }
    guardrail_flags = {
      guardrails = {
        max_removed   = "100%${local.still}"
        allow_empty   = local.yes
        require_known = !local.yes
        emptied       = "ignore${local.still}"
        orphaned      = "ignore${local.still}"
        unscheduled   = "ignore${local.still}"
      }
    }
    flags = { adopt = local.yes, create_branch = local.yes }
    # The path moves while adopt is not known: what is known of the plan must say so.
    flags_moving = { adopt = local.yes, gitops_repo = merge(local.base.gitops_repo, { path = "below/${var.round}" }) }
    preview      = { preview = "manifests${local.still}" }
    preview_summary = {
      preview = "summary"
      adopt   = local.yes
      configs = merge(local.base.configs, { late = kalypso_config.late })
    }
    preview_none = {
      preview   = "none"
      workloads = { hello = merge(local.base.workloads.hello, { name = local.moving }) }
    }
    others = {
      on_drift       = "fail${local.still}"
      commit_message = local.moving
      timeouts       = { create = "9m${local.still}", update = "9m${local.still}" }
    }
  }

  arguments = { for name, differs in local.cases : name => merge(local.base, differs) }
}

resource "kalypso_config" "late" {
  name   = "late"
  labels = { cluster-type = "b" }
  data   = { B = local.moving }
}

resource "kalypso_environment_rendering" "case" {
  for_each = local.arguments

  environment         = each.value.environment
  cluster_types       = each.value.cluster_types
  templates           = each.value.templates
  configs             = each.value.configs
  config_schemas      = each.value.config_schemas
  scheduling_policies = each.value.scheduling_policies
  workloads           = each.value.workloads
  manifests           = each.value.manifests
  gitops_repo         = merge(each.value.gitops_repo, { branch = coalesce(each.value.gitops_repo.branch, each.key) })
  promoted_commit     = each.value.promoted_commit
  delivery            = each.value.delivery
  guardrails          = each.value.guardrails
  adopt               = each.value.adopt
  on_drift            = each.value.on_drift
  preview             = each.value.preview
  create_branch       = each.value.create_branch
  commit_message      = each.value.commit_message
  timeouts            = each.value.timeouts
}
