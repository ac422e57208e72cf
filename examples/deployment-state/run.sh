#!/usr/bin/env bash
# Delivers a tree and follows it to two clusters that report by a file: no reports, one cluster runs it, both run it, a
# change is in progress, a cluster fails. See ../control-plane/local.sh for KALYPSO_PROVIDER and KEEP.
set -euo pipefail
# shellcheck source=SCRIPTDIR/../control-plane/local.sh
. "$(dirname "${BASH_SOURCE[0]}")/../control-plane/local.sh"

git init --quiet --bare --initial-branch=stage "$work/gitops"
mkdir "$work/first"
echo "The fleet's GitOps repo." >"$work/first/README.md"
commit gitops stage "$work/first" "Begin"
use_example deployment-state
export TF_VAR_gitops_url="file://$work/gitops" TF_VAR_reports="$work/reports.json"

# report CLUSTER STATE COMMIT: writes a report with the current time, as the cluster would.
report() {
  printf '{"cluster": "%s", "folder": "drone", "revision": "stage@sha1:%s", "state": "%s", "time": "%s"}' \
    "$1" "$3" "$2" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
}

look() {
  headline "$1"
  tf apply "${plain[@]}" -auto-approve >"$work/log" || { cat "$work/log"; exit 1; }
  tf output "${plain[@]}"
}

headline "Deliver"
tf apply "${plain[@]}" -auto-approve
first=$(tf output -raw commit)

look "No cluster has reported"

echo "[$(report drone-7 current "$first")]" >"$work/reports.json"
look "One cluster runs it"

echo "[$(report drone-7 current "$first"), $(report drone-8 current "$first")]" >"$work/reports.json"
look "Both run it"

export TF_VAR_region=north
headline "Deliver a change"
tf apply "${plain[@]}" -auto-approve
second=$(tf output -raw commit)

echo "[$(report drone-7 current "$second"), $(report drone-8 current "$first")]" >"$work/reports.json"
look "It is on its way"

echo "[$(report drone-7 current "$second"), $(report drone-8 failed "$second")]" >"$work/reports.json"
look "A cluster does not get well"
