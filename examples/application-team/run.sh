#!/usr/bin/env bash
# Plans a pull request of the shop's team against dev, as the team's pipeline does. It uses the repos of
# ../control-plane, in a temporary folder. See ../control-plane/local.sh for KALYPSO_PROVIDER and KEEP.
set -euo pipefail
# shellcheck source=SCRIPTDIR/../control-plane/local.sh
. "$(dirname "${BASH_SOURCE[0]}")/../control-plane/local.sh"

make_repos
use_example application-team
export TF_VAR_git_url="file://$work" TF_VAR_allow_local_repos=true

headline "The pull request"
in_repo shop diff main pull-request

headline "Where it branched off: into a state of the run's own"
tf apply "${plain[@]}" -auto-approve -var "sha=$(in_repo shop rev-parse main)" -var unscheduled=ignore >"$work/base.log" || {
  cat "$work/base.log"
  exit 1
}
tf output "${plain[@]}"

headline "Its plan fails"
if tf plan "${plain[@]}" -var "sha=$(in_repo shop rev-parse pull-request)" >"$work/plan.log" 2>&1; then
  echo "The plan places all targets." >&2
  exit 1
fi
sed -n '/^Error: /,$p' "$work/plan.log"

headline "What it does, without that check"
tf plan "${plain[@]}" -var "sha=$(in_repo shop rev-parse pull-request)" -var unscheduled=warn
