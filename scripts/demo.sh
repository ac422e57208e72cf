#!/usr/bin/env bash
<<<<<<< HEAD
# Shows the provider at work, without a network: builds it, plans and applies examples/quickstart against a bare Git repo in a
# temporary folder, then changes one policy and applies again. It prints the gist; the whole plans go to bin/demo.
=======
# Demonstrates the provider without a network, and cleans up afterwards: builds it, plans and applies
# examples/quickstart against a bare Git repo in a temporary folder, then changes one policy and applies again.
>>>>>>> a0e18b2 (Write what contributors read in plain English)
#
# KEEP=1 keeps the temporary folder and prints its path.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

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

<<<<<<< HEAD
=======
# Use colours only on a terminal.
plain=()
[ -t 1 ] || plain=(-no-color)

>>>>>>> a0e18b2 (Write what contributors read in plain English)
headline() {
  printf '\n=== %s\n\n' "$1"
}

in_repo() {
  git --no-pager --git-dir="$work/gitops.git" "$@"
}

# tf COMMAND ARGS…: runs Terraform on the copy of the quickstart.
tf() {
  terraform -chdir="$work/quickstart" "$@"
}

# plan NAME ARGS…: plans into $work/NAME.tfplan, and writes the whole text to $plans/NAME.txt.
plan() {
  local name=$1 text="$plans/$1.txt"
  shift
  if ! tf plan -no-color -out="$work/$name.tfplan" -var "gitops_repo_url=file://$work/gitops.git" "$@" >"$text" 2>&1; then
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
cp -R examples/quickstart "$work/quickstart"
rm -rf "$work/quickstart/.terraform" "$work/quickstart"/*.tfstate* "$work/quickstart/.terraform.lock.hcl"
<<<<<<< HEAD
# With dev_overrides Terraform needs no init.
cat >"$work/terraform.rc" <<RC
=======
# With an override, Terraform needs no "terraform init", and prints a warning with each command.
cat >"$work/terraform.rc" <<EOF
>>>>>>> a0e18b2 (Write what contributors read in plain English)
disable_checkpoint = true
provider_installation {
  dev_overrides {
    "registry.terraform.io/terraform-kalypso/kalypso" = "$PWD/bin"
  }
}
RC
git init --quiet --bare "$work/gitops.git"
<<<<<<< HEAD
echo "The fleet is examples/quickstart. A bare Git repo stands for its GitOps repo: file://$work/gitops.git"

headline "The first plan: which deployment target goes on which cluster type"
plan first
gist first
=======
echo "The GitOps repo is a bare Git repo: file://$work/gitops.git"

headline "First plan"
plan first.tfplan
>>>>>>> a0e18b2 (Write what contributors read in plain English)

headline "Apply it: one commit on the branch $branch"
apply first
in_repo log --stat=100 --format='%h %an: %s' "$branch"
first=$(in_repo rev-parse "$branch")

<<<<<<< HEAD
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
=======
headline "Plan without changes"
plan unchanged.tfplan -detailed-exitcode

headline "Change one policy: the performance test also runs on small clusters"
sizes='performance_test_sizes=["large","small"]'
plan second.tfplan -var "$sizes"

headline "Apply it"
tf apply "${plain[@]}" "$work/second.tfplan"

headline "The second commit"
in_repo log --stat --format=fuller "$first..$branch"

headline "The changes to the tree"
in_repo diff "$first" "$branch"
>>>>>>> a0e18b2 (Write what contributors read in plain English)

commits=$(in_repo rev-list --count "$branch")
if [ "$commits" != 2 ]; then
  echo "Expected two commits after two applies; the branch has $commits." >&2
  exit 1
fi

headline "Done: two applies, two commits"
