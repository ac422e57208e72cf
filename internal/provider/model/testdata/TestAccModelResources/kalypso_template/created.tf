resource "kalypso_template" "test" {
  name      = "argocd"
  type      = "reconciler"
  manifests = ["name: {{ .DeploymentTargetName }}\n"]
}
