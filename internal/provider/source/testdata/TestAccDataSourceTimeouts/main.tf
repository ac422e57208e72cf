variable "http" {
  type = string
}

variable "password" {
  type      = string
  sensitive = true
}

variable "ssh" {
  type = string
}

variable "private_key" {
  type      = string
  sensitive = true
}

variable "known_hosts" {
  type = string
}

provider "kalypso" {
  git_credentials = [
    { url = var.http, username = "me", password = var.password },
    { url = var.ssh, private_key = var.private_key, known_hosts = var.known_hosts },
  ]
}

locals {
  hosts = { http = var.http, ssh = var.ssh }
}

data "kalypso_control_plane" "this" {
  for_each = local.hosts

  repo     = "${each.value}/silent"
  branch   = "main"
  timeouts = { read = "2s" }
}

data "kalypso_workloads" "this" {
  for_each = local.hosts

  registrations = {
    shop = {
      name      = "shop"
      workload  = { repo = "${each.value}/silent", branch = "main", path = "deploy" }
      workspace = "team-shop"
    }
  }
  timeouts = { read = "2s" }
}
