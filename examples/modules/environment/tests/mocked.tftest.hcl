# Tests what the module outputs, with a mock in place of the provider: no server is contacted and nothing is computed.
# Terraform makes up the values that are not set here.
mock_provider "kalypso" {
  mock_data "kalypso_promotion" {
    defaults = {
      commit = "0123456789abcdef0123456789abcdef01234567"
      reason = "no gates"
    }
  }

  mock_resource "kalypso_environment_rendering" {
    defaults = {
      delivered = false
      summary   = {}
      pull_request = {
        number       = 7
        url          = "https://git.acme.io/gitops/pulls/7"
        state        = "open"
        branch       = "deployment/prod"
        head_commit  = "89abcdef0123456789abcdef0123456789abcdef"
        merge_commit = null
      }
    }
  }
}

variables {
  environment   = "prod"
  control_plane = { repo = "https://git.acme.io/control-plane" }
  gitops_repo   = { repo = "https://git.acme.io/gitops" }
  delivery      = { strategy = "pull_request" }
}

run "the_pull_request_is_shown" {
  assert {
    condition     = output.commit == "0123456789abcdef0123456789abcdef01234567" && output.reason == "no gates"
    error_message = "The module does not output the promoted commit."
  }
  assert {
    condition     = output.pull_request.number == 7 && !output.delivered
    error_message = "The module does not output the pull request."
  }
}
