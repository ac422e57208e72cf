#!/usr/bin/env bash
# Three teams share an environment. The data of one fails in its template, those of another violate their schema, and
# the third team keeps delivering changes. See ../control-plane/local.sh for KALYPSO_PROVIDER and KEEP.
set -euo pipefail
# shellcheck source=SCRIPTDIR/../control-plane/local.sh
. "$(dirname "${BASH_SOURCE[0]}")/../control-plane/local.sh"

git init --quiet --bare --initial-branch=prod "$work/gitops"
mkdir "$work/first"
echo "The fleet's GitOps repo." >"$work/first/README.md"
commit gitops prod "$work/first" "Begin"
use_example broken-teams
export TF_VAR_gitops_url="file://$work/gitops"

# step HEADLINE: applies, and shows the warning and the values of each team on the branch.
step() {
  headline "$1"
  tf apply "${plain[@]}" -auto-approve >"$work/log" || { cat "$work/log"; exit 1; }
  sed -n -e '/^Warning: .*to render$/,$p' "$work/log" | sed -e '/^Apply complete/,$d'
  tf output "${plain[@]}"
  for team in orders stock users; do
    printf '%-8s%s\n' "$team" "$(
      for file in reconciler platform-config; do
        in_repo gitops show "prod:large/$team-web/$file.yaml" | grep -E '^ +(path|region): ' | tr -s ' "\n' ' '
      done
    )"
  done
}

step "All is well"
export TF_VAR_orders_path=""
headline "A team breaks its data: the plan warns"
tf plan "${plain[@]}"
step "The branch keeps its folder"
export TF_VAR_region=north
step "The others change"
export TF_VAR_stock_schema='{"required": ["ZONE"]}'
export TF_VAR_region=south
step "Another team breaks its schema"
headline "Nothing is left to do, and the plan still warns"
tf plan "${plain[@]}" -detailed-exitcode
export TF_VAR_orders_path=./orders/v2
step "The first team fixes it"
unset TF_VAR_stock_schema
step "And the other"
