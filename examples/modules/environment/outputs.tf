output "commit" {
  description = "The commit that the environment renders. Null until one is promoted."
  value       = one(data.kalypso_promotion.this[*].commit)
}

output "reason" {
  description = "Why the commit was chosen. Equal before and after an apply, so the plan after a promotion is empty."
  value       = one(data.kalypso_promotion.this[*].reason)
}

output "folders" {
  description = "The folder of each cluster type, for clusters to sync."
  value       = one(kalypso_environment_rendering.this[*].folders)
}

output "delivered" {
  description = "Whether the GitOps branch contains the tree."
  value       = one(kalypso_environment_rendering.this[*].delivered)
}

output "pull_request" {
  description = "The pull request that proposes the tree, with the strategy `pull_request`."
  value       = one(kalypso_environment_rendering.this[*].pull_request)
}
