#!/usr/bin/env bash
# Prints the path of the CLI that make uses: the command or path in TERRAFORM, else terraform or tofu on the PATH, else
# bin/tofu, which scripts/prerequisites.sh builds. It must have version 1.8 or newer. TERRAFORM=tofu takes bin/tofu if
# there is no tofu on the PATH.
#
# With a command, it runs that with the environment of the acceptance tests:
#
# usage: scripts/terraform.sh [COMMAND ARGS…]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

wanted=1.8

# banner CLI: prints its name and version, as in "Terraform v1.11.4".
banner() {
  TF_CLI_CONFIG_FILE='' CHECKPOINT_DISABLE=1 "$1" version 2>/dev/null | head -n 1
}

# serves CLI: succeeds if the command exists and its version is new enough.
serves() {
  local have
  command -v "$1" >/dev/null 2>&1 || return 1
  have=$(banner "$1" | sed -n 's/^[A-Za-z]* v\([0-9.]*\).*/\1/p')
  [ -n "$have" ] && [ "$(printf '%s\n%s\n' "$wanted" "$have" | sort -V | head -n 1)" = "$wanted" ]
}

case ${TERRAFORM:-} in
'') candidates=(terraform tofu "$PWD/bin/tofu") ;;
tofu) candidates=(tofu "$PWD/bin/tofu") ;;
*) candidates=("$TERRAFORM") ;;
esac

cli=
for candidate in "${candidates[@]}"; do
  if serves "$candidate"; then
    cli=$(command -v "$candidate")
    break
  fi
done
if [ -z "$cli" ]; then
  echo "Found no ${TERRAFORM:-terraform or tofu} of version $wanted or newer." >&2
  exit 1
fi
case $cli in
/*) ;;
*) cli=$PWD/$cli ;;
esac

if [ $# = 0 ]; then
  echo "$cli"
  exit
fi

export TF_ACC=1 TF_ACC_TERRAFORM_PATH=$cli
if [[ $(banner "$cli") == OpenTofu* ]]; then
  # The source address of a provider without a host means another registry in OpenTofu.
  export TF_ACC_PROVIDER_HOST=registry.opentofu.org TF_ACC_PROVIDER_NAMESPACE=hashicorp
fi
exec "$@"
