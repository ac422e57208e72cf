# Rancher Fleet on the cluster. A GitRepo in the namespace fleet-local deploys to the cluster itself. If the deployment
# target requires others, a Bundle brings the GitRepo once the bundles of their GitRepos are ready.
resource "kalypso_template" "fleet" {
  name = "fleet"
  type = "reconciler"

  manifests = [
    <<-EOT
      {{- if not .Requires }}
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
      {{- end }}
    EOT
    ,
    <<-EOT
      {{- if .Requires }}
      apiVersion: fleet.cattle.io/v1alpha1
      kind: Bundle
      metadata:
        name: "{{ .DeploymentTargetName }}"
        namespace: fleet-local
      spec:
        dependsOn:
        {{- range .Requires }}
        - selector:
            matchLabels:
              fleet.cattle.io/repo-name: {{ .Name }}
        {{- end }}
        targets:
        - clusterGroup: default
        resources:
        - name: gitrepo.yaml
          content: |
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
      {{- end }}
    EOT
  ]
}
