#!/bin/sh
# Chooses the cheapest cluster types.
# Reads {"number": "2", "prices": "large=3,small=2"}, writes {"names": "small large"}.
set -eu
query=$(cat)
value() { printf '%s' "$query" | sed "s/.*\"$1\": *\"\([^\"]*\)\".*/\1/"; }

cheapest=$(value prices | tr ',' '\n' | sort -t = -k 2n -k 1 | head -n "$(value number)")
names=$(printf '%s\n' "$cheapest" | cut -d = -f 1 | sort | tr '\n' ' ')
printf '{"names": "%s"}\n' "${names% }"
