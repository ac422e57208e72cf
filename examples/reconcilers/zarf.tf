# A package for clusters without a network: zarf package create builds it in the deployment target's folder, with the
# other files of the folder and the team's repo. Zarf requires this file name.
resource "kalypso_template" "zarf" {
  name      = "zarf"
  type      = "reconciler"
  file_name = "zarf.yaml"

  manifests = [
    <<-EOT
      apiVersion: zarf.dev/v1alpha1
      kind: ZarfPackageConfig
      metadata:
        name: "{{ .DeploymentTargetName }}"
        description: "{{ .Workload }} on {{ .ClusterType }}"
      components:
      - name: platform
        required: true
        manifests:
        - name: platform
          namespace: "{{ .Namespace }}"
          files:
          - namespace.yaml
          - platform-config.yaml
      - name: application
        required: true
        manifests:
        - name: application
          namespace: "{{ .Namespace }}"
          kustomizations:
          - {{ printf "%s//%s?ref=%s" .Manifests.repo (trimPrefix "./" .Manifests.path) .Manifests.branch | quote }}
    EOT
  ]
}
