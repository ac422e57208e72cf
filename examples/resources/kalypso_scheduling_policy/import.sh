# The ID is the path of a file with Kalypso YAML, relative to the folder that Terraform runs in, and #NAME where the file
# holds several policies.
terraform import kalypso_scheduling_policy.functional_test control-plane/scheduling-policies/functional-test.yaml
