#!/usr/bin/env bash
# Replaces nested schemas in the docs by links to the pages that describe the same arguments: those of Kalypso's objects
# by links to their resources, those of an object that is the output of a data source by a link to it. The page of a
# rendering has half as many words without them.
#
# usage: scripts/link-nested.sh FOLDER
set -euo pipefail

registry=https://registry.terraform.io/providers/terraform-kalypso/kalypso/latest/docs

find "$1" -mindepth 2 -name '*.md' -print0 | while IFS= read -r -d '' page; do
  awk -v registry="$registry" '
    # same: the nested schema is also on a page.
    function same(nested, name, at) { page["nestedatt--" nested] = at; shown["nestedatt--" nested] = name }
    BEGIN {
      n = split("cluster_types configs config_schemas scheduling_policies secrets templates workloads", objects, " ")
      for (i = 1; i <= n; i++) {
        name = objects[i]
        sub(/ies$/, "y", name) || sub(/s$/, "", name)
        same(objects[i], "kalypso_" name, "resources/" name)
      }
      same("rollout--observed", "kalypso_deployment_state", "data-sources/deployment_state")
      same("promotion", "kalypso_promotion", "data-sources/promotion")
      same("rollout--windows", "windows` of `kalypso_promotion", "data-sources/promotion#nestedatt--windows")
      same("answers--nearest--cluster_type_mismatches", "mismatches", "#nestedatt--unscheduled--reasons--mismatches")
      same("answers--nearest--target_mismatches", "mismatches", "#nestedatt--unscheduled--reasons--mismatches")
      same("assignments--references--merged", "references", "#nestedatt--assignments--references")
      same("assignments--values--replaced", "merged", "#nestedatt--assignments--values--merged")
      same("rollout--stages--cluster_type_selector", "cluster_type_selector` of `kalypso_scheduling_policy",
        "resources/scheduling_policy#nestedatt--cluster_type_selector")
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
        if (at = index($0, below)) $0 = substr($0, 1, at - 1) "See [`" shown[id] "`](" (page[id] ~ /^#/ ? "" : registry "/") page[id] ")."
      }
    }
    { print }' "$page" >"$page.new"
  mv "$page.new" "$page"
done
