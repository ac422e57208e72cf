# The ID is the path of a file with Kalypso YAML, relative to Terraform's working directory.
terraform import kalypso_cluster_type.drone control-plane/cluster-types/drone.yaml

# If the file contains several cluster types, the name selects one.
terraform import 'kalypso_cluster_type.all["large"]' 'control-plane/cluster-types/all.yaml#large'
