# The ID is <repo>@<commit>#<context>.
terraform import kalypso_commit_status.dev \
  'https://github.com/acme/control-plane@0123456789abcdef0123456789abcdef01234567#kalypso/dev'
