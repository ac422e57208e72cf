#!/usr/bin/env bash
# Builds a program from one of the modules in tools/, or takes it from the cache of an earlier build. The cache lies
# outside of the checkout, so clones share it: in KALYPSO_CACHE, else in the user's cache folder. Its key is the hash of
# what the program is built from.
#
# usage: scripts/build-tool.sh MODULE PACKAGE OUTPUT [FLAGS-OF-GO-BUILD…]
#   such as: scripts/build-tool.sh tools/opentofu github.com/opentofu/opentofu/cmd/tofu bin/tofu
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

module=$1 package=$2 output=$(realpath -m "$3")
flags=("${@:4}")
name=$(basename "$output")
cache=${KALYPSO_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/terraform-provider-kalypso}
key=$({
  find "$module" -maxdepth 1 -type f -print0 | sort -z | xargs -0 cat
  (cd "$module" && go env GOVERSION GOOS GOARCH CGO_ENABLED)
  echo "$package" "${flags[@]}"
} | git hash-object --stdin)
cached=$cache/$name-$key

mkdir -p "$(dirname "$output")"
if [ -x "$cached" ]; then
  touch "$cached" 2>/dev/null || true
  cp "$cached" "$output.new"
  mv "$output.new" "$output"
  exit
fi
# The collector of the compilers runs less often, which takes less processor time.
GOGC=${GOGC:-400} GOFLAGS=$(scripts/goflags.sh) go build -C "$module" -o "$output.new" "${flags[@]}" "$package"
mv "$output.new" "$output"

# A cache that can't be written is none. Builds that were not used for a month go.
if mkdir -p "$cache" 2>/dev/null && temporary=$(mktemp "$cache/.$name.XXXXXX" 2>/dev/null); then
  if cp "$output" "$temporary" && chmod 755 "$temporary"; then
    mv "$temporary" "$cached"
  else
    rm -f "$temporary"
  fi
  find "$cache" -maxdepth 1 -type f -mtime +30 -delete
fi
