output "assignments" {
  description = "Which deployment targets each cluster type hosts."
  value       = { for name, targets in kalypso_environment_rendering.this.assignments : name => keys(targets) }
}

output "unscheduled" {
  description = "Deployment targets that no policy places."
  value       = kalypso_environment_rendering.this.unscheduled
}

output "folders" {
  description = "The folder of each cluster type in the GitOps repo."
  value       = { for name, folder in kalypso_environment_rendering.this.folders : name => folder.path }
}

output "commit_sha" {
  description = "The commit on the environment's branch."
  value       = kalypso_environment_rendering.this.commit_sha
}
