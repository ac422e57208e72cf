variable "gitops_repo_url" {
  description = "URL of the GitOps repo that the tree is pushed to, for example file:///tmp/gitops.git"
  type        = string
}

variable "environment" {
  description = "The environment to render: dev or stage. It is the name of the GitOps branch too."
  type        = string
  default     = "dev"

  validation {
    condition     = contains(["dev", "stage"], var.environment)
    error_message = "The workload of the quickstart has targets for dev and stage."
  }
}

variable "performance_test_sizes" {
  description = "Sizes of the cluster types that run the performance test. Add \"small\" and plan again."
  type        = list(string)
  default     = ["large"]
}
