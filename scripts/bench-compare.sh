#!/usr/bin/env bash
# Measures two revisions side by side and prints what benchstat says of them: BASE, a revision of this repo, in a work tree
# in a temporary folder, and what is checked out here, changes included. They take turns, so that a noisy machine is noisy
# for both: the Go benchmarks, then Terraform with the two providers at fleet size.
#
# COUNT: how many turns (default 6; from fewer benchstat tells no difference with confidence). BENCH: a regular expression
# for the Go benchmarks, in the packages PKG (default all of them). FLEET=0 leaves out Terraform, which takes a minute and more
# a turn. The results are kept in bin/base.txt and bin/head.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

base=$(git rev-parse --verify --quiet "${BASE:-}^{commit}") || {
  echo "BASE names no commit: '${BASE:-}'. For example: make bench-compare BASE=main" >&2
  exit 1
}

scratch=$(mktemp -d)
trap 'git worktree remove --force "$scratch/base" || true; rm -rf "$scratch"' EXIT
git worktree add --quiet --detach "$scratch/base" "$base"
mkdir -p bin
: >bin/base.txt
: >bin/head.txt
go build -o "$scratch/bench" ./internal/testing/bench

# turn NAME FOLDER: measures the work tree once. Both providers are measured by one program, that of this work tree.
turn() {
  local results=$PWD/bin/$1.txt provider=$scratch/$1-provider/terraform-provider-kalypso
  # shellcheck disable=SC2086 # PKG may name several packages
  (cd "$2" && go test -run '^$' -bench "${BENCH:-.}" -benchmem -p 1 -timeout 60m ${PKG:-./internal/kalypso/...}) >>"$results"
  if [ "${FLEET:-1}" != 0 ]; then
    (cd "$2" && go build -trimpath -o "$provider" .)
    echo "pkg: terraform" >>"$results"
    "$scratch/bench" -provider "$provider" -only planning -runs 1 -benchmarks >>"$results"
  fi
}

for ((i = 1; i <= ${COUNT:-6}; i++)); do
  echo "turn $i of ${COUNT:-6}" >&2
  turn base "$scratch/base"
  turn head .
done
echo "base is $(git rev-parse --short "$base"), head is $(git describe --always --dirty)"
# A benchmark that moved to another package is compared too.
bin/benchstat -ignore pkg bin/base.txt bin/head.txt
