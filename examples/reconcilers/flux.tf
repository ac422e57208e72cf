# Flux on the cluster syncs the team's manifests into the namespace of the assignment, once all that the deployment target
# requires is ready.
resource "kalypso_template" "flux" {
  name = "flux"
  type = "reconciler"

  manifests = [
    <<-EOT
      apiVersion: source.toolkit.fluxcd.io/v1
      kind: GitRepository
      metadata:
        name: "{{ .DeploymentTargetName }}"
        namespace: flux-system
      spec:
        interval: 1m
        url: {{ .Manifests.repo | quote }}
        ref:
          branch: {{ .Manifests.branch | quote }}
    EOT
    ,
    <<-EOT
      apiVersion: kustomize.toolkit.fluxcd.io/v1
      kind: Kustomization
      metadata:
        name: "{{ .DeploymentTargetName }}"
        namespace: flux-system
      spec:
        interval: 10m
        retryInterval: 1m
        prune: true
        wait: true
        timeout: 5m
        {{- with .Requires }}
        dependsOn:
        {{- range . }}
        - name: {{ .Name }}
        {{- end }}
        {{- end }}
        targetNamespace: "{{ .Namespace }}"
        path: {{ .Manifests.path | quote }}
        sourceRef:
          kind: GitRepository
          name: "{{ .DeploymentTargetName }}"
    EOT
  ]
}
