# Tells a cluster where to fetch a deployment target's manifests, here with Flux.
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
        interval: 30s
        url: "{{ .Manifests.repo }}"
        ref:
          branch: "{{ .Manifests.branch }}"
    EOT
    ,
    <<-EOT
      apiVersion: kustomize.toolkit.fluxcd.io/v1
      kind: Kustomization
      metadata:
        name: "{{ .DeploymentTargetName }}"
        namespace: flux-system
      spec:
        interval: 30s
        targetNamespace: "{{ .Namespace }}"
        sourceRef:
          kind: GitRepository
          name: "{{ .DeploymentTargetName }}"
        path: "{{ .Manifests.path }}"
        prune: true
    EOT
  ]
}

# The platform configuration as a shell script.
resource "kalypso_template" "env" {
  name         = "env"
  type         = "config"
  content_type = "sh"

  manifests = [
    <<-EOT
      {{- range $key, $value := .ConfigData }}
      export {{ $key }}='{{ $value }}'
      {{- end }}
    EOT
  ]
}
