#!/usr/bin/env bash
# Installs what scripts/dist.sh builds, as users do, and applies the quickstart with it: from a filesystem mirror with
# Terraform and OpenTofu, and from an OCI registry with OpenTofu. No command uses dev_overrides. It also builds twice
# and compares the bytes, verifies checksums and their signature, and locks the provider for three platforms.
#
# It needs gpg, openssl, curl, docker-registry and both CLIs. TOFU names OpenTofu (default: bin/tofu).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

terraform=$(scripts/terraform.sh)
tofu=${TOFU:-$PWD/bin/tofu}
this=$(go env GOOS)_$(go env GOARCH)
platforms=("$this")
for platform in linux_amd64 darwin_arm64 windows_386; do
  [ "$platform" = "$this" ] || platforms+=("$platform")
done
platforms=("${platforms[@]:0:3}")
work=$(mktemp -d "${TMPDIR:-/tmp}/kalypso-install.XXXXXX")
registry=
clean_up() {
  [ -z "$registry" ] || kill "$registry" 2>/dev/null || true
  GNUPGHOME="$work/gnupg" gpgconf --kill gpg-agent 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE TF_CLI_ARGS TF_CLI_ARGS_plan TF_CLI_ARGS_apply TF_DATA_DIR TF_WORKSPACE
unset TF_PLUGIN_CACHE_DIR
mkdir -m 700 "$work/home" "$work/gnupg"
GOCACHE=$(go env GOCACHE) GOMODCACHE=$(go env GOMODCACHE) KALYPSO_CACHE=${KALYPSO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/terraform-provider-kalypso}
export GOCACHE GOMODCACHE KALYPSO_CACHE GNUPGHOME="$work/gnupg"
export HOME="$work/home" TF_IN_AUTOMATION=1 TF_INPUT=0 CHECKPOINT_DISABLE=1

step() { printf '\n=== %s\n' "$1"; }

# quickstart CLI NAME: init, plan, apply and a plan without changes, in a folder and with a repo of its own.
quickstart() {
  local cli=$1 at="$work/$2"
  cp -R examples/quickstart "$at"
  cp -R examples/modules "$work"
  rm -rf "$at/.terraform" "$at"/*.tfstate* "$at/.terraform.lock.hcl"
  git init --quiet --bare "$at.git"
  export TF_VAR_gitops_repo_url="file://$at.git"
  "$cli" -chdir="$at" init -no-color | grep -E 'Installed|Installing'
  "$cli" -chdir="$at" plan -no-color -out=plan >"$at.txt"
  "$cli" -chdir="$at" apply -no-color plan | grep '^Apply complete'
  "$cli" -chdir="$at" plan -no-color -detailed-exitcode | grep '^No changes'
  git --git-dir="$at.git" log --format='%h %s' dev
}

step "Build for ${platforms[*]}, with a key made for this run"
gpg --batch --quiet --passphrase '' --quick-gen-key 'Releases <releases@example.com>' rsa3072 sign 1d 2>/dev/null
GPG_FINGERPRINT=$(gpg --batch --list-keys --with-colons | awk -F: '/^fpr/ { print $10; exit }')
export GPG_FINGERPRINT
scripts/dist.sh "${platforms[@]}" >"$work/dist.txt" 2>&1 || { cat "$work/dist.txt"; exit 1; }
cp -R dist "$work/first"
ls -l dist/*.zip

step "Verify the checksums and their signature"
sums=$(basename dist/*_SHA256SUMS)
version=${sums#terraform-provider-kalypso_}
version=${version%_SHA256SUMS}
(cd dist && sha256sum --check --ignore-missing "$sums" && gpg --verify "$sums.sig" "$sums" 2>&1 | grep 'Good signature')
grep -q "terraform-provider-kalypso_${version}_manifest.json" "dist/$sums"

step "Build again, and compare the bytes"
touch LICENSE terraform-registry-manifest.json # no time of this machine is in an archive
scripts/dist.sh "${platforms[@]}" >"$work/dist.txt" 2>&1 || { cat "$work/dist.txt"; exit 1; }
for file in dist/*.zip dist/*.sbom.json dist/*_SHA256SUMS; do
  cmp "$file" "$work/first/$(basename "$file")"
done
echo "$(ls dist/*.zip dist/*.sbom.json | wc -l) files and their checksums are the same."

step "A filesystem mirror: terraform init, plan, apply"
for host in registry.terraform.io registry.opentofu.org; do
  mkdir -p "$work/mirror/$host/terraform-kalypso/kalypso"
  cp dist/*.zip "$work/mirror/$host/terraform-kalypso/kalypso/"
done
printf 'provider_installation {\n  filesystem_mirror {\n    path = "%s"\n  }\n}\n' "$work/mirror" >"$work/mirror.rc"
export TF_CLI_CONFIG_FILE="$work/mirror.rc"
quickstart "$terraform" terraform

step "terraform providers lock for ${#platforms[@]} platforms"
"$terraform" -chdir="$work/terraform" providers lock -fs-mirror="$work/mirror" "${platforms[@]/#/-platform=}" | tail -n 4
hashes=$(grep -c '"h1:' "$work/terraform/.terraform.lock.hcl")
[ "$hashes" = "${#platforms[@]}" ] || { echo "The lock file has $hashes hashes." >&2; exit 1; }

step "A filesystem mirror: tofu init, plan, apply"
quickstart "$tofu" tofu

step "make install: terraform init and apply of the README's first block without any configuration"
scripts/install.sh
mkdir "$work/readme"
git init --quiet --bare "$work/readme/gitops.git"
awk '/^```hcl$/ { inside = 1; next } inside && /^```$/ { exit } inside' README.md >"$work/readme/main.tf"
TF_CLI_CONFIG_FILE=/dev/null "$terraform" -chdir="$work/readme" init -no-color | grep 'Installed terraform-kalypso/kalypso'
TF_CLI_CONFIG_FILE=/dev/null "$terraform" -chdir="$work/readme" apply -no-color -auto-approve | grep '^Apply complete'
git --git-dir="$work/readme/gitops.git" log --format='%h %s' dev

step "make install again: the same bytes keep their version, other bytes get the next one, and init -upgrade takes it"
installed() { ls "$HOME/.terraform.d/plugins/registry.terraform.io/terraform-kalypso/kalypso" | wc -l; }
scripts/install.sh
[ "$(installed)" = 1 ] || { echo "The same bytes have a second version." >&2; exit 1; }
printf '\0' >>"$(find "$HOME/.terraform.d/plugins/registry.terraform.io" -name 'terraform-provider-kalypso_v*')"
scripts/install.sh
[ "$(installed)" = 2 ] || { echo "Other bytes have no version of their own." >&2; exit 1; }
TF_CLI_CONFIG_FILE=/dev/null "$terraform" -chdir="$work/readme" init -upgrade -no-color | grep 'Installed terraform-kalypso/kalypso'
TF_CLI_CONFIG_FILE=/dev/null "$terraform" -chdir="$work/readme" plan -no-color -detailed-exitcode | grep '^No changes'

step "An OCI registry: tofu init, plan, apply"
port=$((20000 + RANDOM % 20000))
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/registry.key" -out "$work/registry.pem" -days 1 \
  -subj /CN=localhost -addext 'subjectAltName=DNS:localhost' 2>/dev/null
cat >"$work/registry.yml" <<YAML
version: 0.1
log: {level: error}
storage: {filesystem: {rootdirectory: $work/registry}}
http: {addr: "localhost:$port", tls: {certificate: $work/registry.pem, key: $work/registry.key}}
YAML
docker-registry serve "$work/registry.yml" >"$work/registry.txt" 2>&1 &
registry=$!
scripts/oci-mirror.sh "https://localhost:$port" registry.opentofu.org/terraform-kalypso/kalypso "$work/registry.pem"
cat >"$work/oci.rc" <<RC
provider_installation {
  oci_mirror {
    repository_template = "localhost:$port/\${hostname}/\${namespace}/\${type}"
    include             = ["registry.opentofu.org/*/*"]
  }
}
RC
export TF_CLI_CONFIG_FILE="$work/oci.rc" SSL_CERT_FILE="$work/registry.pem"
quickstart "$tofu" oci

step "The release of a tag, but for its publication"
git clone --quiet . "$work/clone"
(
  cd "$work/clone"
  git -c user.name=Releases -c user.email=releases@example.com tag --annotate --message 'Version 9.9.9' v9.9.9
  mkdir -p bin
  GORELEASER_FLAGS=--skip=publish,announce scripts/dist.sh --release "$this" >"$work/dist.txt" 2>&1 || { cat "$work/dist.txt"; exit 1; }
  gpg --verify dist/*_9.9.9_SHA256SUMS.sig dist/*_9.9.9_SHA256SUMS 2>&1 | grep 'Good signature'
)

step "Done: version $version installs from a folder and from a registry"
