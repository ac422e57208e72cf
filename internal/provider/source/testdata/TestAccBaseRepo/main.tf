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

variable "unknown" {
  description = "Whether the promotion is known after apply."
  type        = bool
  default     = false
}

resource "terraform_data" "promotion" {
  count = var.unknown ? 1 : 0
  input = var.promotion
}

resource "kalypso_base_repo" "this" {
  repo           = var.repo
  branch         = var.branch
  promotion      = var.unknown ? terraform_data.promotion[0].output : var.promotion
  delivery       = var.delivery
  on_drift       = var.on_drift
  commit_message = var.commit_message
}
