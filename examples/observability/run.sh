#!/usr/bin/env bash
# Simulates a week of dev and prod: promotions, a release of the application that needs no commit of the platform, a
# promotion that fails and is rolled back, and the next one. Then it shows the deliveries to prod, and the versions that
# its clusters ran. Clusters report by files. The commits get the dates of the week. See ../control-plane/local.sh for
# KALYPSO_PROVIDER and KEEP.
set -euo pipefail
# shellcheck source=SCRIPTDIR/../control-plane/local.sh
. "$(dirname "${BASH_SOURCE[0]}")/../control-plane/local.sh"

repos=$local_examples/observability/repos
mkdir "$work/reports" "$work/empty"
echo "The fleet's GitOps repo." >"$work/empty/README.md"
for repo in control-plane gitops shop; do
  git init --quiet --bare --initial-branch=main "$work/$repo"
done

# at TIME: sets the time of the following steps.
at() {
  export GIT_AUTHOR_DATE="$1" GIT_COMMITTER_DATE="$1"
}

at 2025-03-02T12:00:00Z
for environment in dev prod; do
  commit control-plane "$environment" "$repos/environment" "Environment $environment"
  commit gitops "$environment" "$work/empty" "Begin"
done
use_example observability
export TF_VAR_control_plane_url="file://$work/control-plane" TF_VAR_gitops_url="file://$work/gitops"
export TF_VAR_reports="$work/reports" TF_VAR_local_repos=true TF_VAR_until=2025-03-09T00:00:00Z

# replaced REPO BRANCH FOLDER VERSION MESSAGE: commits the folder with VERSION replaced, as the new $head.
replaced() {
  local parent file
  parent=$(in_repo "$1" rev-parse --quiet --verify "$2" || true)
  rm -rf "$work/files"
  cp -R "$3" "$work/files"
  find "$work/files" -type f | while read -r file; do
    sed -e "s/VERSION/$4/" -e "s|https://git.acme.io/shop|file://$work/shop|" "$file" >"$file.new"
    mv "$file.new" "$file"
  done
  commit "$1" "$2" "$work/files" "$5" "$parent"
  head=$(in_repo "$1" rev-parse "$2")
}

# pipeline ENVIRONMENT: runs the environment's pipeline.
pipeline() {
  tf workspace select -or-create "$1" >"$work/log"
  tf apply "${plain[@]}" -auto-approve -compact-warnings >"$work/log" || { cat "$work/log"; exit 1; }
}

# deliver ENVIRONMENT TIME: runs the environment's pipeline at this time, and gives its commit this date.
deliver() {
  local made
  at "$2"
  pipeline "$1"
  made=$(in_repo gitops log -1 --format=%B "$1" | in_repo gitops commit-tree -p "$1~1" -F - "$1^{tree}")
  in_repo gitops update-ref "refs/heads/$1" "$made"
}

# report ENVIRONMENT STATE COMMIT…: for each commit of the shop, one cluster reports that it runs this commit and the
# current tree of the GitOps branch. All report at the same time.
report() {
  local environment=$1 state=$2 separator="[" n=0 commit now
  shift 2
  now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  for commit in "$@"; do
    n=$((n + 1))
    printf '%s{"cluster": "%s-%s", "folder": "drone", "state": "%s", ' "$separator" "$environment" "$n" "$state"
    printf '"revision": "%s@sha1:%s", ' "$environment" "$(in_repo gitops rev-parse "$environment")"
    printf '"targets": [{"name": "shop-web", "revision": "main@sha1:%s", "state": "%s"}], ' "$commit" "$state"
    printf '"time": "%s"}' "$now"
    separator=", "
  done >"$work/reports/$environment.json"
  echo "]" >>"$work/reports/$environment.json"
}

# show OUTPUT HEADLINE: shows the current value of an output of prod.
show() {
  headline "$2"
  pipeline prod
  if [ "$1" = history ]; then tf output -raw "$1"; else tf output "${plain[@]}" "$1"; fi
}

# alerts HEADLINE: shows the checks of prod that fail now.
alerts() {
  headline "$1"
  tf workspace select prod >"$work/log"
  tf plan "${plain[@]}" >"$work/log" || { cat "$work/log"; exit 1; }
  sed -n '/Warning: Check block assertion failed/,/^╵/p' "$work/log" | sed -n 's/^[│ ]*\(.*\.\)$/\1/p'
}

at 2025-03-03T08:00:00Z
replaced shop main "$repos/shop" 1.0 "Release 1.0"
release1=$head
at 2025-03-03T09:00:00Z
replaced control-plane main "$repos/main" one "Platform one"
deliver dev 2025-03-03T10:00:00Z
report dev current "$release1"
deliver prod 2025-03-03T16:00:00Z
report prod current "$release1" "$release1"
show versions "Monday: prod runs 1.0"

at 2025-03-04T09:00:00Z
replaced shop main "$repos/shop" 1.1 "Release 1.1"
release2=$head
report prod current "$release2" "$release1"
show versions "Tuesday: the first cluster runs 1.1, without a commit of the platform"
pipeline dev
show discrepancies "Tuesday: dev and prod run different versions"
report prod current "$release2" "$release2"

at 2025-03-05T09:00:00Z
replaced control-plane main "$repos/main" two "Platform two"
two=$head
deliver dev 2025-03-05T10:00:00Z
report dev current "$release2"
pipeline dev
deliver prod 2025-03-05T15:00:00Z
report prod failed "$release2" "$release2"
show environments_state "Wednesday: platform two fails in prod"
alerts "Wednesday: what the checks say"

export TF_VAR_rejected="{\"$two\" = null}"
deliver prod 2025-03-06T09:00:00Z
report prod current "$release2" "$release2"
deliver dev 2025-03-06T09:30:00Z
report dev current "$release2"
show versions "Thursday: platform two failed and is rolled back, and the shop stays"

at 2025-03-07T09:00:00Z
replaced control-plane main "$repos/main" three "Platform three"
export TF_VAR_rejected="{\"$two\" = \"$head\"}"
deliver dev 2025-03-07T10:00:00Z
report dev current "$release2"
deliver prod 2025-03-07T12:00:00Z
report prod current "$release2" "$release2"
show history "The week"
show cluster_state "What a cluster runs"
show environment_history "What the clusters ran"
