variable "github" {
  type = object({
    base_url = string
    token    = optional(string)
    app      = optional(object({ id = string, installation_id = string, private_key = string }))
  })
}

variable "repo" { type = string }

variable "commit" {
  type    = string
  default = null
}

variable "context" {
  type    = string
  default = "kalypso/dev"
}

variable "state" {
  type    = string
  default = null
}

# An object as kalypso_deployment_state has it: with more in it than the status takes.
variable "deployment" {
  type    = any
  default = null
}

variable "renew_after" {
  type    = string
  default = null
}

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
  deployment  = var.deployment
  renew_after = var.renew_after
  timeouts = var.timeouts == null ? null : {
    create = lookup(var.timeouts, "create", null)
    read   = lookup(var.timeouts, "read", null)
    update = lookup(var.timeouts, "update", null)
  }
}
