#!/usr/bin/env bash
# Changes five cluster types in waves: a canary, then the rest in quarters. Their clusters report by files. One fails,
# and the rollout stops until the fleet is fixed. An urgent change skips the waves, and a change is reverted. See
# ../control-plane/local.sh for KALYPSO_PROVIDER and KEEP.
set -euo pipefail
# shellcheck source=SCRIPTDIR/../control-plane/local.sh
. "$(dirname "${BASH_SOURCE[0]}")/../control-plane/local.sh"

git init --quiet --bare --initial-branch=prod "$work/gitops"
mkdir "$work/first" "$work/reports"
echo "The fleet's GitOps repo." >"$work/first/README.md"
commit gitops prod "$work/first" "Begin"
use_example rollout
export TF_VAR_gitops_url="file://$work/gitops" TF_VAR_reports="$work/reports"

# report STATE CLUSTER_TYPE…: a cluster of each type reports that it runs the current tree of the branch.
report() {
  local state=$1 type
  shift
  for type in "$@"; do
    {
      printf '{"cluster": "%s-1", "folder": "%s", ' "$type" "$type"
      printf '"revision": "prod@sha1:%s", ' "$(in_repo gitops rev-parse prod)"
      printf '"state": "%s", "message": "web is %s", ' "$state" "$state"
      printf '"time": "%s"}\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    } >"$work/reports/$type.json"
  done
}

# step HEADLINE: shows the plan and applies it. Then it shows the contents of each cluster type's folder.
step() {
  headline "$1"
  tf apply "${plain[@]}" -auto-approve >"$work/log" || { cat "$work/log"; exit 1; }
  sed -n -e '/^Warning: The rollout/,$p' "$work/log" | sed -e '/^Apply complete/,$d'
  tf output "${plain[@]}"
  for type in canary east north south west; do
    printf '%-8s%s\n' "$type" "$(in_repo gitops show "prod:$type/shop-web/namespace.yaml" | grep region)"
  done
}

export TF_VAR_in_waves=false
step "Deliver to all of them"
report current canary east north south west

export TF_VAR_in_waves=true
step "From now on in waves"
export TF_VAR_region=north
headline "The plan of a change"
tf plan "${plain[@]}"
step "The canary"
headline "It waits: nothing changes"
tf plan "${plain[@]}" -detailed-exitcode
report current canary
step "A quarter of the rest"
report current east
step "The next quarter"
report failed north
sleep 2
export TF_VAR_progress_deadline=1s
step "It fails: the rollout stops"
export TF_VAR_region=south TF_VAR_progress_deadline=1h
step "A fixed fleet begins with the canary"
report current canary
step "What was written before it failed comes first"

skip=$(tf output -raw target_tree_hash)
export TF_VAR_skip=$skip
step "It is urgent: everywhere at once"
report current canary east north south west

export TF_VAR_region=mars
step "Another change goes in waves again"
export TF_VAR_region=south
step "It is reverted at once"
