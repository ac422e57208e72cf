#!/usr/bin/env bash
# Measures the provider's costs at fleet size and prints a Markdown table. Figures that are compared come from the same
# run. The table is also in bin/bench.md; BENCHMARKS.md has one with its machine.
#
# RUNS: number of measurements per figure (default 3). With BENCH, a regular expression, it runs those Go benchmarks
# instead (COUNT times each, in the packages PKG) and writes the results to bin/bench.txt, for `bin/benchstat`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mkdir -p bin

if [ -n "${BENCH:-}" ]; then
  # shellcheck disable=SC2086 # PKG may name several packages
  go test -run '^$' -bench "$BENCH" -benchmem -count "${COUNT:-1}" -timeout 60m ${PKG:-./...} | tee bin/bench.txt
  exit
fi

go build -trimpath -o bin/bench/terraform-provider-kalypso .
{
  echo "Commit $(git describe --always --dirty 2>/dev/null || echo unknown)."
  echo
  scripts/terraform.sh go run ./internal/testing/bench -provider bin/bench/terraform-provider-kalypso -runs "${RUNS:-3}"
  echo
  echo "Reading, from a server on loopback:"
  go test -count=1 -v -run 'TestWorkloadsFetches|TestLookAtFleet|TestRequests' \
    ./internal/kalypso/source ./internal/kalypso/deployment/observe ./internal/kalypso/promotion/lookup |
    sed -n 's/^.*_test.go:[0-9]*: /- /p'
} | tee bin/bench.md
