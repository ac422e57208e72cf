# The ID is the path of a file with Kalypso YAML, relative to the folder that Terraform runs in, and #NAME where the file
# holds several templates.
terraform import kalypso_template.flux control-plane/templates/flux.yaml
