#!/usr/bin/env bash
# Shows the provider at work, without a network and without a trace: builds it, plans and applies examples/quickstart
# against a bare Git repo in a temporary folder, then changes one policy and applies again.
#
# KEEP=1 leaves the temporary folder and says where it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

branch=dev
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

# Nothing of the caller's settings reaches Terraform or Git.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE TF_CLI_ARGS TF_CLI_ARGS_plan TF_CLI_ARGS_apply TF_DATA_DIR TF_WORKSPACE
export TF_CLI_CONFIG_FILE="$work/terraform.rc" TF_IN_AUTOMATION=1 TF_INPUT=0 CHECKPOINT_DISABLE=1

# Colours where somebody looks at them, and in no log.
plain=()
[ -t 1 ] || plain=(-no-color)

headline() {
  printf '\n=== %s\n\n' "$1"
}

in_repo() {
  git --git-dir="$work/gitops.git" "$@"
}

# tf COMMAND ARGS…: Terraform on the copy of the quickstart.
tf() {
  terraform -chdir="$work/quickstart" "$@"
}

plan() { # PLAN_FILE ARGS…
  local file=$1
  shift
  tf plan "${plain[@]}" -out="$work/$file" -var "gitops_repo_url=file://$work/gitops.git" "$@"
}

headline "Build the provider"
mkdir "$work/bin"
go build -o "$work/bin/terraform-provider-kalypso" .
cp -R examples/quickstart "$work/quickstart"
rm -rf "$work/quickstart/.terraform" "$work/quickstart"/*.tfstate* "$work/quickstart/.terraform.lock.hcl"
# With an override no "terraform init" is needed, and Terraform says at each command that it is in use.
cat >"$work/terraform.rc" <<EOF
disable_checkpoint = true
provider_installation {
  dev_overrides {
    "registry.terraform.io/terraform-kalypso/kalypso" = "$work/bin"
  }
}
EOF

git init --quiet --bare "$work/gitops.git"
echo "A bare Git repo stands for the GitOps repo: file://$work/gitops.git"

headline "The first plan"
plan first.tfplan

headline "Apply it"
tf apply "${plain[@]}" "$work/first.tfplan"

headline "The tree on the branch $branch"
in_repo ls-tree -r "$branch"

headline "The commit"
in_repo log --stat --format=fuller "$branch"
first=$(in_repo rev-parse "$branch")

headline "A plan with nothing changed"
plan unchanged.tfplan -detailed-exitcode

headline "One policy changes: the performance test goes on small clusters too"
sizes='performance_test_sizes=["large","small"]'
plan second.tfplan -var "$sizes"

headline "Apply it"
tf apply "${plain[@]}" "$work/second.tfplan"

headline "Its commit"
in_repo log --stat --format=fuller "$first..$branch"

headline "What it did to the tree"
in_repo diff "$first" "$branch"

commits=$(in_repo rev-list --count "$branch")
if [ "$commits" != 2 ]; then
  echo "Two applies should have made two commits, the branch has $commits." >&2
  exit 1
fi

headline "Done: two applies, two commits"
