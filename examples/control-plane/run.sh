#!/usr/bin/env bash
# Renders the environment dev of a control plane over the tree that the operator wrote. It creates the repos of ./repos
# in a temporary folder. See local.sh for KALYPSO_PROVIDER and KEEP.
set -euo pipefail
# shellcheck source=SCRIPTDIR/local.sh
. "$(dirname "${BASH_SOURCE[0]}")/local.sh"

make_repos
use_example control-plane
tf workspace new dev >/dev/null
export TF_VAR_control_plane_url="file://$work/control-plane" TF_VAR_allow_local_repos=true

headline "The tree that the operator left"
in_repo gitops ls-tree -r --name-only dev
operator=$(in_repo gitops rev-parse dev)

headline "Plan"
tf plan "${plain[@]}" -out="$work/first.tfplan"

headline "Apply"
tf apply "${plain[@]}" "$work/first.tfplan"

headline "The tree"
in_repo gitops ls-tree -r --name-only dev

headline "What became of the operator's"
in_repo gitops diff --stat "$operator..dev"

headline "A plan with nothing changed"
tf plan "${plain[@]}" -detailed-exitcode
