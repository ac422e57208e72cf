# The ID is the path of a file with Kalypso YAML, relative to Terraform's working directory. If the file contains
# several registrations, add #NAME.
terraform import kalypso_workload_registration.hello_world control-plane/workload-registrations/hello-world.yaml
