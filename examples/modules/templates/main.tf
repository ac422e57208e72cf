# The templates of the YAML files beside this file, as objects for the argument templates of a rendering. A control
# plane in YAML uses copies of the files.
output "all" {
  description = "A template for each reconciler, by name (argocd, fleet, flux, zarf), and for namespaces (namespace)."
  value = {
    for file in fileset(path.module, "*.yaml") : trimsuffix(file, ".yaml") => {
      name      = yamldecode(file("${path.module}/${file}")).metadata.name
      type      = yamldecode(file("${path.module}/${file}")).spec.type
      manifests = yamldecode(file("${path.module}/${file}")).spec.manifests
      file_name = try(yamldecode(file("${path.module}/${file}")).metadata.annotations["kalypso.io/file-name"], null)
    }
  }
}
