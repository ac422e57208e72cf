#!/usr/bin/env bash
# Groups the optional arguments of a long page of the docs by what they are for: those that everyone sets come first. An
# argument that is in no group is an error.
#
# usage: scripts/group-arguments.sh FOLDER
set -euo pipefail

# group PAGE: reads groups from the input, each in a line: the heading, a colon, and names of arguments.
group() {
  awk -v page="$1" '
    NR == FNR {
      heading[++groups] = $0
      sub(/:.*/, "", heading[groups])
      sub(/^[^:]*: */, "")
      n[groups] = split($0, names, " ")
      for (i = 1; i <= n[groups]; i++) argument[groups, i] = names[i]
      next
    }
    /^### Optional/ && !done { print; listing = 1; next }
    listing && /^- `/ {
      split($0, parts, "`")
      line[parts[2]] = $0
      next
    }
    listing && /^#/ {
      for (g = 1; g <= groups; g++) {
        print "\n" heading[g] ":\n"
        for (i = 1; i <= n[g]; i++) {
          if (!(argument[g, i] in line)) {
            print page " has no argument " argument[g, i] > "/dev/stderr"
            failed = 1
          }
          print line[argument[g, i]]
          delete line[argument[g, i]]
        }
      }
      for (name in line) {
        print page ": the argument " name " is in no group" > "/dev/stderr"
        failed = 1
      }
      print ""
      listing = 0
      done = 1
    }
    !listing { print }
    END { exit failed }
  ' - "$1" >"$1.new"
  mv "$1.new" "$1"
}

fleet='cluster_types templates workloads scheduling_policies configs config_schemas secrets manifests'

group "$1/resources/environment_rendering.md" <<GROUPS
The fleet: $fleet sources verified
Where the tree goes, and how: gitops_repo delivery create_branch adopt on_move commit_message commit_trailers
What a change may do: guardrails on_assignment_error feedback on_drift accepted_changes on_destroy deletion_protection
When it goes: promotion promoted_commit rollout
The plan: preview limits timeouts
GROUPS

group "$1/data-sources/assignments.md" <<GROUPS
The questions: why explain explain_targets
The fleet: $fleet record
GROUPS
