# shellcheck shell=bash
# The run.sh of each example with local Git repos sources this file. It creates a temporary folder "$work" with the
# repos of ./repos as bare repos, the provider, and a copy of the example, on which "tf" runs Terraform. Terraform and
# Git do not use the caller's settings or the network.
#
# KALYPSO_PROVIDER is the path of the provider's binary; by default, the script builds it. KEEP=1 keeps the temporary
# folder.

local_examples=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
work=$(mktemp -d "${TMPDIR:-/tmp}/kalypso-example.XXXXXX")
work=$(cd "$work" && pwd -P)

clean_up() {
  if [ "${KEEP:-}" = 1 ]; then
    echo "Kept: $work"
  else
    rm -rf "$work"
  fi
}
trap clean_up EXIT

unset "${!GIT_@}" "${!TF_@}"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_PAGER=cat
export GIT_AUTHOR_NAME=Example GIT_AUTHOR_EMAIL=example@example.com
export GIT_COMMITTER_NAME=Example GIT_COMMITTER_EMAIL=example@example.com
export TF_CLI_CONFIG_FILE="$work/terraform.rc" TF_IN_AUTOMATION=1 TF_INPUT=0 CHECKPOINT_DISABLE=1

# Use colours on a terminal, but not in a log.
plain=()
# shellcheck disable=SC2034 # for the scripts that source this
[ -t 1 ] || plain=(-no-color)

headline() {
  printf '\n=== %s\n\n' "$1"
}

# in_repo REPO ARGS…: runs Git in one of the bare repos.
in_repo() {
  local repo=$1
  shift
  git --git-dir="$work/$repo" "$@"
}

# tf COMMAND ARGS…: runs Terraform on the copy of the example.
tf() {
  terraform -chdir="$work/example" "$@"
}

# commit REPO BRANCH FOLDER MESSAGE [PARENT]: commits the contents of the folder as the head of the branch.
commit() {
  local tree made
  rm -f "$work/index"
  GIT_INDEX_FILE="$work/index" in_repo "$1" --work-tree="$3" add --all --force "$3"
  tree=$(GIT_INDEX_FILE="$work/index" in_repo "$1" write-tree)
  made=$(in_repo "$1" commit-tree ${5:+-p "$5"} -m "$4" "$tree")
  in_repo "$1" update-ref "refs/heads/$2" "$made"
}

# make_repos creates control-plane (main, dev), shop (main, pull-request) and gitops (dev) below "$work". In the control
# plane, the URLs of these repos replace https://git.acme.io, and dev pins the commit of main.
make_repos() {
  local repos=$local_examples/control-plane/repos repo file promoted
  for repo in control-plane shop gitops; do
    git init --quiet --bare --initial-branch=main "$work/$repo"
  done
  commit shop main "$repos/shop/main" "The shop's workload"
  commit shop pull-request "$repos/shop/pull-request" "A lighter worker, and kiosks" main
  commit gitops dev "$repos/gitops/dev" "What the operator left"

  cp -R "$repos/control-plane" "$work/yaml"
  local_places "$work/yaml/main/workloads/shop.yaml"
  commit control-plane main "$work/yaml/main" "Templates and registrations"
  promoted=$(in_repo control-plane rev-parse main)
  for file in base-repo gitops-repo; do
    local_places "$work/yaml/dev/$file.yaml" "$promoted"
  done
  commit control-plane dev "$work/yaml/dev" "The environment dev"
}

# local_places FILE [PROMOTED]: fills the URLs of the local repos and the promoted commit into the file.
local_places() {
  sed -e "s|https://git.acme.io|file://$work|" -e "s|PROMOTED_COMMIT|${2:-}|" "$1" >"$1.new"
  mv "$1.new" "$1"
}

# use_example FOLDER: copies the configuration of the example, and provides the provider for it.
use_example() {
  local provider=${KALYPSO_PROVIDER:-}
  if [ -z "$provider" ]; then
    headline "Build the provider"
    provider=$work/bin/terraform-provider-kalypso
    (cd "$local_examples/.." && go build -o "$provider" .)
  fi
  # With an override, "terraform init" is not needed, and each command warns that the override is in use.
  cat >"$TF_CLI_CONFIG_FILE" <<EOF
disable_checkpoint = true
provider_installation {
  dev_overrides {
    "terraform-kalypso/kalypso" = "$(cd "$(dirname "$provider")" && pwd -P)"
  }
}
EOF
  mkdir "$work/example"
  cp "$local_examples/$1"/*.tf "$work/example"
  # Modules of other examples stay in their folders.
  if grep -q '"\.\./modules/' "$work/example"/*.tf; then
    sed -e "s|\"\.\./modules/|\"$local_examples/modules/|" "$work/example/main.tf" >"$work/main.tf"
    mv "$work/main.tf" "$work/example/main.tf"
    tf get >/dev/null
  fi
}
