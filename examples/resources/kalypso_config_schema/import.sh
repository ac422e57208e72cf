# The ID is the path of a file with Kalypso YAML, relative to the folder that Terraform runs in, and #NAME where the file
# holds several schemas.
terraform import kalypso_config_schema.west_us control-plane/schemas/west-us.yaml
