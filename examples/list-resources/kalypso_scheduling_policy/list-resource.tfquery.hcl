# All objects of the kind in a control plane and its base, at the head of the branch.
list "kalypso_scheduling_policy" "control_plane" {
  provider = kalypso

  config {
    repo   = "https://github.com/acme/control-plane"
    branch = "dev"
  }
}

# All objects of the kind in YAML files next to the configuration.
list "kalypso_scheduling_policy" "files" {
  provider = kalypso

  config {
    manifests = { for f in fileset(path.root, "fleet/**/*.yaml") : f => file(f) }
  }
}
