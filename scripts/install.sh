#!/usr/bin/env bash
# Builds the provider, and installs it where Terraform and OpenTofu look for providers without any configuration: their
# commands init find it there, and ask no registry for it.
#
# usage: scripts/install.sh [FOLDER]   (default: ~/.terraform.d/plugins, which both read)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=${1:-$HOME/.terraform.d/plugins}
version=${VERSION:-0.0.1}
platform=$(go env GOOS)_$(go env GOARCH)
program=terraform-provider-kalypso_v$version$(go env GOEXE)

mkdir -p bin
go build -trimpath -ldflags "-X main.version=$version" -o "bin/$program" .
for host in registry.terraform.io registry.opentofu.org; do
  into=$folder/$host/terraform-kalypso/kalypso/$version/$platform
  mkdir -p "$into"
  cp "bin/$program" "$into/"
done
echo "Version $version is in $folder. Run terraform init, or tofu init."
