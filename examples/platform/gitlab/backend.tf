# The state in GitLab. The pipeline puts this file in the place of backend.tf.
terraform {
  backend "http" {}
}
