# The ID is <environment>@<repo>//<path>?ref=<branch>, or <environment>@<repo>?ref=<branch> if the tree is at the repo's
# root. The import reads the rendering's record on the branch. If preview is set to anything but "assignments", append it:
# &preview=summary. Otherwise the next plan shows what it leaves out as removed.
terraform import kalypso_environment_rendering.dev 'dev@https://github.com/acme/gitops//clusters?ref=dev'
