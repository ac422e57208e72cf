# The ID is the path of a file with Kalypso YAML, relative to the folder that Terraform runs in, and #NAME where the file
# holds several PlatformSecrets.
terraform import kalypso_secret.west_us control-plane/secrets/west-us.yaml
