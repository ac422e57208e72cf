# The standard templates, in this repo. In yours, copy the folder, or name its Git URL.
module "templates" {
  source = "../modules/templates"
}

# A template of your own: the platform configuration of an assignment, as the workload sees it.
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
