# The ID is <environment>@<repo>//<path>?ref=<branch>, without //<path> where the tree lies at the repo's root. The branch
# holds the record of what was rendered, so nothing but the repo is needed.
terraform import kalypso_environment_rendering.dev 'dev@https://github.com/acme/gitops//clusters?ref=dev'
