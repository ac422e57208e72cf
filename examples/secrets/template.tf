# The built-in ExternalSecret, fetched every ten minutes and with a name of its own.
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
