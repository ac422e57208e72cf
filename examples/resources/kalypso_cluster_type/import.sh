# The ID is the path of a file with Kalypso YAML, relative to the folder that Terraform runs in.
terraform import kalypso_cluster_type.drone control-plane/cluster-types/drone.yaml

# Where the file holds several cluster types, the name says which.
terraform import 'kalypso_cluster_type.all["large"]' 'control-plane/cluster-types/all.yaml#large'
