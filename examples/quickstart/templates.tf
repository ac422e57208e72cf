# Flux on Arc-enabled clusters: a source, and a Kustomization that applies it.
resource "kalypso_template" "arc_flux" {
  name = "arc-flux"
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
        secretRef:
          name: repo-secret
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

# An Application for clusters that run Argo CD.
resource "kalypso_template" "argocd" {
  name = "argocd"
  type = "reconciler"

  manifests = [
    <<-EOT
      apiVersion: argoproj.io/v1alpha1
      kind: Application
      metadata:
        name: "{{ .DeploymentTargetName }}"
        namespace: argocd
      spec:
        destination:
          server: https://kubernetes.default.svc
          namespace: "{{ .Namespace }}"
        project: default
        source:
          path: "{{ .Manifests.path }}"
          repoURL: "{{ .Manifests.repo }}"
          targetRevision: "{{ .Manifests.branch }}"
          directory:
            recurse: true
            include: '*.yaml'
            exclude: 'kustomization.yaml'
        syncPolicy:
          automated:
            prune: true
            selfHeal: true
            allowEmpty: false
          syncOptions:
            - CreateNamespace=true
    EOT
  ]
}

resource "kalypso_template" "default" {
  name = "default"
  type = "namespace"

  manifests = [
    <<-EOT
      apiVersion: v1
      kind: Namespace
      metadata:
        name: "{{ .Namespace }}"
        labels:
          environment: "{{ .Environment }}"
          workspace: "{{ .Workspace }}"
          workload: "{{ .Workload }}"
          deploymentTarget: "{{ .DeploymentTargetName }}"
    EOT
  ]
}

# The platform configuration of an assignment, as the workload sees it.
resource "kalypso_template" "configmap" {
  name = "configmap"
  type = "config"

  manifests = [
    <<-EOT
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: platform-config
        namespace: {{ .Namespace }}
      data:
      {{ toYaml .ConfigData | indent 2 }}
    EOT
  ]
}
