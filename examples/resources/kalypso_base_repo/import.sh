# The ID is <repo>?ref=<branch>. In the branch, write % as %25, & as %26 and ; as %3B.
terraform import 'kalypso_base_repo.stage[0]' 'https://github.com/acme/control-plane?ref=stage'
