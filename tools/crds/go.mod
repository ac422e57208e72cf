module github.com/terraform-kalypso/terraform-provider-kalypso/tools/crds

go 1.26.8

require (
	github.com/argoproj/argo-cd/v3 v3.2.0
	github.com/external-secrets/external-secrets v1.3.2
	github.com/fluxcd/helm-controller v1.4.3
	github.com/fluxcd/kustomize-controller v1.7.3
	github.com/fluxcd/source-controller v1.7.3
	github.com/zarf-dev/zarf v0.60.0
)
