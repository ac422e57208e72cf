# One fleet with many small errors, each in its own rendering: the rendering that takes an object reports its errors.

locals {
  cluster_types = { large = { name = "large", reconciler = "argocd", namespace_service = "namespace" } }
  templates = {
    argocd    = { name = "argocd", type = "reconciler", manifests = ["name: {{ .DeploymentTargetName }}"] }
    namespace = { name = "namespace", type = "namespace", manifests = ["name: {{ .Namespace }}"] }
  }
  policies = {
    all = {
      name                       = "all"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true }
    }
  }
  workloads = { hello = { name = "hello", deployment_targets = [{ name = "app", environment = "dev" }] } }
}

variable "nothing" {
  type    = map(string)
  default = null
}

variable "template" {
  type    = string
  default = "kind: A\n---\nname: {{ .Namespace"
}

# It is known at plan alone, so that the template is not judged before.
resource "kalypso_template" "variable" {
  name      = "argocd"
  type      = "reconciler"
  manifests = [var.template]
}

resource "kalypso_template" "failing" {
  name      = "argocd"
  type      = "reconciler"
  manifests = ["kind: A", "a: b\nname: {{ index .ConfigData.ports 3 }}"]
}

resource "kalypso_environment_rendering" "template_fails" {
  environment         = "dev"
  cluster_types       = local.cluster_types
  templates           = merge(local.templates, { argocd = kalypso_template.failing })
  scheduling_policies = local.policies
  workloads           = local.workloads
  configs             = { ports = { name = "ports", data = { ports = "[1, 2]" } } }
  delivery            = { strategy = "none" }
}

resource "kalypso_environment_rendering" "template_in_place" {
  environment         = "dev"
  cluster_types       = local.cluster_types
  scheduling_policies = local.policies
  workloads           = local.workloads
  delivery            = { strategy = "none" }
  templates = merge(local.templates, {
    argocd = { name = "argocd", type = "reconciler", manifests = ["ok", "a: b\n{{ if .Labels.edge }}\nc: d\n"] }
    env    = { name = "env", type = "config", manifests = ["{{ env \"HOME\" }}"] }
  })
}

resource "kalypso_environment_rendering" "missing_template" {
  environment = "dev"
  cluster_types = {
    large = { name = "large", reconciler = "flux", namespace_service = "namespaces", config_type = "config" }
  }
  templates           = local.templates
  scheduling_policies = local.policies
  workloads           = local.workloads
  delivery            = { strategy = "none" }
}

resource "kalypso_environment_rendering" "duplicate" {
  environment         = "dev"
  cluster_types       = merge(local.cluster_types, { again = local.cluster_types.large })
  templates           = local.templates
  scheduling_policies = local.policies
  workloads           = local.workloads
  delivery            = { strategy = "none" }
  manifests = {
    "fleet/hello.yaml"  = <<-YAML
      apiVersion: scheduler.kalypso.io/v1alpha1
      kind: Workload
      metadata: {name: hello}
      spec: {deploymentTargets: [{name: app, environment: dev}]}
    YAML
    "fleet/config.yaml" = <<-YAML
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: common, labels: {platform-config: "true"}}
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: common, labels: {platform-config: "true"}}
    YAML
  }
}

resource "kalypso_environment_rendering" "names" {
  environment = "dev"
  cluster_types = {
    upper  = { name = "Large", reconciler = "argocd", namespace_service = "namespace" }
    climbs = { name = "../large", reconciler = "argocd", namespace_service = "namespace" }
    nested = { name = "a/b", reconciler = "argocd", namespace_service = "namespace" }
    record = { name = ".kalypso", reconciler = "argocd", namespace_service = "namespace" }
    github = { name = ".github", reconciler = "argocd", namespace_service = "namespace" }
    none   = { reconciler = "argocd" }
  }
  templates           = local.templates
  scheduling_policies = local.policies
  delivery            = { strategy = "none" }
  workloads = {
    hello = { name = "hello", deployment_targets = [
      { name = "../app", environment = "dev" },
      { name = "app", labels = { "a b" = "c", d = "e f" } },
    ] }
    git = { name = ".git", deployment_targets = [{ name = "app", environment = "dev" }] }
  }
}

resource "kalypso_environment_rendering" "labels" {
  environment = "dev"
  cluster_types = {
    large = merge(local.cluster_types.large, { labels = { "a b" = "c", region = "west us", "/x" = "" } })
  }
  templates           = local.templates
  scheduling_policies = local.policies
  workloads           = local.workloads
  delivery            = { strategy = "none" }
}

resource "kalypso_environment_rendering" "selectors" {
  environment   = "dev"
  cluster_types = local.cluster_types
  templates     = local.templates
  workloads     = local.workloads
  delivery      = { strategy = "none" }
  scheduling_policies = {
    variable = {
      name                       = "variable"
      deployment_target_selector = { match_labels = var.nothing }
      cluster_type_selector      = { match_all = true }
    }
    empty   = { name = "empty", deployment_target_selector = { match_all = true }, cluster_type_selector = {} }
    missing = { name = "missing", deployment_target_selector = { match_all = true } }
    contradictory = {
      name                       = "contradictory"
      deployment_target_selector = { match_all = true }
      cluster_type_selector      = { match_all = true, match_labels = { a = "b" } }
    }
    workspace = {
      name                       = "workspace"
      deployment_target_selector = { workspace = "a b" }
      cluster_type_selector      = { match_all = true }
    }
    key = {
      name                       = "key"
      deployment_target_selector = { match_labels = { "a b" = "c" } }
      cluster_type_selector      = { match_labels = { a = "b c" } }
    }
    operator = {
      name                  = "operator"
      cluster_type_selector = { match_all = true }
      deployment_target_selector = { match_expressions = [
        { key = "a", operator = "in", values = ["b"] },
        { key = "a", operator = "In" },
        { key = "a", operator = "Exists", values = ["b"] },
        { key = "a b", operator = "Exists" },
        { key = "a", operator = "NotIn", values = ["b c"] },
        { values = ["b"] },
      ] }
    }
  }
}

resource "kalypso_environment_rendering" "schemas" {
  environment         = "dev"
  cluster_types       = local.cluster_types
  templates           = local.templates
  scheduling_policies = local.policies
  delivery            = { strategy = "none" }
  config_schemas = {
    no_json   = { name = "no-json", schema = "{" }
    no_schema = { name = "no-schema", schema = jsonencode({ type = "strin" }) }
    http      = { name = "http", schema = jsonencode({ "$ref" = "http://127.0.0.1:9/schema.json" }) }
    file      = { name = "file", schema = jsonencode({ properties = { a = { "$ref" = "file:///etc/passwd" } } }) }
    relative  = { name = "relative", schema = jsonencode({ "$ref" = "other.json#/definitions/a" }) }
    empty     = { name = "empty" }
  }
  workloads = {
    hello = {
      name               = "hello"
      config_schemas     = ["nope"]
      deployment_targets = [{ name = "app", environment = "dev", config_schemas = ["{}", "[]"] }]
    }
  }
}

resource "kalypso_environment_rendering" "values" {
  environment = "dev"
  cluster_types = merge(local.cluster_types, {
    small = { name = "small", reconciler = "argocd", namespace_service = "namespace" }
  })
  templates           = local.templates
  scheduling_policies = local.policies
  delivery            = { strategy = "none" }
  configs             = { common = { name = "common", data = { replicas = "many", region = "west" } } }
  config_schemas = {
    common = {
      name = "common"
      schema = jsonencode({
        properties = { replicas = { type = "integer" }, region = { enum = ["east"] } }
        required   = ["size"]
      })
    }
  }
  workloads = { hello = { name = "hello", deployment_targets = [
    { name = "app", environment = "dev", config_schemas = [jsonencode({ required = ["database"] })] },
    { name = "job", environment = "dev" },
  ] } }
}

resource "kalypso_environment_rendering" "namespace" {
  environment = "dev"
  cluster_types = {
    large = merge(local.cluster_types.large, { name = "a-cluster-type-with-quite-a-long-name" })
    dots  = merge(local.cluster_types.large, { name = "a.b" })
  }
  templates           = local.templates
  scheduling_policies = local.policies
  workloads = {
    hello = {
      name               = "hello-world-application"
      deployment_targets = [{ name = "functional-test", environment = "dev" }]
    }
  }
  delivery = { strategy = "none" }
}

resource "kalypso_environment_rendering" "one_target" {
  environment         = "dev"
  cluster_types       = local.cluster_types
  templates           = local.templates
  scheduling_policies = local.policies
  delivery            = { strategy = "none" }
  workloads = {
    a = {
      name = "a"
      deployment_targets = [
        { name = "b-c", environment = "dev" },
        { name = "d", environment = "dev" },
        { name = "d", environment = "dev" },
      ]
    }
    ab = { name = "a-b", deployment_targets = [{ name = "c", environment = "dev" }] }
  }
}

resource "kalypso_environment_rendering" "loops" {
  environment = "dev"
  cluster_types = {
    for t in ["loop", "recursion", "huge", "circle"] :
    t => { name = t, reconciler = t, namespace_service = "namespace" }
  }
  scheduling_policies = local.policies
  workloads           = local.workloads
  delivery            = { strategy = "none" }
  configs = {
    circle = { name = "circle", data = { a = "{{ .ConfigData.b }}", b = "{{ .ConfigData.a }}" } }
  }
  templates = merge(local.templates, {
    loop = {
      name      = "loop"
      type      = "reconciler"
      manifests = ["{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}"]
    }
    recursion = {
      name      = "recursion"
      type      = "reconciler"
      manifests = ["{{ define \"a\" }}{{ template \"a\" . }}{{ end }}\n{{ template \"a\" . }}"]
    }
    huge   = { name = "huge", type = "reconciler", manifests = ["{{ repeat 2000000000 \"a\" }}"] }
    circle = { name = "circle", type = "reconciler", manifests = ["a: {{ .ConfigData.a }}"] }
  })
}

resource "kalypso_environment_rendering" "missing_key" {
  environment         = "dev"
  cluster_types       = local.cluster_types
  scheduling_policies = local.policies
  workloads           = local.workloads
  delivery            = { strategy = "none" }
  templates = merge(local.templates, {
    argocd = {
      name = "argocd"
      type = "reconciler"
      manifests = [
        "a: b\nregion: {{ .Labels.region }}\n",
        "{{ .ConfigData.database.host }}",
        "{{ .Nothing }}",
        "{{ .Repo }}",
      ]
    }
  })
}

resource "kalypso_environment_rendering" "null" {
  environment         = "dev"
  cluster_types       = merge(local.cluster_types, { none = null })
  templates           = merge(local.templates, { none = { name = "none", type = "config", manifests = [null] } })
  scheduling_policies = local.policies
  configs             = { none = { name = "none", labels = { a = null }, data = { a = null } } }
  workloads = merge(
    local.workloads,
    { none = { name = "none", deployment_targets = [null], config_schemas = [null] } },
  )
  manifests = { "none.yaml" = null }
  delivery  = { strategy = "none" }
}

resource "kalypso_environment_rendering" "types" {
  environment   = "dev"
  cluster_types = local.cluster_types
  templates = merge(
    local.templates,
    { none = { name = "none", type = "reconcilers", content_type = "json", manifests = ["a"] } },
  )
  scheduling_policies = local.policies
  configs             = { keys = { name = "keys", data = { "a b" = "c", ".." = "d" } } }
  workloads           = local.workloads
  delivery            = { strategy = "none" }
}

# All of a fleet's errors come together, those of the arguments too.
resource "kalypso_environment_rendering" "together" {
  environment   = "Dev"
  cluster_types = { Large = { name = "Large", reconciler = "flux", namespace_service = "namespace" } }
  templates = merge(
    local.templates,
    { argocd = { name = "argocd", type = "reconciler", manifests = [var.template] } },
  )
  scheduling_policies = { none = null }
  manifests           = { "broken.yaml" = "a: b\n---\na: [" }
  guardrails          = { max_removed = "lots" }
  promoted_commit     = "a\nb"
}
