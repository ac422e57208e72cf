# Where the tree may not go, and what is no environment. No repo is contacted: nothing listens at the port.

variable "nothing" {
  type    = string
  default = null
}

locals {
  repo = "http://127.0.0.1:9/gitops"
}

resource "kalypso_environment_rendering" "path" {
  for_each = {
    absolute  = "/clusters"
    climbing  = "clusters/../../other"
    git       = "a/.git/b"
    upper_git = ".GIT"
    record    = "clusters/.kalypso"
    backslash = "clusters\\west"
  }
  environment = "dev"
  gitops_repo = { repo = local.repo, branch = "dev", path = each.value }
}

resource "kalypso_environment_rendering" "repo" {
  for_each = {
    password = "https://me:canary@example.com/gitops"
    user     = "https://canary@example.com/gitops"
    query    = "https://example.com/gitops?token=canary"
    scheme   = "ftp://canary@example.com/gitops"
    relative = "../gitops"
    empty    = ""
    host     = "https:///gitops"
    control  = "https://example.com/git\nops"
    scp      = "me:canary@example.com:gitops"
    option   = "ssh://-oProxyCommand=x/gitops"
  }
  environment = "dev"
  gitops_repo = { repo = each.value, branch = "dev" }
}

resource "kalypso_environment_rendering" "branch" {
  for_each = {
    spaces = "a b"
    dots   = "a..b"
    ref    = "refs/heads/dev"
    dash   = "-dev"
    lock   = "dev.lock"
    empty  = ""
    tilde  = "dev~1"
  }
  environment = "dev"
  gitops_repo = { repo = local.repo, branch = each.value }
}

resource "kalypso_environment_rendering" "null_branch" {
  environment = "dev"
  gitops_repo = { repo = var.nothing, branch = var.nothing }
}

resource "kalypso_environment_rendering" "environment" {
  for_each    = { upper = "Dev", empty = "", path = "../dev", long = join("", [for i in range(64) : "a"]) }
  environment = each.value
  delivery    = { strategy = "none" }
}

resource "kalypso_environment_rendering" "max_removed" {
  for_each    = { text = "lots", negative = "-1", percentage = "101%", empty = "%", fraction = "0.5" }
  environment = "dev"
  delivery    = { strategy = "none" }
  guardrails  = { max_removed = each.value }
}

resource "kalypso_environment_rendering" "promoted_commit" {
  for_each        = { newline = "abc\ndef", blank = "abc def", trailing = "abc\n" }
  environment     = "dev"
  delivery        = { strategy = "none" }
  promoted_commit = each.value
}

resource "kalypso_environment_rendering" "commit_message" {
  for_each       = { newline = "\n", blanks = " \t " }
  environment    = "dev"
  delivery       = { strategy = "none" }
  commit_message = each.value
}

resource "kalypso_environment_rendering" "no_repo" {
  environment = "dev"
}

resource "kalypso_environment_rendering" "promoted_empty" {
  environment     = "dev"
  promoted_commit = ""
  commit_message  = ""
  delivery        = { strategy = "none" }
}

resource "kalypso_environment_rendering" "promoted_in_the_way" {
  for_each      = toset([".github", ".github/tracking/Promoted_Commit_Id"])
  environment   = "dev"
  cluster_types = { tracking = { name = "tracking", reconciler = "r", namespace_service = "ns" } }
  templates = {
    r  = { name = "r", type = "reconciler", manifests = ["a"] }
    ns = { name = "ns", type = "namespace", manifests = ["a"] }
  }
  gitops_repo     = { repo = local.repo, branch = "dev", path = each.value }
  promoted_commit = "abc"
}

resource "kalypso_environment_rendering" "git_alias" {
  for_each    = toset(["git~1", "a/.GIT"])
  environment = "dev"
  gitops_repo = { repo = local.repo, branch = "dev", path = each.value }
}
