#!/usr/bin/env bash
# Makes the pictures of the guides: a PNG of each page in examples/pictures, by Chromium, in the size that the page
# names. Tests compare the texts of the pages with the product's, and the sums of pages and pictures, which this script
# writes too. So a page that changes needs a new picture.
#
# usage: scripts/pictures.sh
set -euo pipefail
export LC_ALL=C # the order of files
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/prerequisites.sh chromium

for name in chromium chromium-browser google-chrome; do
  ! command -v "$name" >/dev/null || break
done
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
cd examples/pictures
for page in *.html; do
  size=$(sed -nE 's/.*name="viewport" content="width=([0-9]+), height=([0-9]+)".*/\1,\2/p' "$page")
  "$name" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --force-color-profile=srgb \
    --user-data-dir="$profile" --window-size="$size" --screenshot="$PWD/${page%.html}.png" "file://$PWD/$page" 2>/dev/null
done
sha256sum -- *.* >SHA256SUMS
