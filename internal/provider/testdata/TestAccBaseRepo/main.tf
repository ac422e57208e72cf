variable "github" {
  type    = object({ base_url = string, token = string })
  default = null
}

variable "repo" { type = string }

variable "branch" {
  type    = string
  default = "stage"
}

variable "promotion" {
  type    = any
  default = null
}

variable "delivery" {
  type    = any
  default = null
}

variable "on_drift" {
  type    = string
  default = null
}

variable "commit_message" {
  type    = string
  default = null
}

provider "kalypso" {
  github = var.github
  git_credentials = var.github == null ? [] : [
    { url = var.github.base_url, username = "x", password = var.github.token },
  ]
}

resource "kalypso_base_repo" "this" {
  repo           = var.repo
  branch         = var.branch
  promotion      = var.promotion
  delivery       = var.delivery
  on_drift       = var.on_drift
  commit_message = var.commit_message
}
