# Existing Kalypso YAML. The keys are the paths of the files, which errors name.
locals {
  # The objects that all environments share, and those of this environment.
  common = { for f in fileset(path.module, "control-plane/main/**/*.yaml") : f => file("${path.module}/${f}") }
  dev    = { for f in fileset(path.module, "control-plane/dev/**/*.yaml") : f => file("${path.module}/${f}") }
}

resource "kalypso_environment_rendering" "dev" {
  environment = "dev"
  manifests   = merge(local.common, local.dev)

  # YAML and HCL can be mixed.
  configs = {
    dns = { name = "dns-config", labels = { region = "west-us" }, data = { DNS_ZONE = "west.acme.io" } }
  }

  gitops_repo = {
    repo   = "https://github.com/acme/gitops"
    branch = "dev"
  }
}
