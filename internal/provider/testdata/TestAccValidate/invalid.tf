# Every diagnostic is expected by a comment at its line.

variable "nothing" {
  type    = map(string)
  default = null
}

resource "kalypso_cluster_type" "invalid" {
  name              = "Large"         # error: Invalid name
  labels            = { "a b" = "c" } # error: Invalid label key
  reconciler        = ""              # error: Missing reconciler
  namespace_service = null            # error: Missing Configuration for Required Attribute
}

resource "kalypso_cluster_type" "label" {
  name              = "large"
  labels            = { a = "b c", d = null } # error: Invalid value of label "a"; Null element
  reconciler        = "r"
  namespace_service = "n"
}

resource "kalypso_cluster_type" "escaping" {
  name              = "../large" # error: Invalid name
  reconciler        = "r"
  namespace_service = "n"
}

resource "kalypso_template" "invalid" {
  name         = "t"
  type         = "reconcilers"               # error: Invalid type
  content_type = "json"                      # error: Invalid content_type
  manifests    = ["ok", "\n\n{{ .Namespace"] # error: Template does not parse: Manifest 2, line 3
}

resource "kalypso_template" "function" {
  name      = "t"
  type      = "config"
  manifests = ["{{ env \"HOME\" }}", null] # error: Template does not parse; Null element
}

resource "kalypso_config" "invalid" {
  name   = ".c"                         # error: Invalid name
  labels = { platform-config = "yes!" } # error: Invalid value of label "platform-config"
  data   = { "a b" = "c", d = null }    # error: Invalid config key; Null element
}

resource "kalypso_config_schema" "no_json" {
  name   = "s"
  schema = "{" # error: Invalid JSON Schema: The schema is not valid JSON
}

resource "kalypso_config_schema" "no_schema" {
  name   = "s"
  schema = jsonencode({ type = "strin" }) # error: Invalid JSON Schema: The schema is not a valid JSON Schema
}

resource "kalypso_config_schema" "outside" {
  name   = "s"
  schema = jsonencode({ "$ref" = "https://example.com/s.json" }) # error: Invalid JSON Schema: The schema
}

resource "kalypso_config_schema" "empty" {
  name   = "" # error: Missing name
  schema = "" # error: Missing schema
}

resource "kalypso_scheduling_policy" "everything" {
  name                       = "p"
  deployment_target_selector = {} # error: Selector selects everything
  cluster_type_selector      = { match_labels = var.nothing, match_expressions = [] }
}

resource "kalypso_scheduling_policy" "empty" {
  name                       = "p"
  deployment_target_selector = { workspace = "", match_labels = {}, match_all = false } # error: Selector selects everything
  cluster_type_selector      = { match_all = true, match_labels = { a = "b" } }         # error: Contradictory selector
}

resource "kalypso_scheduling_policy" "missing" {
  name                       = "p"
  deployment_target_selector = null # error: Missing Configuration for Required Attribute
  cluster_type_selector      = { match_all = true }
}

resource "kalypso_scheduling_policy" "invalid" {
  name                       = "p"
  deployment_target_selector = { workspace = "a b" } # error: Invalid workspace
  cluster_type_selector = {                          # error: Invalid operator; Invalid selector requirement; Invalid selector requirement
    match_expressions = [
      { key = "a", operator = "Inn", values = ["b"] },
      { key = "a", operator = "In" },
      { key = "a", operator = "Exists", values = ["b"] },
      { key = "a", operator = "Exists" },
    ]
  }
}

resource "kalypso_workload" "invalid" {
  name           = "w"
  labels         = { workspace = "one" }
  workspace      = "two"          # error: Conflicting workspaces
  config_schemas = ["true", "[]"] # error: Invalid JSON Schema
  deployment_targets = [
    { environment = "dev" },               # error: Missing name
    { name = "a/b", environment = "dev" }, # error: Invalid deployment target name
    { name = "c" },                        # error: Missing environment
    { name = "d", environment = "dev" },
    { name = "d", environment = "dev" },                            # error: Duplicate deployment target
    { name = "e", environment = "dev", labels = { "" = "x" } },     # error: Invalid label key
    { name = "f", environment = "dev", config_schemas = ["nope"] }, # error: Invalid JSON Schema
  ]
}

resource "kalypso_workload" "null" {
  name               = "w"
  workspace          = "a b"  # error: Invalid value of label "workspace"
  deployment_targets = [null] # error: Null element
}

resource "kalypso_workload_registration" "invalid" { # error: Missing Configuration for Required Attribute
  name      = "r"
  workspace = "a b"                        # error: Invalid workspace
  workload  = { repo = "", branch = null } # error: Missing repo
}

resource "kalypso_secret" "bad" {
  name   = "a b"           # error: Invalid name
  labels = { "a b" = "c" } # error: Invalid label key
  data = {
    NO_STORE    = { key = "k" }                        # error: Missing store: The reference "NO_STORE" names no ClusterSecretStore.
    EMPTY_STORE = { store = "", key = "k" }            # error: Missing store
    NO_KEY      = { store = "vault" }                  # error: Missing key: The reference "NO_KEY" lacks the key
    EMPTY_KEY   = { store = "vault", key = "" }        # error: Missing key
    TWO_STORES  = { store = "vault,azure", key = "k" } # error: Invalid store: A reference names one ClusterSecretStore. "vault,azure" is not valid
    UPPER_CASE  = { store = "Vault", key = "k" }       # error: Invalid store
    NOTHING     = null                                 # error: Null element
    "a/b"       = { store = "vault", key = "k" }       # error: Invalid secret key
  }
}

resource "kalypso_secret" "list" {
  name = "list"
  data = { A = { store = ["vault", "azure"], key = "k" } } # error: Incorrect attribute value type
}
