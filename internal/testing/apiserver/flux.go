package apiserver

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// FluxBinaries names the environment variable with the folder of the programs that [StartFlux] runs. make test-flux
// builds them and sets it.
const FluxBinaries = "KALYPSO_FLUX"

// The controllers of [Flux].
const (
	SourceController    = "source-controller"
	KustomizeController = "kustomize-controller"
	HelmController      = "helm-controller"
)

// readerRole gives the user of [Reader] the permissions that the guide lists.
const readerRole = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: deployment-state}
rules:
  - {apiGroups: [kustomize.toolkit.fluxcd.io], resources: [kustomizations], verbs: [list]}
  - apiGroups: [source.toolkit.fluxcd.io]
    resources: [gitrepositories, ocirepositories, buckets, helmcharts, helmrepositories]
    verbs: [list]
  - {apiGroups: [helm.toolkit.fluxcd.io], resources: [helmreleases], verbs: [list]}
`

const readerBinding = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: deployment-state}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: deployment-state}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}]
`

// Flux is a Kubernetes API server with RBAC, and Flux's source-, kustomize- and helm-controller. There is no kubelet
// and no kube-controller-manager: ConfigMaps become healthy, Deployments never do.
type Flux struct {
	*Server
	t                 testing.TB // that started it
	bin, dir, storage string
	stop              map[string]func()
}

// StartFlux starts the server and the controllers from the programs in the folder that [FluxBinaries] names. Without
// it, the test is skipped. All stops when the test ends.
func StartFlux(t testing.TB) *Flux {
	t.Helper()
	bin := os.Getenv(FluxBinaries)
	if bin == "" {
		t.Skip("make test-flux runs this test")
	}
	f := &Flux{Server: &Server{Host: freePort(t)}, t: t, bin: bin, dir: t.TempDir(), storage: freePort(t)}
	f.stop = map[string]func(){}
	certificates := filepath.Join(f.dir, "certificates")
	write := func(name string, text []byte) string {
		file := filepath.Join(f.dir, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	accounts := write("accounts.key",
		pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	tokens := write("tokens.csv", []byte(Admin+`,admin,1,"system:masters"`+"\n"+Reader+",reader,2\n"+Nobody+",nobody,3\n"))
	_, port, _ := net.SplitHostPort(f.Host)
	run(t, f.dir, filepath.Join(bin, "kube-apiserver"), "--etcd-servers", startEtcd(t, f.dir, etcd.Find(t, "etcd")),
		"--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1", "--endpoint-reconciler-type", "none",
		"--secure-port", port, "--cert-dir", certificates, "--token-auth-file", tokens, "--authorization-mode", "RBAC",
		"--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", accounts,
		"--service-account-signing-key-file", accounts, "--service-cluster-ip-range", "10.0.0.0/24",
		"--disable-admission-plugins", "ServiceAccount")
	f.await(t, filepath.Join(certificates, "apiserver.crt"))
	crds, err := filepath.Glob(filepath.Join(bin, "crds", "*.yaml"))
	if err != nil || len(crds) == 0 {
		t.Fatalf("no custom resources in %s: %v", bin, err)
	}
	f.install(t, crds)
	f.Write(t, readerRole, readerBinding, "{apiVersion: v1, kind: Namespace, metadata: {name: flux-system}}")
	f.awaitReader(t)
	write("admin.kubeconfig", []byte(f.Kubeconfig(Admin)))
	f.Run(t, SourceController)
	f.Run(t, KustomizeController)
	f.Run(t, HelmController)
	return f
}

// awaitReader waits until the server has read the role of [Reader].
func (f *Flux) awaitReader(t testing.TB) {
	t.Helper()
	reader := &Server{Host: f.Host, ca: f.ca}
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(f.Kubeconfig(Reader)))
	if err == nil {
		reader.admin, err = dynamic.NewForConfig(config)
	}
	if err != nil {
		t.Fatal(err)
	}
	group := "kustomize.toolkit.fluxcd.io"
	reader.awaitKind(t, schema.GroupVersionResource{Group: group, Version: "v1", Resource: "kustomizations"})
}

// Run starts a controller, or starts it again after Stop.
func (f *Flux) Run(t testing.TB, controller string) {
	t.Helper()
	args := []string{"--metrics-addr", freePort(t), "--health-addr", freePort(t), "--log-level", "error",
		"--concurrent", "20"}
	if controller == SourceController {
		args = append(args, "--storage-path", filepath.Join(f.dir, "storage"), "--storage-addr", f.storage,
			"--storage-adv-addr", f.storage)
	} else {
		args = append(args, "--requeue-dependency", "3s")
	}
	for _, name := range []string{"storage", "tmp"} {
		if err := os.MkdirAll(filepath.Join(f.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(f.bin, controller), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(f.dir, "admin.kubeconfig"),
		"RUNTIME_NAMESPACE=flux-system", "TMPDIR="+filepath.Join(f.dir, "tmp"))
	f.stop[controller] = runCommand(f.t, f.dir, cmd)
}

// Stop ends a controller.
func (f *Flux) Stop(controller string) { f.stop[controller]() }

// Write creates objects or changes them by server-side apply, as an admin does.
func (f *Flux) Write(t testing.TB, documents ...string) {
	t.Helper()
	for _, text := range documents {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		options := metav1.ApplyOptions{FieldManager: "admin", Force: true}
		if _, err := f.Objects(o).Apply(t.Context(), o.GetName(), o, options); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

// Patch merges a JSON document into an object.
func (f *Flux) Patch(t testing.TB, o *unstructured.Unstructured, text string) {
	t.Helper()
	_, err := f.Objects(o).Patch(t.Context(), o.GetName(), types.MergePatchType, []byte(text), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// Remove deletes an object.
func (f *Flux) Remove(t testing.TB, apiVersion, kind, namespace, name string) {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	o.SetNamespace(namespace)
	if err := f.Objects(o).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}
