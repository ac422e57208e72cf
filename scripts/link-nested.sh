#!/usr/bin/env bash
# Replaces the nested schemas of Kalypso's objects in the docs by links to the pages of their resources, which describe
# the same arguments: a page of a rendering is a third shorter without them.
#
# usage: scripts/link-nested.sh FOLDER
set -euo pipefail

registry=https://registry.terraform.io/providers/terraform-kalypso/kalypso/latest/docs

find "$1" -mindepth 2 -name '*.md' -print0 | while IFS= read -r -d '' page; do
  awk -v registry="$registry" '
    BEGIN {
      n = split("cluster_types configs config_schemas scheduling_policies secrets templates workloads", objects, " ")
      for (i = 1; i <= n; i++) {
        name = objects[i]
        sub(/ies$/, "y", name) || sub(/s$/, "", name)
        page["nestedatt--" objects[i]] = "resources/" name
        shown["nestedatt--" objects[i]] = "kalypso_" name
      }
      page["nestedatt--rollout--observed"] = "data-sources/deployment_state"
      shown["nestedatt--rollout--observed"] = "kalypso_deployment_state"
    }
    # A nested schema ends at the next anchor.
    /^<a id="nestedatt--/ {
      split($0, parts, "\"")
      skip = 0
      for (id in page) if (parts[2] == id || index(parts[2], id "--") == 1) skip = 1
    }
    /^## / { skip = 0 }
    skip { next }
    /\(see \[below for nested schema\]\(#/ {
      for (id in page) {
        below = "(see [below for nested schema](#" id "))"
        if (at = index($0, below)) $0 = substr($0, 1, at - 1) "See [`" shown[id] "`](" registry "/" page[id] ")."
      }
    }
    { print }' "$page" >"$page.new"
  mv "$page.new" "$page"
done
