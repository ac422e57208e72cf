import {
  to = kalypso_environment_rendering.dev
  id = "dev@https://github.com/acme/gitops//clusters?ref=dev"
}
