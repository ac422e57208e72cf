# The ID is the path of a file with Kalypso YAML, relative to Terraform's working directory. If the file contains
# several ConfigMaps, add #NAME.
terraform import kalypso_config.west_us control-plane/configs/west-us.yaml
