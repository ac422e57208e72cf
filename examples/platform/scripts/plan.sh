#!/usr/bin/env bash
# plan.sh FILE: plans the environment TF_VAR_environment with base/ of this checkout, and adds the warnings and what
# changes to FILE, as Markdown.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
terraform plan -input=false -lock=false -no-color -var preview=true -out=plan >plan.txt 2>&1 || failed=$?
cat plan.txt
{
  printf '## %s\n\n' "$TF_VAR_environment"
  awk '/^(Error|Warning): / { on = n = 1 } /^─/ { on = 0 } on { print "    " $0 } END { if (n) print "" }' plan.txt
  [ "$failed" != 0 ] || terraform show -json plan |
    jq -r '.resource_changes[] | select(.type == "kalypso_environment_rendering") | .change |
      if .before.tree_hash == .after.tree_hash then "Nothing changes." else .after.description end'
} >>"$1"
exit "$failed"
