package apiserver

import (
	"os"
	"os/exec"
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
	for _, name := range []string{"storage", "tmp"} {
		if err := os.MkdirAll(filepath.Join(k.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	storage := programs.FreeAddress(t)
	k.command = func(controller string) *exec.Cmd {
		args := []string{"--metrics-addr", programs.FreeAddress(t), "--health-addr", programs.FreeAddress(t),
			"--log-level", "error", "--concurrent", "20"}
		if controller == SourceController {
			args = append(args, "--storage-path", filepath.Join(k.dir, "storage"), "--storage-addr", storage,
				"--storage-adv-addr", storage)
		} else {
			args = append(args, "--requeue-dependency", "3s")
		}
		cmd := exec.Command(filepath.Join(k.bin, controller), args...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(k.dir, "admin.kubeconfig"),
			"RUNTIME_NAMESPACE=flux-system", "TMPDIR="+filepath.Join(k.dir, "tmp"))
		return cmd
	}
	k.Run(SourceController)
	k.Run(KustomizeController)
	k.Run(HelmController)
	return k
}
