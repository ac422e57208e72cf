#!/usr/bin/env bash
# Promotes commits of a control plane from dev to prod, in waves: two promotions, one that fails in stage, a change of
# prod's own objects and a hotfix despite the closed gate, a pause, a rejected commit that is rolled back and not
# promoted again, a freeze over the holidays, a hold in the middle of a rollout, and a revert on the GitOps branch. At
# the end, a commit breaks the clusters of prod, which is rolled back automatically. Clusters report by files. The script shows
# every plan. See ../control-plane/local.sh for KALYPSO_PROVIDER and KEEP.
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

# merge VERSION: makes a commit on main that all environments render, and sets the variable VERSION to its hash.
merge() {
  local parent
  parent=$(in_repo control-plane rev-parse --quiet --verify main || true)
  rm -rf "$work/main"
  cp -R "$repos/main" "$work/main"
  sed -e "s/VERSION/$1/" "$repos/main/templates.yaml" >"$work/main/templates.yaml"
  commit control-plane main "$work/main" "Version $1" "$parent"
  printf -v "$1" '%s' "$(in_repo control-plane rev-parse main)"
}

# run ENVIRONMENT HEADLINE: does what the environment's pipeline does, and shows the plan, the decision and the outcome.
run() {
  headline "$2"
  tf workspace select -or-create "$1" >"$work/log"
  tf plan "${plain[@]}" -compact-warnings -out="$work/plan"
  tf apply "${plain[@]}" -compact-warnings "$work/plan" >"$work/log" || { cat "$work/log"; exit 1; }
  printf '\n%s: ' "$1"
  tf state show -no-color data.kalypso_promotion.this |
    awk '/^    summary +=/ { on = 1 } on { print } on && (/^ *EOT$/ || /"$/) { exit }'
  printf '\nCluster types of %s:\n' "$1"
  for type in $(in_repo gitops ls-tree -d --name-only "$1" | grep -v '^\.'); do
    printf '%s\t%s\n' "$type" "$(in_repo gitops show "$1:$type/shop-web/namespace.yaml" | grep version)"
  done
}

# report ENVIRONMENT STATE: the environment's clusters report that they run the current tree of the branch.
report() {
  local folder separator="["
  for folder in $(in_repo gitops ls-tree -d --name-only "$1" | grep -v '^\.'); do
    printf '%s{"cluster": "%s-%s", "folder": "%s", ' "$separator" "$1" "$folder" "$folder"
    printf '"revision": "%s@sha1:%s", ' "$1" "$(in_repo gitops rev-parse "$1")"
    printf '"state": "%s", "message": "web is %s", ' "$2" "$2"
    printf '"time": "%s"}' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    separator=", "
  done >"$work/reports/$1.json"
  echo "]" >>"$work/reports/$1.json"
}

merge one
run dev "Version one: dev takes it at once"
run stage "Stage waits for dev"
report dev current
run stage "Dev runs it: stage takes it"
report stage current
run prod "Stage runs it: prod takes it"
report prod current

merge two
run dev "Version two: dev"
report dev current
run stage "Version two: stage"
report stage current
run prod "Version two: prod"
report prod current

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
report prod current
export TF_VAR_progress_deadline=1h

merge four
export TF_VAR_approved="[\"$four\"]"
run prod "Version four is a hotfix: it needs no gate, and goes in waves"
export TF_VAR_approved="[]"
report prod current
export TF_VAR_pause="look at the drones first"
run prod "A pause: no further wave"
unset TF_VAR_pause
run prod "The second wave"
report prod current
run dev "And it goes its way: dev"
report dev current
run stage "And it goes its way: stage"
report stage current

export TF_VAR_rejected="{\"$four\" = null}"
run prod "Reject version four: prod is rolled back at once"
report prod current
unset TF_VAR_rejected
run prod "What was rolled back does not come back"

merge five
run dev "Version five: dev"
report dev current
run stage "Version five: stage"
report stage current
year=$(date -u +%Y)
export TF_VAR_windows="[{kind = \"deny\", from = \"$year-01-01T00:00:00Z\", until = \"$((year + 1))-02-01T00:00:00Z\",
  reason = \"holidays\"}]"
run prod "Version five: prod is closed over the holidays"
unset TF_VAR_windows
run prod "Version five: the first wave in prod"
report prod current
export TF_VAR_hold="an incident"
run prod "Hold: nothing is written"
unset TF_VAR_hold
run prod "Version five: the second wave in prod"
report prod current

headline "Why prod runs it"
in_repo gitops log -1 --format=%B prod

headline "Break-glass: revert the last wave on the GitOps branch"
in_repo gitops update-ref refs/heads/prod \
  "$(in_repo gitops commit-tree -p prod -m "Revert the last wave" "prod~1^{tree}")"
tf plan "${plain[@]}" -compact-warnings || true
export TF_VAR_rejected="{\"$five\" = null}"
run prod "Reject version five: the first wave is rolled back, too"
report prod current
unset TF_VAR_rejected

merge six
run dev "Version six: dev"
report dev current
run stage "Version six: stage"
report stage current
export TF_VAR_rollback=true
run prod "Version six: the first wave in prod"
report prod failed
sleep 2
export TF_VAR_progress_deadline=1s
run prod "It breaks the clusters: prod is rolled back automatically"
report prod current
export TF_VAR_progress_deadline=1h
run prod "It runs: the record notes that, and version six does not come back"
