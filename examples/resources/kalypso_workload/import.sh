# The ID is the path of a file with Kalypso YAML, relative to Terraform's working directory. If the file contains
# several workloads, add #NAME.
terraform import kalypso_workload.hello_world workloads/hello-world.yaml
