#!/usr/bin/env bash
# Makes links in the docs work in this repo: links to pages of the Terraform Registry, and to files of the repo on
# GitHub, become relative. The sources, templates/ and the descriptions of the schema, have the links of the Registry,
# which does not resolve relative ones. Once the provider is in the Registry, make docs no longer needs this script.
#
# usage: scripts/relative-links.sh FOLDER
set -euo pipefail

registry=https://registry.terraform.io/providers/terraform-kalypso/kalypso/latest/docs
repo=terraform-kalypso/terraform-provider-kalypso
find "$1" -name '*.md' -print0 | while IFS= read -r -d '' page; do
  case ${page#"$1"/} in
    */*) up=../ ;;
    *) up= ;;
  esac
  sed -E -e "s|\]\($registry/([a-z-]+/[a-z0-9_-]+)|](${up}\1.md|g" -e "s|\]\($registry([)#])|](${up}index.md\1|g" \
    -e "s#\]\(https://github\.com/$repo/(blob|tree)/main/#](${up}../#g" \
    -e "s#\]\(https://raw\.githubusercontent\.com/$repo/main/#](${up}../#g" "$page" >"$page.new"
  mv "$page.new" "$page"
done
