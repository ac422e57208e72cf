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

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# ended reports whether the only failure is the end of the time, which Go 1.26 may report as one: it prints nothing else,
# and keeps no input. See https://go.dev/issue/75804, mended in Go 1.27.
ended() {
  grep -A 1 '^--- FAIL' "$log" | grep -qx '    context deadline exceeded' && ! grep -q 'Failing input' "$log"
}

failed=()
for package in "${packages[@]}"; do
  package=./${package#"$PWD/"}
  for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz'); do
    echo "== $package $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -timeout 0 -parallel "${FUZZPARALLEL:-1}" "$package" 2>&1 |
      tee "$log" || ended || failed+=("$package $target")
  done
done
if [ ${#failed[@]} -gt 0 ]; then
  printf 'failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
