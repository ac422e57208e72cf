#!/usr/bin/env bash
# Pushes the archives in dist/ to an OCI registry, as OpenTofu's oci_mirror reads providers: an index with a manifest for
# each platform. https://opentofu.org/docs/cli/oci_registries/provider-mirror/
#
# usage: scripts/oci-mirror.sh URL REPOSITORY [CA-FILE]
#   such as: scripts/oci-mirror.sh https://registry.acme.io registry.opentofu.org/terraform-kalypso/kalypso
# Credentials come from ~/.netrc, as curl reads it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

url=$1 repository=$2
curl=(curl --silent --show-error --fail-with-body --netrc-optional --retry 5 --retry-connrefused)
[ -z "${3:-}" ] || curl+=(--cacert "$3")
sums=$(basename dist/*_SHA256SUMS)
version=${sums#terraform-provider-kalypso_}
version=${version%_SHA256SUMS}

digest() { echo "sha256:$(sha256sum "$1" | cut -d' ' -f1)"; }

# push_blob FILE: pushes a blob that the registry does not have yet.
push_blob() {
  local blob location
  blob=$(digest "$1")
  "${curl[@]}" --head --output /dev/null "$url/v2/$repository/blobs/$blob" 2>/dev/null && return
  location=$("${curl[@]}" --request POST --output /dev/null --write-out '%header{location}' "$url/v2/$repository/blobs/uploads/")
  case $location in /*) location=$url$location ;; esac
  case $location in *\?*) location="$location&digest=$blob" ;; *) location="$location?digest=$blob" ;; esac
  "${curl[@]}" --request PUT --header 'Content-Type: application/octet-stream' --data-binary "@$1" "$location"
}

# push_manifest FILE TYPE REFERENCE
push_manifest() {
  "${curl[@]}" --request PUT --header "Content-Type: $2" --data-binary "@$1" "$url/v2/$repository/manifests/$3"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
manifest=application/vnd.oci.image.manifest.v1+json index=application/vnd.oci.image.index.v1+json
printf '{}' >"$work/empty"
push_blob "$work/empty"
platforms=()
for archive in dist/*.zip; do
  platform=${archive#dist/terraform-provider-kalypso_"${version}"_}
  platform=${platform%.zip}
  push_blob "$archive"
  cat >"$work/manifest" <<JSON
{"schemaVersion": 2, "mediaType": "$manifest", "artifactType": "application/vnd.opentofu.provider-target",
 "config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": "$(digest "$work/empty")", "size": 2},
 "layers": [{"mediaType": "archive/zip", "digest": "$(digest "$archive")", "size": $(stat -c %s "$archive")}]}
JSON
  push_manifest "$work/manifest" "$manifest" "$(digest "$work/manifest")"
  platforms+=("{\"mediaType\": \"$manifest\", \"artifactType\": \"application/vnd.opentofu.provider-target\",
 \"digest\": \"$(digest "$work/manifest")\", \"size\": $(stat -c %s "$work/manifest"),
 \"platform\": {\"os\": \"${platform%_*}\", \"architecture\": \"${platform#*_}\"}}")
done
(
  IFS=,
  printf '{"schemaVersion": 2, "mediaType": "%s", "artifactType": "application/vnd.opentofu.provider", "manifests": [%s]}' \
    "$index" "${platforms[*]}"
) >"$work/index"
push_manifest "$work/index" "$index" "$version"
echo "Pushed version $version for ${#platforms[@]} platforms to $url/$repository."
