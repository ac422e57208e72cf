variable "environment" {
  description = "Name of the environment. Its own objects are on the branch of the same name in the control plane, which must exist."
  type        = string
}

variable "control_plane" {
  description = "The control plane, and the branch whose commits are promoted, which must exist."
  type = object({
    repo   = string
    branch = optional(string, "main")
  })
}

variable "gitops_repo" {
  description = "The destination of the environment's tree. By default, the branch has the name of the environment. It must exist, unless `create_branch` is `true`."
  type = object({
    repo   = string
    branch = optional(string)
    path   = optional(string)
  })
}

variable "create_branch" {
  description = "Whether to create the branch of the GitOps repo if it does not exist."
  type        = bool
  default     = null
}

variable "after" {
  description = "The environments that must run a commit first, as in `kalypso_promotion`: by a status, or without a host by `deployed`, a whole `kalypso_deployment_state`. Null for the first one."
  type = map(object({
    soak           = optional(string)
    renewed_within = optional(string)
    by             = optional(string)
    context        = optional(string)
    deployed = optional(object({
      verdict         = optional(string)
      promoted_commit = optional(string)
    }))
  }))
  default = null
}

variable "statuses" {
  description = "Statuses and check runs that a commit needs, as in `kalypso_promotion`."
  type        = any
  default     = null
}

variable "dwell" {
  description = "How long a commit stays at least. Set it to the soak of the next environment and the time between two runs."
  type        = string
  default     = null
}

variable "rollback" {
  description = "Rolls the environment back automatically if a commit breaks its clusters, as in `kalypso_promotion`. Null never does."
  type        = any
  default     = null
}

variable "windows" {
  description = "When a commit may be promoted, as in `kalypso_promotion`. Waves have windows of their own, in `rollout`."
  type = list(object({
    kind      = string
    schedule  = optional(string)
    duration  = optional(string)
    time_zone = optional(string)
    from      = optional(string)
    until     = optional(string)
    reason    = optional(string)
    strict    = optional(bool)
  }))
  default = null
}

variable "overrides" {
  description = "Decisions of people: `hold`, `pinned_commit`, `approved` and `rejected`, as in `kalypso_promotion`."
  type        = any
  default     = {}
  nullable    = false # an empty file is null

  validation {
    condition = alltrue([
      for name in keys(var.overrides) : contains(["hold", "pinned_commit", "approved", "rejected"], name)
    ])
    error_message = "overrides has hold, pinned_commit, approved and rejected, and nothing else."
  }
}

variable "render" {
  description = "Whether to render the environment. A root module that only reports sets `false`."
  type        = bool
  default     = true
}

variable "on_error" {
  description = "As in `kalypso_control_plane`: the reaction to a broken registration of a team, `fail` or `last_good`."
  type        = string
  default     = null
}

variable "delivery" {
  description = "As in `kalypso_environment_rendering`. By default, an apply pushes to the branch."
  type        = any
  default     = null
}

variable "rollout" {
  description = "Waves, as in `kalypso_environment_rendering`, with `observed`."
  type        = any
  default     = null
}

variable "guardrails" {
  description = "As in `kalypso_environment_rendering`."
  type        = any
  default     = null
}

variable "on_drift" {
  description = "As in `kalypso_environment_rendering`."
  type        = string
  default     = null
}

variable "on_assignment_error" {
  description = "As in `kalypso_environment_rendering`."
  type        = string
  default     = null
}

variable "adopt" {
  description = "As in `kalypso_environment_rendering`: adopt existing folders on the branch."
  type        = bool
  default     = null
}

variable "accepted_changes" {
  description = "As in `kalypso_environment_rendering`: the IDs of changes to let pass, from its errors."
  type        = list(string)
  default     = null
}

variable "commit_message" {
  description = "As in `kalypso_environment_rendering`. The default lists the changes."
  type        = string
  default     = null
}

variable "on_move" {
  description = "As in `kalypso_environment_rendering`: whether another `gitops_repo` removes the tree at the old location, or keeps it there."
  type        = string
  default     = null
}

variable "deletion_protection" {
  description = "As in `kalypso_environment_rendering`. To destroy the environment, apply `false` first."
  type        = bool
  default     = null
}

variable "on_destroy" {
  description = "As in `kalypso_environment_rendering`: whether a destroy removes the tree from the branch, or keeps it there."
  type        = string
  default     = null
}

variable "timeouts" {
  description = "As in `kalypso_environment_rendering`."
  type = object({
    create = optional(string)
    read   = optional(string)
    update = optional(string)
    delete = optional(string)
  })
  default = null
}

variable "preview" {
  description = "How much of the tree a plan shows, as in `kalypso_environment_rendering`."
  type        = string
  default     = "summary"
}

variable "report" {
  description = "Options of the status, with `source` of `kalypso_deployment_state`. Null sets no status."
  type = object({
    source            = any
    progress_deadline = optional(string)
    renew_after       = optional(string, "30m")
    target_url        = optional(string)
  })
  default = null
}
