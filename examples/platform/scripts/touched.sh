#!/usr/bin/env bash
# touched.sh COMMIT: prints the environments that the changes since the commit touch, as JSON. A change of base/ or of
# the configuration reaches all of them.
set -euo pipefail
cd "$(dirname "$0")/.."
all=$(cd environments && printf '%s\n' *)
git diff --name-only "$1" HEAD | while read -r file; do
  case $file in
    environments/*/* | overrides/*.yaml)
      name=${file#*/}
      name=${name%%/*}
      echo "${name%.yaml}"
      ;;
    base/* | fleet.yaml | fleet/* | promotion/* | *.tf) [ "${file%/*}" = page ] || [ "${file%/*}" = check ] || echo "$all" ;;
  esac
done | { grep -Fx "$all" || true; } | sort -u | jq -Rnc '[inputs]'
