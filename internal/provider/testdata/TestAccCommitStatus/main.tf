variable "github" {
  type = object({
    base_url = string
    token    = optional(string)
    app      = optional(object({ id = string, installation_id = string, private_key = string }))
  })
}

variable "repo" { type = string }

variable "commit" { type = string }

variable "context" {
  type    = string
  default = "kalypso/dev"
}

variable "state" { type = string }

variable "description" {
  type    = string
  default = null
}

variable "target_url" {
  type    = string
  default = null
}

variable "timeouts" {
  type    = map(string)
  default = null
}

provider "kalypso" {
  github = var.github
}

resource "kalypso_commit_status" "this" {
  repo        = var.repo
  commit      = var.commit
  context     = var.context
  state       = var.state
  description = var.description
  target_url  = var.target_url
  timeouts = var.timeouts == null ? null : {
    create = lookup(var.timeouts, "create", null)
    read   = lookup(var.timeouts, "read", null)
    update = lookup(var.timeouts, "update", null)
  }
}
