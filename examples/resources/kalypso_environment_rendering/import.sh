# The ID is <environment>@<repo>//<path>?ref=<branch>: the branch holds the record of what was rendered.
terraform import kalypso_environment_rendering.dev 'dev@https://github.com/acme/gitops//clusters?ref=dev'
