#!/usr/bin/env bash
# Checks for the named commands, and installs what it can: openssh-server, gnupg, etcd-server, postgresql,
# pgbouncer, tinyproxy, microsocks, chromium, gcc, openssl, curl, docker-registry and git through apt, as root, and
# OpenTofu from its Go module. Then it lists all missing commands, and where to get them.
#
# With --optional it fails only in CI (CI=true).
#
# usage: scripts/prerequisites.sh [--optional] go|git|terraform|sshd|gpg|etcd|postgres|pgbouncer|tinyproxy|microsocks|npm|
#   chromium|gcc|openssl|curl|docker-registry …
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()
optional=
if [ "${1:-}" = --optional ]; then
  optional=1
  shift
fi

# sshd is not on the PATH of ordinary users.
PATH="$PATH:/usr/sbin:/sbin"

have() {
  command -v "$1" >/dev/null 2>&1
}

# apt_install PACKAGE: installs a package as root, without questions; prints the output if it fails.
apt_install() {
  [ "$(id -u)" = 0 ] && have apt-get || return 1
  echo "Installing $1 …" >&2
  local log
  log=$(mktemp)
  if { apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "$1" ||
    { apt-get -o DPkg::Lock::Timeout=120 update &&
      apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "$1"; }; } \
    </dev/null >"$log" 2>&1; then
    rm -f "$log"
    return 0
  fi
  tail -n 5 "$log" >&2
  rm -f "$log"
  return 1
}

# at_least WANTED HAVE: succeeds if version HAVE is WANTED or newer.
at_least() {
  [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

check_go() {
  if ! have go; then
    missing+=("Go: https://go.dev/doc/install")
    return
  fi
  # Since 1.21, Go downloads the toolchain that go.mod requires.
  local version
  version=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null | sed 's/^go//')
  at_least 1.21 "${version:-0}" || missing+=("Go 1.21 or newer, found ${version:-none}: https://go.dev/doc/install")
}

check_git() {
  have git || apt_install git || true
  have git || missing+=("Git: https://git-scm.com/downloads")
}

# A machine without Terraform and OpenTofu gets OpenTofu, from its Go module.
check_terraform() {
  scripts/terraform.sh >/dev/null 2>&1 && return
  case ${TERRAFORM:-} in
  '' | tofu)
    echo "Found no ${TERRAFORM:-terraform or tofu} of version 1.8 or newer. Building OpenTofu into bin/, once:" \
      "it takes about six minutes of CPU time and 2 GB of memory …" >&2
    make --no-print-directory "$PWD/bin/tofu" >&2 && return
    ;;
  esac
  local pages="https://developer.hashicorp.com/terraform/install or https://opentofu.org/docs/intro/install"
  missing+=("${TERRAFORM:-Terraform or OpenTofu} 1.8 or newer: $pages")
}

check_sshd() {
  have sshd || apt_install openssh-server || true
  if ! have sshd; then
    missing+=("sshd, for the tests of Git over SSH: apt-get install openssh-server, or your system's package")
    return
  fi
  # As root, sshd needs a folder that its service would create.
  if [ "$(id -u)" = 0 ] && [ ! -d /run/sshd ] && [ "$(uname -s)" = Linux ]; then
    mkdir -m 0755 /run/sshd
  fi
}

check_gpg() {
  have gpg || apt_install gnupg || true
  have gpg || missing+=("gpg, for the tests of signatures: apt-get install gnupg, or your system's package")
}

check_etcd() {
  have etcd || apt_install etcd-server || true
  have etcd ||
    missing+=("etcd, for the tests that read clusters: apt-get install etcd-server, or your system's package")
}

# initdb is on the PATH, or where Debian installs each version.
have_postgres() {
  have initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null
}

check_postgres() {
  have_postgres || apt_install postgresql || true
  have_postgres ||
    missing+=("PostgreSQL, for the tests of the history: apt-get install postgresql, or your system's package")
}

check_pgbouncer() {
  have pgbouncer || apt_install pgbouncer || true
  have pgbouncer ||
    missing+=("PgBouncer, for the tests of the history: apt-get install pgbouncer, or your system's package")
}

check_tinyproxy() { check_proxy tinyproxy; }
check_microsocks() { check_proxy microsocks; }

check_proxy() {
  have "$1" || apt_install "$1" || true
  have "$1" || missing+=("$1, for the tests of proxies: apt-get install $1, or your system's package")
}

# npm installs Mermaid's parser, which Node.js runs.
check_npm() {
  have npm || apt_install npm || true # which needs nodejs
  local version
  version=$(node --version 2>/dev/null | sed 's/^v//') || true
  if ! have npm || ! at_least 18 "${version:-0}"; then
    local page=https://nodejs.org/en/download
    missing+=("npm with Node.js 18 or newer for the tests of graphs, found ${version:-none}: $page")
  fi
}

# The page of a fleet is tested in Chromium. It is large, so only CI installs it.
check_chromium() {
  local name
  for name in chromium chromium-browser google-chrome; do
    have "$name" && return
  done
  [ "${CI:-}" != true ] || apt_install chromium || true
  have chromium ||
    missing+=("chromium, for the tests of the fleet's page: apt-get install chromium, or your system's package")
}

check_gcc() {
  have gcc || { apt_install gcc && apt_install libc6-dev; } || true
  have gcc || missing+=("gcc, for the tests with Gitea: apt-get install gcc libc6-dev, or your system's package")
}

check_openssl() { check_installer openssl openssl; }
check_curl() { check_installer curl curl; }

check_docker-registry() {
  have docker-registry || apt_install docker-registry || true
  have docker-registry || missing+=(
    "docker-registry, for the tests of OCI artifacts and of installations: apt-get install docker-registry, or your system's package")
}

# check_installer COMMAND PACKAGE: for make test-install.
check_installer() {
  have "$1" || apt_install "$2" || true
  have "$1" || missing+=("$1, for the test of installations: apt-get install $2, or your system's package")
}

for name in "$@"; do
  case $name in
  go | git | terraform | sshd | gpg | etcd | postgres | pgbouncer | tinyproxy | microsocks | npm | chromium | gcc | \
    openssl | curl | docker-registry)
    "check_$name"
    ;;
  *)
    echo "prerequisites.sh: unknown prerequisite: $name" >&2
    exit 2
    ;;
  esac
done

if [ "${#missing[@]}" -gt 0 ]; then
  {
    echo "Missing on this machine:"
    printf '  - %s\n' "${missing[@]}"
  } >&2
  [ -n "$optional" ] && [ "${CI:-}" != true ] || exit 1
fi
