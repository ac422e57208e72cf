resource "kalypso_template" "namespace" {
  name = "default"
  type = "namespace"

  manifests = [
    <<-EOT
      apiVersion: v1
      kind: Namespace
      metadata:
        name: "{{ .Namespace }}"
        labels:
          team: "{{ .Labels.team | default "none" }}"
    EOT
  ]
}

# What a cluster gets of it, for an assignment made up here.
output "namespace" {
  value = provider::kalypso::render_template(kalypso_template.namespace, {
    Namespace = "dev-large-hello-world-functional-test"
    Labels    = { team = "kaizen" }
  })
}
