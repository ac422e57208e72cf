#!/usr/bin/env bash
# Runs the benchmarks and prints their results after a few lines that name the machine. They are also kept in
# bin/bench.txt, which `bin/benchstat` compares with an earlier one.
#
# BENCH: which benchmarks (regular expression, default all); COUNT: how often each runs; PKG: which packages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ -z "${KALYPSO_GOLDEN:-}" ] && [ -d ../shared/golden ]; then
  KALYPSO_GOLDEN=$(cd ../shared/golden && pwd)
  export KALYPSO_GOLDEN
fi

cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1 || true)
mkdir -p bin

{
  echo "machine: ${cpu:-unknown processor}, $(getconf _NPROCESSORS_ONLN) processors, $(uname -sm)"
  echo "go:      $(go env GOVERSION)"
  echo "git:     $(git --version)"
  echo "commit:  $(git describe --always --dirty 2>/dev/null || echo unknown)"
  echo
  # shellcheck disable=SC2086 # PKG may name several packages
  go test -run '^$' -bench "${BENCH:-.}" -benchmem -count "${COUNT:-1}" -timeout 60m ${PKG:-./...}
} | tee bin/bench.txt
