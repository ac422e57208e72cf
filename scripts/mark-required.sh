#!/usr/bin/env bash
# Lists nested arguments whose description ends with "Required." under Required in the docs. The schema can't say so: the
# framework treats an unknown element of a list or map as an object of nulls, so a required argument in it would fail.
#
# usage: scripts/mark-required.sh FOLDER
set -euo pipefail

find "$1" -name '*.md' -print0 | while IFS= read -r -d '' page; do
  awk '
    function add(list, n, item,   i) { # sorted, as the lists of tfplugindocs are
      for (i = n; i > 0 && list[i] > item; i--) list[i + 1] = list[i]
      list[i + 1] = item
    }
    function show(title, list, n,   i) {
      if (n == 0) return
      print title "\n"
      for (i = 1; i <= n; i++) print list[i]
    }
    function flush() {
      show("Required:", required, r)
      if (r && o) print ""
      show("Optional:", optional, o)
      r = o = 0
    }
    /^### Nested Schema for / { nested = 1 }
    nested && /^(Required|Optional):$/ { list = $1; begun = 0; next }
    list != "" && /^$/ && !begun { begun = 1; next }
    list != "" && /^- / {
      if (list == "Required:" || match($0, / Required\.( \(see \[below for nested schema\].*)?$/)) {
        sub(/ Required\.$/, ""); sub(/ Required\. \(see /, " (see ")
        add(required, r++, $0)
      } else add(optional, o++, $0)
      next
    }
    list != "" && /^$/ { list = ""; next }
    { if (r + o) { flush(); print "" } print }
    END { if (r + o) flush() }
  ' "$page" >"$page.new"
  mv "$page.new" "$page"
done
