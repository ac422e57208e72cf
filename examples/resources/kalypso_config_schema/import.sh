# The ID is the path of a file with Kalypso YAML, relative to Terraform's working directory. If the file contains
# several schemas, add #NAME.
terraform import kalypso_config_schema.west_us control-plane/schemas/west-us.yaml
