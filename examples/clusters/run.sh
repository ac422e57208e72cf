#!/usr/bin/env bash
# Follows clusters from a file: one joins without a cluster type, gets one, is expected, runs the tree, and leaves. See
# ../control-plane/local.sh for KALYPSO_PROVIDER and KEEP.
set -euo pipefail
# shellcheck source=SCRIPTDIR/../control-plane/local.sh
. "$(dirname "${BASH_SOURCE[0]}")/../control-plane/local.sh"

git init --quiet --bare --initial-branch=stage "$work/gitops"
mkdir "$work/first"
echo "The fleet's GitOps repo." >"$work/first/README.md"
commit gitops stage "$work/first" "Begin"
use_example clusters
export TF_VAR_gitops_url="file://$work/gitops" TF_VAR_clusters="$work/clusters.json" TF_VAR_reports="$work/reports.json"

# report CLUSTER: writes a report with the current time, as the cluster would.
report() {
  printf '{"cluster": "%s", "folder": "store", "revision": "stage@sha1:%s", "state": "current", "time": "%s"}' \
    "$1" "$(tf output -raw commit)" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
}

look() {
  headline "$1"
  tf apply "${plain[@]}" -auto-approve >"$work/log" || { cat "$work/log"; exit 1; }
  sed -n -e '/^Warning: Cluster/,$p' "$work/log" | sed -e '/^Apply complete/,$d'
  tf output "${plain[@]}"
}

echo '{"store-1": {"labels": {"kind": "store"}}}' >"$work/clusters.json"
headline "Deliver to a store"
tf apply "${plain[@]}" -auto-approve
echo "[$(report store-1)]" >"$work/reports.json"
look "The store runs it"

echo '{"store-1": {"labels": {"kind": "store"}}, "store-2": {}}' >"$work/clusters.json"
look "A cluster joins without a cluster type"

echo '{"store-1": {"labels": {"kind": "store"}}, "store-2": {"labels": {"kind": "store"}}}' >"$work/clusters.json"
look "It gets a cluster type, and is expected"

echo "[$(report store-1), $(report store-2)]" >"$work/reports.json"
look "It runs the tree"

echo '{"store-2": {"labels": {"kind": "store"}}}' >"$work/clusters.json"
echo "[$(report store-2)]" >"$work/reports.json"
look "The first store leaves"
