#!/usr/bin/env bash
# Prints GOFLAGS, with the flag by which the compilers write no debugging information: the linker would drop it, and a
# build from nothing takes a seventh less processor time without it. All builds but a release's have it, so they share
# what they compile.
set -euo pipefail

flag=-gcflags=all=-dwarf=false
case " ${GOFLAGS:-} " in
  *" $flag "*) echo "$GOFLAGS" ;;
  *) echo "${GOFLAGS:+$GOFLAGS }$flag" ;;
esac
