#!/usr/bin/env bash
# Runs each fuzz target of the packages (all by default) for a time. It finds the targets itself. An input that fails is
# kept in testdata/fuzz of the package: commit it with the fix.
#
#   scripts/fuzz.sh 1m [package …]
set -euo pipefail

cd "$(dirname "$0")/.."
time=$1
shift
declare -a folders
if [ $# -gt 0 ]; then
  mapfile -t folders < <(go list -f '{{.Dir}}' "$@")
else
  folders=(internal)
fi
mapfile -t packages < <(grep -rl --include='*_test.go' '^func Fuzz' "${folders[@]}" | xargs -r -n 1 dirname | sort -u)

failed=()
for package in "${packages[@]}"; do
  package=./${package#"$PWD/"}
  for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz'); do
    echo "== $package $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -parallel "${FUZZPARALLEL:-1}" "$package" || failed+=("$package $target")
  done
done
if [ ${#failed[@]} -gt 0 ]; then
  printf 'failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
