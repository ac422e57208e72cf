#!/usr/bin/env bash
# Builds the files of a release into dist/: an archive and an SBOM for each platform, the manifest of the registry,
# SHA256SUMS and, if GPG_FINGERPRINT names a key, its signature. Two builds of a commit give the same bytes, but for the
# signature.
#
# usage: scripts/dist.sh [OS_ARCH…]             a snapshot for these platforms, such as linux_amd64, or for all
#        scripts/dist.sh --release [OS_ARCH…]   the release of the tag at this commit, published on GitHub
#
# GORELEASER_FLAGS are more flags for GoReleaser, such as --skip=publish.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mkdir -p bin
scripts/build-tool.sh tools/goreleaser github.com/goreleaser/goreleaser/v2 bin/goreleaser
scripts/build-tool.sh tools/goreleaser github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod bin/cyclonedx-gomod
export PATH="$PWD/bin:$PATH" # for GoReleaser, which runs cyclonedx-gomod
unset GOFLAGS                # the bytes of a release depend on no flags of the caller

# Without a remote, GoReleaser takes the time of the build for that of the commit.
if ! git remote get-url origin >/dev/null 2>&1; then
  export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url
  export GIT_CONFIG_VALUE_0=https://github.com/terraform-kalypso/terraform-provider-kalypso
fi

flags=(--snapshot)
if [ "${1:-}" = --release ]; then
  flags=()
  shift
elif [ -z "${GPG_FINGERPRINT:-}" ]; then
  flags+=(--skip=sign)
fi
config=.goreleaser.yml
if [ "$#" -gt 0 ]; then
  config=bin/goreleaser.yml
  # The platforms in place of all combinations of systems and architectures.
  awk -v platforms="$*" '
    /^    goos:/ { print "    targets:"; n = split(platforms, all, " "); for (i = 1; i <= n; i++) print "      - " all[i] }
    /^    (goos|goarch|ignore):/ { skip = 1; next }
    skip && /^      / { next }
    { skip = 0; print }' .goreleaser.yml >"$config"
fi
bin/goreleaser check --quiet --config "$config"
# shellcheck disable=SC2086 # several flags
bin/goreleaser release --clean --config "$config" "${flags[@]}" ${GORELEASER_FLAGS:-}
