#!/usr/bin/env bash
# Demonstrates the provider without a network: builds it, plans and applies examples/quickstart against a bare Git repo
# in a temporary folder, then changes one policy and applies again. It prints the essentials; bin/demo keeps the plans.
#
# KEEP=1 keeps the temporary folder and prints its path.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

terraform=$(scripts/terraform.sh)
branch=dev
plans=bin/demo
work=$(mktemp -d "${TMPDIR:-/tmp}/kalypso-demo.XXXXXX")
work=$(cd "$work" && pwd -P)

clean_up() {
  if [ "${KEEP:-}" = 1 ]; then
    echo "Kept: $work"
  else
    rm -rf "$work"
  fi
}
trap clean_up EXIT

# Keep the caller's settings away from Terraform and Git.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE TF_CLI_ARGS TF_CLI_ARGS_plan TF_CLI_ARGS_apply TF_DATA_DIR TF_WORKSPACE
export TF_CLI_CONFIG_FILE="$work/terraform.rc" TF_IN_AUTOMATION=1 TF_INPUT=0 CHECKPOINT_DISABLE=1

headline() {
  printf '\n=== %s\n\n' "$1"
}

in_repo() {
  git --no-pager --git-dir="$work/gitops.git" "$@"
}

# tf COMMAND ARGS…: runs Terraform on the copy of the quickstart.
tf() {
  "$terraform" -chdir="$work/quickstart" "$@"
}

# plan NAME ARGS…: plans into $work/NAME.tfplan, and writes the whole text to $plans/NAME.txt.
plan() {
  local name=$1 text="$plans/$1.txt"
  shift
  if ! tf plan -no-color -out="$work/$name.tfplan" \
    -var "gitops_repo_url=file://$work/gitops.git" "$@" >"$text" 2>&1; then
    cat "$text"
    exit 1
  fi
}

# gist NAME: of a plan, what becomes of the rendering's assignments, and the summary.
gist() {
  awk '
    /^  # kalypso_environment_rendering/ { print; rendering = 1 }
    rendering && /^      [-+~ ] assignments +=/ { shown = 1 }
    shown { print }
    shown && /^        }/ { shown = rendering = 0; print "" }
    /^Plan: / { print }
  ' "$plans/$1.txt"
  printf '\nThe whole plan, %s lines, is in %s\n' "$(wc -l <"$plans/$1.txt" | tr -d ' ')" "$plans/$1.txt"
}

# apply NAME: applies a plan, and prints what came of it.
apply() {
  local text="$plans/$1-apply.txt"
  if ! tf apply -no-color "$work/$1.tfplan" >"$text" 2>&1; then
    cat "$text"
    exit 1
  fi
  grep '^Apply complete' "$text"
}

headline "Build the provider"
make --no-print-directory build
mkdir -p "$plans"
cp -R examples/quickstart examples/modules "$work"
rm -rf "$work/quickstart/.terraform" "$work/quickstart"/*.tfstate* "$work/quickstart/.terraform.lock.hcl"
# With dev_overrides Terraform needs no init, but it needs the modules.
cat >"$work/terraform.rc" <<RC
disable_checkpoint = true
provider_installation {
  dev_overrides {
    "terraform-kalypso/kalypso" = "$PWD/bin"
  }
}
RC
tf get >/dev/null
git init --quiet --bare "$work/gitops.git"
echo "The fleet is examples/quickstart. A bare Git repo stands for its GitOps repo: file://$work/gitops.git"

headline "The first plan: which deployment target goes on which cluster type"
plan first
gist first

headline "Apply it: one commit on the branch $branch"
apply first
in_repo log --stat=100 --format='%h %an: %s' "$branch"
first=$(in_repo rev-parse "$branch")

headline "A plan with nothing changed"
plan unchanged -detailed-exitcode
grep '^No changes' "$plans/unchanged.txt"

headline "One policy changes: the performance test goes on small clusters too"
plan second -var 'performance_test_sizes=["large","small"]'
gist second

headline "Apply it: the second commit"
apply second
in_repo log --stat=100 --format='%h %an: %s' "$first..$branch"

headline "What it did to the tree"
in_repo diff "$first" "$branch" -- . ':!.kalypso'

commits=$(in_repo rev-list --count "$branch")
if [ "$commits" != 2 ]; then
  echo "Expected two commits after two applies; the branch has $commits." >&2
  exit 1
fi

headline "Done: two applies, two commits"
