#!/usr/bin/env bash
# Measures what the provider costs at fleet size and prints a Markdown table, every figure beside what it is compared with
# in the same run. The table is kept in bin/bench.md; BENCHMARKS.md holds one with its machine.
#
# RUNS: how often each figure is measured (default 3). With BENCH, a regular expression, it runs the Go benchmarks of that
# name instead (COUNT times each, in the packages PKG) and keeps their results in bin/bench.txt, which `bin/benchstat`
# compares with an earlier one.
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
  go run ./internal/testing/bench -provider bin/bench/terraform-provider-kalypso -runs "${RUNS:-3}"
  echo
  echo "Reading, from a server on loopback:"
  go test -count=1 -v -run 'TestWorkloadsFetches|TestLookAtFleet' ./internal/kalypso/source ./internal/kalypso/deployment/observe |
    sed -n 's/^.*_test.go:[0-9]*: /- /p'
} | tee bin/bench.md
