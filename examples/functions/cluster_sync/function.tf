# The folder of the cluster type large, the same as kalypso_environment_rendering.dev.folders["large"].path.
locals {
  gitops_repo = { repo = "https://github.com/acme/gitops", branch = "dev" }

  flux = provider::kalypso::cluster_sync("flux", local.gitops_repo, "large", {
    secret     = "gitops-token" # the credential of a private repo
    decryption = "sops-age"     # only if the folder contains ciphertext of SOPS
  })
}

# A file for kubectl apply. To use kubernetes_manifest instead:
# for_each = { for object in local.flux : object.kind => object }, and manifest = each.value.
output "flux" {
  value = join("---\n", [for object in local.flux : yamlencode(object)])
}

output "argocd" {
  value = yamlencode(provider::kalypso::cluster_sync("argocd", local.gitops_repo, "large")[0])
}

output "fleet" {
  value = yamlencode(provider::kalypso::cluster_sync("fleet", local.gitops_repo, "large")[0])
}

# For a cluster that can't reach Git: the artifact of its cluster type, which kalypso_oci_artifacts publishes.
output "flux_oci" {
  value = join("---\n", [for object in provider::kalypso::cluster_sync(
    "flux-oci", { repository = "oci://registry.acme.io/fleet/dev" }, "large", { secret = "registry", verify = "cosign" }
  ) : yamlencode(object)])
}
