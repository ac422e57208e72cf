# Like the built-in ExternalSecret, but fetched every ten minutes and with another name.
resource "kalypso_template" "external_secret" {
  name = "external-secret"
  type = "secret"

  manifests = [
    <<-EOT
      apiVersion: external-secrets.io/v1
      kind: ExternalSecret
      metadata:
        name: "{{ .Workload }}-secrets"
        namespace: "{{ .Namespace }}"
      spec:
        refreshInterval: 10m
      {{ externalSecretSpec .SecretData | indent 2 }}
    EOT
  ]
}
