# Renders the values of the assignment as a ConfigMap, with a Secret that SOPS encrypted, into the namespace of the
# assignment. license.sops.yaml contains {{ .Namespace }}, which the template fills in.
resource "kalypso_template" "config" {
  name = "config-and-license"
  type = "config"

  manifests = [
    <<-EOT
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: platform-config
        namespace: "{{ .Namespace }}"
      data:
      {{ stringify .ConfigData | indent 2 }}
    EOT
    ,
    file("${path.module}/license.sops.yaml"),
  ]
}
