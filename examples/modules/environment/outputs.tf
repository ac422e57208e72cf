output "commit" {
  description = "The commit that the environment renders. Null until one is promoted."
  value       = one(data.kalypso_promotion.this[*].commit)
}

output "reason" {
  description = "Why the commit was chosen. Equal before and after an apply, so the plan after a promotion is empty."
  value       = one(data.kalypso_promotion.this[*].reason)
}

output "summary" {
  description = "What the promotion decides now, and which gates newer commits wait for. It changes with each of them: as an output of a root module, it makes a plan that has nothing else to do."
  value       = one(data.kalypso_promotion.this[*].summary)
}

output "folders" {
  description = "The path of each cluster type's folder, for clusters to sync. Null with the preview `none`."
  value = try({
    for name in try(keys(kalypso_environment_rendering.this[0].summary), keys(kalypso_environment_rendering.this[0].folders)) :
    name => trimprefix("${coalesce(var.gitops_repo.path, ".")}/${name}", "./")
  }, null)
}

output "delivered" {
  description = "Whether the GitOps branch contains the tree."
  value       = one(kalypso_environment_rendering.this[*].delivered)
}

output "pull_request" {
  description = "The pull request that proposes the tree, with the strategy `pull_request`."
  value       = one(kalypso_environment_rendering.this[*].pull_request)
}
