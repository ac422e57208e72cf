# The ID is <repo>?ref=<branch>.
terraform import 'kalypso_base_repo.stage[0]' 'https://github.com/acme/control-plane?ref=stage'
