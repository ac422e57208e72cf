package apiserver

import (
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// ArgoCDProgram is the environment variable with the path of the program of tools/argocd. make test-argocd builds it
// and sets the variable.
const ArgoCDProgram = "KALYPSO_ARGOCD"

// The controllers of Argo CD.
const (
	ApplicationController = "application-controller"
	repoServer            = "repo-server"
	redis                 = "redis"
)

// argoCDNamespace contains the namespace of Argo CD, and the objects that its installation creates there.
var argoCDNamespace = []string{
	"{apiVersion: v1, kind: Namespace, metadata: {name: argocd}}",
	`
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
`, `
apiVersion: v1
kind: Secret
metadata: {name: argocd-secret, namespace: argocd, labels: {app.kubernetes.io/part-of: argocd}}
stringData: {server.secretkey: none}
`,
	`
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
spec:
  sourceRepos: ["*"]
  sourceNamespaces: ["*"]
  destinations: [{server: "*", namespace: "*"}]
  clusterResourceWhitelist: [{group: "*", kind: "*"}]
`,
}

// StartArgoCD starts a server with Argo CD's application controller, its repo server and a Redis; see [FluxBinaries]
// and [ArgoCDProgram]. Applications may be in any namespace. Argo CD compares them with their sources every five
// seconds. All programs stop when the test ends.
func StartArgoCD(t testing.TB) *Kubernetes {
	t.Helper()
	program := os.Getenv(ArgoCDProgram)
	if program == "" {
		t.Skip("only make test-argocd runs this test")
	}
	k := StartKubernetes(t, CRDs(t, Applications, AppProjects, ApplicationSets)...)
	k.Write(t, argoCDNamespace...)
	k.awaitReader(t, schema.GroupVersionResource{Group: "argoproj.io", Version: "v1alpha1", Resource: "applications"})
	cache, manifests := programs.FreeAddress(t), programs.FreeAddress(t)
	k.env = []string{"ARGOCD_FAKE_IN_CLUSTER=true", "ARGOCD_GPG_ENABLED=false"}
	k.command = func(controller string) []string {
		metrics := programs.Port(programs.FreeAddress(t))
		return append([]string{program, controller}, map[string][]string{
			redis: {cache},
			repoServer: {"--address", "127.0.0.1", "--port", programs.Port(manifests), "--metrics-port", metrics,
				"--disable-tls", "--redis", cache, "--revision-cache-expiration", "1s", "--loglevel", "warn"},
			ApplicationController: {"--kubeconfig", k.kubeconfig, "--namespace", "argocd", "--application-namespaces", "*",
				"--repo-server", manifests, "--repo-server-plaintext", "--redis", cache, "--metrics-port", metrics,
				"--app-resync", "5", "--app-resync-jitter", "0", "--repo-error-grace-period-seconds", "0", "--loglevel", "warn"},
		}[controller]...)
	}
	for _, controller := range []string{redis, repoServer, ApplicationController} {
		k.Run(controller)
	}
	return k
}
