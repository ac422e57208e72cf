#!/usr/bin/env bash
# Compares two revisions with benchstat: BASE, a revision of this repo, in a work tree in a temporary folder, and the
# current work tree with its changes. The two take turns, so that noise on the machine affects both: first the Go
# benchmarks, then Terraform with each provider at fleet size.
#
# COUNT: number of turns (default 6; benchstat needs that many for confidence). BENCH: a regular expression for the Go
# benchmarks, in the packages PKG (default all). FLEET=0 skips Terraform, which takes over a minute per turn. The
# results are in bin/base.txt and bin/head.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

base=$(git rev-parse --verify --quiet "${BASE:-}^{commit}") || {
  echo "BASE is not a commit: '${BASE:-}'. For example: make bench-compare BASE=main" >&2
  exit 1
}

scratch=$(mktemp -d)
trap 'git worktree remove --force "$scratch/base" || true; rm -rf "$scratch"' EXIT
git worktree add --quiet --detach "$scratch/base" "$base"
mkdir -p bin
: >bin/base.txt
: >bin/head.txt
go build -o "$scratch/bench" ./internal/testing/bench

# turn NAME FOLDER: measures a work tree once. The current work tree's program measures both providers.
turn() {
  local results=$PWD/bin/$1.txt provider=$scratch/$1-provider/terraform-provider-kalypso
  # shellcheck disable=SC2086 # PKG may name several packages
  (cd "$2" && go test -run '^$' -bench "${BENCH:-.}" -benchmem -p 1 -timeout 60m ${PKG:-./internal/kalypso/...}) \
    >>"$results"
  if [ "${FLEET:-1}" != 0 ]; then
    (cd "$2" && go build -trimpath -ldflags '-X main.version=bench' -o "$provider" .)
    echo "pkg: terraform" >>"$results"
    scripts/terraform.sh "$scratch/bench" -provider "$provider" -only planning -runs 1 -benchmarks >>"$results"
  fi
}

for ((i = 1; i <= ${COUNT:-6}; i++)); do
  echo "turn $i of ${COUNT:-6}" >&2
  turn base "$scratch/base"
  turn head .
done
echo "base is $(git rev-parse --short "$base"), head is $(git describe --always --dirty)"
# Also compare benchmarks that moved to another package.
bin/benchstat -ignore pkg bin/base.txt bin/head.txt
