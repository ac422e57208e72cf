# The ID is the path of a file with Kalypso YAML, relative to Terraform's working directory. If the file contains
# several PlatformSecrets, add #NAME.
terraform import kalypso_secret.west_us control-plane/secrets/west-us.yaml
