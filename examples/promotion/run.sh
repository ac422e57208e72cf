#!/usr/bin/env bash
# Promotes commits of a control plane from dev to prod: two promotions, one that fails in stage, a change of prod's own
# and a hotfix past the closed gate, a rollback and its release. Clusters report by files. Every plan is shown. See
# ../control-plane/local.sh for KALYPSO_PROVIDER and KEEP.
set -euo pipefail
# shellcheck source=SCRIPTDIR/../control-plane/local.sh
. "$(dirname "${BASH_SOURCE[0]}")/../control-plane/local.sh"

repos=$local_examples/promotion/repos
mkdir "$work/reports" "$work/empty"
echo "The fleet's GitOps repo." >"$work/empty/README.md"
for repo in control-plane gitops; do
  git init --quiet --bare --initial-branch=main "$work/$repo"
done
for environment in dev stage prod; do
  commit control-plane "$environment" "$repos/environment" "Environment $environment"
  commit gitops "$environment" "$work/empty" "Begin"
done
use_example promotion
export TF_VAR_control_plane_url="file://$work/control-plane" TF_VAR_gitops_url="file://$work/gitops"
export TF_VAR_reports="$work/reports"

# merge VERSION: a commit on main that all environments render, and its hash in the variable of that name.
merge() {
  local parent
  parent=$(in_repo control-plane rev-parse --quiet --verify main || true)
  rm -rf "$work/main"
  cp -R "$repos/main" "$work/main"
  sed -e "s/VERSION/$1/" "$repos/main/templates.yaml" >"$work/main/templates.yaml"
  commit control-plane main "$work/main" "Version $1" "$parent"
  printf -v "$1" '%s' "$(in_repo control-plane rev-parse main)"
}

# run ENVIRONMENT HEADLINE: what the environment's pipeline does at each run, with the plan, the decision and the
# outcome.
run() {
  headline "$2"
  tf workspace select -or-create "$1" >"$work/log"
  tf plan "${plain[@]}" -compact-warnings -out="$work/plan"
  tf apply "${plain[@]}" -compact-warnings "$work/plan" >"$work/log" || { cat "$work/log"; exit 1; }
  printf '\n%s: ' "$1"
  tf output -raw summary
  printf '\n\nCluster types of %s:\n' "$1"
  for type in $(in_repo gitops ls-tree -d --name-only "$1" | grep -v '^\.'); do
    printf '%s\t%s\n' "$type" "$(in_repo gitops show "$1:$type/shop-web/namespace.yaml" | grep version)"
  done
}

# report ENVIRONMENT STATE: the environment's cluster says that it runs what the branch holds now.
report() {
  {
    printf '[{"cluster": "%s-1", "folder": "drone", ' "$1"
    printf '"revision": "%s@sha1:%s", ' "$1" "$(in_repo gitops rev-parse "$1")"
    printf '"state": "%s", "message": "web is %s", ' "$2" "$2"
    printf '"time": "%s"}]\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
  } >"$work/reports/$1.json"
}

merge one
run dev "Version one: dev takes it at once"
run stage "Stage waits for dev"
report dev current
run stage "Dev runs it: stage takes it"
report stage current
run prod "Stage runs it: prod takes it"

merge two
run dev "Version two: dev"
report dev current
run stage "Version two: stage"
report stage current
run prod "Version two: prod"

merge three
run dev "Version three: dev"
report dev current
run stage "Version three: stage"
report stage failed
sleep 2
export TF_VAR_progress_deadline=1s
mkdir "$work/prod"
cp "$repos/environment/fleet.yaml" "$work/prod"
sed -e 's/name: drone/name: kiosk/' -e '/^---$/,$d' "$repos/environment/fleet.yaml" >"$work/prod/kiosk.yaml"
commit control-plane prod "$work/prod" "Kiosks" prod
run prod "It fails in stage: prod stays, and its own change goes out"
export TF_VAR_progress_deadline=1h

merge four
export TF_VAR_approved="[\"$four\"]"
run prod "Version four is a hotfix: it needs no gate"
export TF_VAR_approved="[]"
run dev "And it goes its way: dev"
report dev current
run stage "And it goes its way: stage"
report stage current

export TF_VAR_pinned_commit=$two
run prod "Roll back to version two"
unset TF_VAR_pinned_commit
run prod "Released: what was rolled back does not come back"

merge five
run dev "Version five: dev"
report dev current
run stage "Version five: stage"
report stage current
run prod "Version five: prod"

headline "Why prod runs it"
in_repo gitops log -1 --format=%B prod
