terraform {
  required_providers {
    kalypso = { source = "terraform-kalypso/kalypso" }
  }
}

variable "cluster_types" {
  type = any
}

variable "templates" {
  type = any
}

variable "configs" {
  type = any
}

variable "scheduling_policies" {
  type = any
}

variable "workloads" {
  type = any
}

resource "kalypso_environment_rendering" "this" {
  environment         = "dev"
  cluster_types       = var.cluster_types
  templates           = var.templates
  configs             = var.configs
  scheduling_policies = var.scheduling_policies
  workloads           = var.workloads
  delivery            = { strategy = "none" }
  preview             = "manifests"
}

output "rendering" {
  value = kalypso_environment_rendering.this
}
