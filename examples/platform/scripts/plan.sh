#!/usr/bin/env bash
# plan.sh FILE COMMIT: plans the environment TF_VAR_environment, and adds the warnings and what changes to FILE, as
# Markdown. If only overrides/ changed since the commit, it plans what the decisions do. Otherwise it plans with base/ of
# this checkout, as if it was promoted.
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
changed=$(git diff --name-only "$2" HEAD)
preview=false
if grep -qv '^overrides/' <<<"$changed"; then preview=true; fi
terraform plan -input=false -lock=false -no-color -var "preview=$preview" -out=plan >plan.txt 2>&1 || failed=$?
cat plan.txt
{
  printf '## %s\n\n' "$TF_VAR_environment"
  if [ "$preview" = true ] && grep -q '^overrides/' <<<"$changed"; then
    printf 'The decisions in overrides/ are not in this plan, since other files change too.\n\n'
  fi
  awk '/^(Error|Warning): / { on = n = 1 } /^─/ { on = 0 } on { print "    " $0 } END { if (n) print "" }' plan.txt
  [ "$failed" != 0 ] || terraform show -json plan |
    jq -r '.resource_changes[] | select(.type == "kalypso_environment_rendering") | .change |
      if .before == null then "A new environment: the first delivery creates its folders."
      elif .before.tree_hash == .after.tree_hash then "Nothing changes."
      else .after.description // "The text of the change is known after apply." end'
} >>"$1"
exit "$failed"
