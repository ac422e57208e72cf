# Argo CD on the cluster. With one Argo CD for many clusters, the destination names the cluster instead. Argo CD syncs
# required Applications in earlier waves. It waits for them if its ConfigMap argocd-cm has a health check of Applications.
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
        {{- with .Requires }}
        annotations:
          {{- $wave := 0 }}
          {{- range . }}{{ $wave = max $wave (add .Wave 1) }}{{ end }}
          argocd.argoproj.io/sync-wave: "{{ $wave }}"
        {{- end }}
        finalizers:
        - resources-finalizer.argocd.argoproj.io
      spec:
        project: default
        source:
          repoURL: {{ .Manifests.repo | quote }}
          targetRevision: {{ .Manifests.branch | quote }}
          path: {{ .Manifests.path | trimPrefix "./" | quote }}
        destination:
          server: https://kubernetes.default.svc
          namespace: "{{ .Namespace }}"
        syncPolicy:
          automated:
            prune: true
            selfHeal: true
    EOT
  ]
}
