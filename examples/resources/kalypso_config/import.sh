# The ID is the path of a file with Kalypso YAML, relative to the folder that Terraform runs in, and #NAME where the file
# holds several ConfigMaps.
terraform import kalypso_config.west_us control-plane/configs/west-us.yaml
