#!/usr/bin/env bash
# Builds the provider, and installs it where Terraform and OpenTofu look for providers without any configuration: their
# commands init find it there, and ask no registry for it.
#
# The version is 0.0.N, where N is the number of commits. Lock files contain the checksum of a version, so other bytes
# need another version: if a newer one was installed, or other bytes of this one, N is the next number after it.
# VERSION names another version.
#
# usage: scripts/install.sh [FOLDER]   (default: ~/.terraform.d/plugins, which both read)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=${1:-$HOME/.terraform.d/plugins}
platform=$(go env GOOS)_$(go env GOARCH)
suffix=$(go env GOEXE)

# place HOST VERSION: the folder of a version.
place() {
  echo "$folder/$1/terraform-kalypso/kalypso/$2/$platform"
}

# build VERSION: builds the provider into bin/, and sets program to its name.
build() {
  program=terraform-provider-kalypso_v$1$suffix
  GOGC=${GOGC:-400} GOFLAGS=$(scripts/goflags.sh) go build -buildvcs=false -ldflags "-s -w -X main.version=$1" \
    -o "bin/$program" .
}

version=${VERSION:-}
if [ -z "$version" ]; then
  patch=$(git rev-list --count HEAD 2>/dev/null || echo 1)
  newest=$({ ls "$folder/registry.terraform.io/terraform-kalypso/kalypso" 2>/dev/null || true; } |
    sed -n 's/^0[.]0[.]\([0-9]*\)$/\1/p' | sort -n | tail -n 1)
  if [ -n "$newest" ] && [ "$newest" -ge "$patch" ]; then
    patch=$newest
    build "0.0.$patch"
    cmp -s "bin/$program" "$(place registry.terraform.io "0.0.$patch")/$program" || patch=$((patch + 1))
    rm -f "bin/$program"
  fi
  version=0.0.$patch
fi

mkdir -p bin
build "$version"
for host in registry.terraform.io registry.opentofu.org; do
  into=$(place "$host" "$version")
  mkdir -p "$into"
  cp "bin/$program" "$into/"
done
rm -f "bin/$program"
echo "Version $version is in $folder. Run terraform init -upgrade, or tofu init -upgrade."
