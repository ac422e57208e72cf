# The ID is the path of a file with Kalypso YAML, relative to the folder that Terraform runs in, and #NAME where the file
# holds several registrations.
terraform import kalypso_workload_registration.hello_world control-plane/workload-registrations/hello-world.yaml
