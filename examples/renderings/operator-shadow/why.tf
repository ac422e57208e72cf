# Shows why each deployment target is placed or not placed, and which ConfigMap set each of its values.
data "kalypso_assignments" "dev" {
  environment = "dev"
  manifests   = data.kalypso_control_plane.dev.manifests
  explain     = true
}

output "why" {
  value = {
    assignments   = data.kalypso_assignments.dev.assignments
    unscheduled   = data.kalypso_assignments.dev.unscheduled
    idle_policies = data.kalypso_assignments.dev.idle_policies
  }
}
