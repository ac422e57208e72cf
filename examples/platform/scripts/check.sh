#!/usr/bin/env bash
# check.sh FILE: adds the placement of the team's Workload to FILE, as Markdown, with fields that the provider does not
# know, and fails if a deployment target runs nowhere or does not render.
set -euo pipefail
cd "$(dirname "$0")/../check"
terraform apply -input=false -auto-approve -no-color >apply.log 2>&1 || {
  sed -n '/^Error: /,$p' apply.log | tee -a "$1"
  exit 1
}
awk '/^Warning: .*Unknown field/ { on = 1 } on { print "    " $0 } /^File: / { on = 0 }' apply.log | tee -a "$1"
terraform output -raw summary | tee -a "$1"
test "$(terraform output -raw passed)" = true
