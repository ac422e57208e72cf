# The ID is the path of a file with Kalypso YAML, relative to the folder that Terraform runs in, and #NAME where the file
# holds several workloads.
terraform import kalypso_workload.hello_world workloads/hello-world.yaml
