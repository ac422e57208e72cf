#!/usr/bin/env bash
# Runs go test with the environment of the acceptance tests. Then it lists the tests that did not run for want of a
# program, with the command that adds it. In CI (CI=true) such a test fails instead.
#
# usage: scripts/test.sh ARGS-OF-GO-TEST…
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

not_run=$(mktemp)
trap 'rm -f "$not_run"' EXIT
export KALYPSO_NOT_RUN=$not_run

# The collector runs less often: compilers, linkers and tests take up to a fifth less processor time.
export GOGC=${GOGC:-400}
GOFLAGS=$(scripts/goflags.sh)
export GOFLAGS

result=0
scripts/terraform.sh go test "$@" || result=$?

if [ -s "$not_run" ]; then
  sort -u "$not_run" | awk -F '\t' '
    $1 != program { program = $1; printf "\nNot run without %s (add it: %s):\n", $1, $2 }
    { print "  " $3 }'
fi
exit "$result"
