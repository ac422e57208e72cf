# Tests the real rendering, with the strategy "none". The parts that need a server are overridden: the promotion, the
# control plane, and the state of the clusters.
override_data {
  target = data.kalypso_promotion.this
  values = {
    commit = "0123456789abcdef0123456789abcdef01234567"
    reason = "no gates"
  }
}

override_data {
  target = data.kalypso_control_plane.this
  values = {
    sources = {}
    manifests = {
      "fleet.yaml" = <<-EOT
        apiVersion: scheduler.kalypso.io/v1alpha1
        kind: ClusterType
        metadata: { name: large }
        spec: { reconciler: flux, namespaceService: namespace }
        ---
        apiVersion: scheduler.kalypso.io/v1alpha1
        kind: Template
        metadata: { name: flux }
        spec:
          type: reconciler
          manifests:
            - |
              apiVersion: kustomize.toolkit.fluxcd.io/v1
              kind: Kustomization
              metadata: { name: {{ .DeploymentTargetName }}, namespace: flux-system }
        ---
        apiVersion: scheduler.kalypso.io/v1alpha1
        kind: Template
        metadata: { name: namespace }
        spec:
          type: namespace
          manifests:
            - |
              apiVersion: v1
              kind: Namespace
              metadata: { name: {{ .Namespace }} }
        ---
        apiVersion: scheduler.kalypso.io/v1alpha1
        kind: SchedulingPolicy
        metadata: { name: all }
        spec: { deploymentTargetSelector: {}, clusterTypeSelector: {} }
        ---
        apiVersion: scheduler.kalypso.io/v1alpha1
        kind: Workload
        metadata: { name: shop }
        spec:
          deploymentTargets:
            - { name: web, environment: prod }
      EOT
    }
  }
}

override_data {
  target = data.kalypso_deployment_state.this
  values = {
    promoted_commit = "0123456789abcdef0123456789abcdef01234567"
    verdict         = "success"
    summary         = "1 of 1 cluster types deployed"
  }
}

override_resource {
  target = kalypso_commit_status.this
}

variables {
  environment   = "prod"
  control_plane = { repo = "https://git.acme.io/control-plane" }
  gitops_repo   = { repo = "https://git.acme.io/gitops" }
  delivery      = { strategy = "none" }
  preview       = "assignments"
}

run "renders_the_environment" {
  variables {
    after = { stage = { soak = "4h", by = "acme-ci[bot]" } }
    dwell = "1h"
  }

  assert {
    condition     = kalypso_environment_rendering.this[0].assignments["large"] != null
    error_message = "The tree lacks the cluster type."
  }

  assert {
    condition     = keys(kalypso_environment_rendering.this[0].assignments["large"]) == tolist(["shop-web"])
    error_message = "The target of the environment is not placed."
  }

  assert {
    condition     = kalypso_environment_rendering.this[0].gitops_repo.branch == "prod"
    error_message = "The branch does not have the name of the environment."
  }

  assert {
    condition = (
      data.kalypso_promotion.this[0].control_plane.branch == "main"
      && data.kalypso_promotion.this[0].after["stage"].soak == "4h"
      && data.kalypso_promotion.this[0].after["stage"].by == "acme-ci[bot]"
      && data.kalypso_promotion.this[0].dwell == "1h"
    )
    error_message = "The promotion has other gates."
  }

  assert {
    condition     = output.commit == "0123456789abcdef0123456789abcdef01234567" && output.reason == "no gates"
    error_message = "The outputs do not show what is promoted."
  }

  assert {
    condition     = output.folders == { large = "large" } && output.delivered == null && output.pull_request == null
    error_message = "The outputs do not show the rendering."
  }

  assert {
    condition     = length(kalypso_commit_status.this) == 0
    error_message = "A module without report sets a status."
  }
}

run "takes_overrides" {
  variables {
    overrides = {
      hold          = "an incident"
      pinned_commit = "0123456789abcdef0123456789abcdef01234567"
      rejected      = { "89abcdef0123456789abcdef0123456789abcdef" = null }
    }
  }

  assert {
    condition = (
      data.kalypso_promotion.this[0].hold == "an incident"
      && data.kalypso_promotion.this[0].pinned_commit == "0123456789abcdef0123456789abcdef01234567"
      && contains(keys(data.kalypso_promotion.this[0].rejected), "89abcdef0123456789abcdef0123456789abcdef")
      && data.kalypso_promotion.this[0].approved == null
    )
    error_message = "The promotion does not get the overrides."
  }
}

run "refuses_other_overrides" {
  command = plan

  variables {
    overrides = { holds = "a typo" }
  }

  expect_failures = [var.overrides]
}

run "refuses_the_workspace_default" {
  command = plan

  variables {
    environment = "default"
  }

  expect_failures = [data.kalypso_promotion.this]
}

run "reports_of_no_workspace_default" {
  command = plan

  variables {
    environment = "default"
    render      = false
    report      = { source = { reports = [] } }
  }

  expect_failures = [data.kalypso_deployment_state.this]
}

# The arguments that errors of the provider ask for.
run "passes_arguments_on" {
  variables {
    create_branch       = true
    adopt               = true
    on_error            = "last_good"
    on_move             = "keep"
    on_destroy          = "keep"
    deletion_protection = false
    commit_message      = "Render prod"
    accepted_changes    = ["drift-3f2a9c41d07b"]
    timeouts            = { update = "5m" }
    windows             = [{ kind = "allow", schedule = "0 8 * * 1-4", duration = "8h" }]
    after               = { stage = { deployed = { verdict = "success", promoted_commit = "0123", summary = "whole" } } }
  }

  assert {
    condition = (
      kalypso_environment_rendering.this[0].create_branch == true
      && kalypso_environment_rendering.this[0].adopt == true
      && kalypso_environment_rendering.this[0].on_move == "keep"
      && kalypso_environment_rendering.this[0].on_destroy == "keep"
      && kalypso_environment_rendering.this[0].deletion_protection == false
      && kalypso_environment_rendering.this[0].commit_message == "Render prod"
      && kalypso_environment_rendering.this[0].accepted_changes == tolist(["drift-3f2a9c41d07b"])
      && try(kalypso_environment_rendering.this[0].timeouts.update, null) == "5m"
    )
    error_message = "The rendering has other arguments."
  }

  assert {
    condition     = data.kalypso_control_plane.this[0].on_error == "last_good"
    error_message = "The control plane has another reaction to broken registrations."
  }

  assert {
    condition     = data.kalypso_promotion.this[0].after["stage"].deployed.promoted_commit == "0123"
    error_message = "The promotion does not read the state of the environment before."
  }

  assert {
    condition     = data.kalypso_promotion.this[0].windows[0].duration == "8h"
    error_message = "The promotion has no windows."
  }
}

run "reports_alone" {
  variables {
    render = false
    report = { source = { reports = [] } }
  }

  assert {
    condition     = length(kalypso_environment_rendering.this) == 0 && length(data.kalypso_promotion.this) == 0
    error_message = "A module that only reports renders too."
  }

  assert {
    condition = (
      kalypso_commit_status.this[0].context == "prod environment"
      && kalypso_commit_status.this[0].repo == "https://git.acme.io/control-plane"
      && kalypso_commit_status.this[0].renew_after == "30m"
      && kalypso_commit_status.this[0].deployment.verdict == "success"
    )
    error_message = "The status is another one."
  }
}
