# The ID is <environment>@<repo>//<path>?ref=<branch>, or <environment>@<repo>?ref=<branch> if the tree is at the repo's
# root. The import reads the rendering's record on the branch.
terraform import kalypso_environment_rendering.dev 'dev@https://github.com/acme/gitops//clusters?ref=dev'
