# Rancher Fleet on the cluster. A GitRepo in the namespace fleet-local deploys to the cluster itself.
resource "kalypso_template" "fleet" {
  name = "fleet"
  type = "reconciler"

  manifests = [
    <<-EOT
      apiVersion: fleet.cattle.io/v1alpha1
      kind: GitRepo
      metadata:
        name: "{{ .DeploymentTargetName }}"
        namespace: fleet-local
      spec:
        repo: {{ .Manifests.repo | quote }}
        branch: {{ .Manifests.branch | quote }}
        paths:
        - {{ .Manifests.path | trimPrefix "./" | quote }}
        targetNamespace: "{{ .Namespace }}"
    EOT
  ]
}
