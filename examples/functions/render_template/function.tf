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

# The rendered file for the example assignment below.
output "namespace" {
  value = provider::kalypso::render_template(kalypso_template.namespace, {
    Namespace = "dev-large-hello-world-functional-test"
    Labels    = { team = "kaizen" }
  })
}
