package apiserver

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// The controllers of Flux.
const (
	SourceController    = "source-controller"
	KustomizeController = "kustomize-controller"
	HelmController      = "helm-controller"
)

// StartFlux starts a server with Flux's source-, kustomize- and helm-controller; see [FluxBinaries]. They stop when the
// test ends.
func StartFlux(t testing.TB) *Kubernetes {
	t.Helper()
	crds, err := filepath.Glob(filepath.Join(os.Getenv(FluxBinaries), "crds", "*.yaml"))
	k := StartKubernetes(t, crds...)
	if err != nil || len(crds) == 0 {
		t.Fatalf("no custom resources in %s: %v", k.bin, err)
	}
	k.Write(t, "{apiVersion: v1, kind: Namespace, metadata: {name: flux-system}}")
	k.awaitReader(t, schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1",
		Resource: "kustomizations"})
	folder, storage := t.TempDir(), programs.FreeAddress(t)
	k.env = []string{"RUNTIME_NAMESPACE=flux-system"}
	k.command = func(controller string) []string {
		command := []string{filepath.Join(k.bin, controller), "--metrics-addr", programs.FreeAddress(t),
			"--health-addr", programs.FreeAddress(t), "--log-level", "error", "--concurrent", "20"}
		if controller == SourceController {
			return append(command, "--storage-path", folder, "--storage-addr", storage, "--storage-adv-addr", storage)
		}
		return append(command, "--requeue-dependency", "3s")
	}
	for _, controller := range []string{SourceController, KustomizeController, HelmController} {
		k.Run(controller)
	}
	return k
}
