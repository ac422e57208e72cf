# The ID is the path of a file with Kalypso YAML, relative to Terraform's working directory. If the file contains
# several templates, add #NAME.
terraform import kalypso_template.flux control-plane/templates/flux.yaml
