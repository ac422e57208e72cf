# The ID is the path of a file with Kalypso YAML, relative to Terraform's working directory. If the file contains
# several policies, add #NAME.
terraform import kalypso_scheduling_policy.functional_test control-plane/scheduling-policies/functional-test.yaml
