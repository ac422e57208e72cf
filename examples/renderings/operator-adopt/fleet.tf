# Reads the same as the operator: the environment's branch of the control plane, the base at the commit that the
# BaseRepo pins, and the Workloads of the registrations, each with the workspace of its registration.
data "kalypso_control_plane" "dev" {
  repo   = "https://github.com/acme/kalypso-control-plane"
  branch = "dev"
}
