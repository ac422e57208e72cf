# Alerts: a plan and an apply warn if one of these checks fails.
check "nothing_fails" {
  assert {
    condition = alltrue([for v in local.versions : v.state != "failed"])
    error_message = join("\n", [
      for v in local.versions : "${v.deployment_target} ${v.version} fails on ${v.clusters} clusters of ${v.environment}."
      if v.state == "failed"
    ])
  }
}

check "records_go_on" {
  assert {
    condition = alltrue([
      for history in data.kalypso_deployment_history.ran : history.recorded_until == null ? true :
      timecmp(history.recorded_until, timeadd(plantimestamp(), "-25h")) > 0
    ])
    error_message = "An environment was not recorded for more than a day."
  }
}

check "few_changes_fail" {
  assert {
    condition     = coalesce(data.kalypso_deployment_history.this.metrics.change_failure_rate, 0) <= 0.3
    error_message = "More than 30 % of the week's deployments to ${local.environment} failed."
  }
}
