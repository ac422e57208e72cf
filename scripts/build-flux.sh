#!/usr/bin/env bash
# Builds a real kube-apiserver, and Flux's source-, kustomize- and helm-controller with their custom resources, from
# Go modules, or takes them from the cache of an earlier build. The cache is the one of scripts/build-tool.sh. The first
# build takes some 20 minutes of processor time.
#
# It ends with 3 if a module can't be downloaded, so that nothing can be built here, or if the programs are not in the
# cache and FLUX_CACHED_ONLY is set.
#
# FLUX_ARTIFACT names a folder with github.com/fluxcd/pkg/artifact, for a module proxy that lacks it.
#
# usage: scripts/build-flux.sh OUTPUT-FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

k8s=1.34.4 source=1.9.6 kustomize=1.9.5 helm=1.6.1

output=$(realpath -m "$1")
cache=${KALYPSO_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/terraform-provider-kalypso}
key=$({
  cat scripts/build-flux.sh
  go env GOVERSION GOOS GOARCH CGO_ENABLED
} | git hash-object --stdin)
cached=$cache/flux-$key
if [ -d "$cached" ]; then
  touch "$cached" 2>/dev/null || true
  mkdir -p "$output"
  cp -r "$cached/." "$output/"
  exit
fi

if [ -n "${FLUX_CACHED_ONLY:-}" ]; then
  echo "Flux was not built yet." >&2
  exit 3
fi

work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
built=$work/built
mkdir -p "$built/crds"
modules=$(go env GOMODCACHE)
export GOGC=${GOGC:-400}
GOFLAGS=$(scripts/goflags.sh)
export GOFLAGS

# or_stop COMMAND…: ends the script with 3 if a command fails that only downloads.
or_stop() {
  "$@" >"$work/log" 2>&1 && return
  tail -n 5 "$work/log" >&2
  echo "The modules of Kubernetes or Flux can't be downloaded." >&2
  exit 3
}

build() { # NAME PACKAGE LDFLAGS: builds in the module of the working directory
  or_stop go list -mod=mod -deps "$2"
  go build -mod=mod -trimpath -ldflags "-s -w $3" -o "$built/$1" "$2"
}

# The go.mod of Kubernetes replaces its staging modules by folders, which the module's zip lacks. A module of our own
# takes its requirements, and the published staging modules of the same release.
mkdir "$work/kube"
cd "$work/kube"
or_stop go mod download "k8s.io/kubernetes@v$k8s"
from=$modules/k8s.io/kubernetes@v$k8s
staging=v0${k8s#1}
{
  sed -n '/^replace/,/)/!p' "$from/go.mod" |
    sed -e 's#^module .*#module flux/kube#' -e "s#\(k8s.io/[a-z-]*\) v0.0.0\$#\1 $staging#"
  echo 'replace ('
  sed -n '/^replace/,/)/p' "$from/go.mod" | awk -v v="$staging" '/staging/ {print "\t" $1 " => " $1 " " v}'
  echo ')'
} >go.mod
go mod edit -require="k8s.io/kubernetes@v$k8s"
install -m 644 "$from/go.sum" go.sum
version=k8s.io/component-base/version
minor=${k8s#1.}
build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver \
  "-X $version.gitVersion=v$k8s -X $version.gitMajor=1 -X $version.gitMinor=${minor%%.*}"

# A module of our own takes the requirements and replacements of a controller, but its published api module.
for controller in "source-controller $source" "kustomize-controller $kustomize" "helm-controller $helm"; do
  read -r name number <<<"$controller"
  module=github.com/fluxcd/$name
  mkdir "$work/$name"
  cd "$work/$name"
  or_stop go mod download "$module@v$number"
  from=$modules/$module@v$number
  install -m 644 "$from"/config/crd/bases/*.yaml "$built/crds/"
  install -m 644 "$from/go.mod" "$from/go.sum" .
  go mod edit -module="flux/$name" -dropreplace="$module/api" -require="$module@v$number"
  if [ "$name" = source-controller ] && [ -n "${FLUX_ARTIFACT:-}" ]; then
    go mod edit -replace="github.com/fluxcd/pkg/artifact=$(realpath "$FLUX_ARTIFACT")"
  fi
  build "$name" "$module" ""
done

mkdir -p "$output"
cp -r "$built/." "$output/"

# A cache that can't be written is none. Builds that were not used for a month go.
if mkdir -p "$cache" 2>/dev/null && temporary=$(mktemp -d "$cache/.flux.XXXXXX" 2>/dev/null); then
  if cp -r "$built/." "$temporary/" && chmod 755 "$temporary" && mv -T "$temporary" "$cached"; then
    find "$cache" -maxdepth 1 -type d -name 'flux-*' -mtime +30 -exec rm -rf {} +
  else
    rm -rf "$temporary"
  fi
fi
