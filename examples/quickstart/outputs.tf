output "assignments" {
  description = "Which deployment targets each cluster type hosts."
  value       = kalypso_environment_rendering.this.assignments
}

output "unscheduled" {
  description = "Deployment targets that no policy places."
  value       = kalypso_environment_rendering.this.unscheduled
}

output "folders" {
  description = "Where in the GitOps repo the clusters of a type find what to run."
  value       = kalypso_environment_rendering.this.folders
}

output "commit_sha" {
  description = "The commit on the environment's branch."
  value       = kalypso_environment_rendering.this.commit_sha
}
