package apiserver

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// FluxBinaries is the environment variable with the folder that contains a kube-apiserver and the controllers of Flux.
// make test-flux builds them and sets it.
const FluxBinaries = "KALYPSO_FLUX"

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
  - {apiGroups: [argoproj.io], resources: [applications], verbs: [list]}
`

const readerBinding = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: deployment-state}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: deployment-state}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}]
`

// Kubernetes is a Kubernetes API server with RBAC, and the controllers of Flux or Argo CD. Since no kubelet and no
// kube-controller-manager run, ConfigMaps become healthy, but Deployments never do.
type Kubernetes struct {
	*Server
	t        testing.TB // the test that started the server
	bin, dir string
	// kubeconfig is the file of the admin's.
	kubeconfig string
	command    func(controller string) []string // returns the program that runs a controller, and its arguments
	env        []string                         // more variables of controllers
	running    map[string]*programs.Process     // the controllers
}

// StartKubernetes starts a server with the custom resources in the files, and no controllers, from the programs in the
// folder that [FluxBinaries] names. If the variable is not set, the test is skipped. The server stops when the test
// ends.
func StartKubernetes(t testing.TB, crds ...string) *Kubernetes {
	t.Helper()
	bin := os.Getenv(FluxBinaries)
	if bin == "" {
		t.Skip("only make test-flux and make test-argocd run this test")
	}
	k := &Kubernetes{t: t, bin: bin, dir: t.TempDir(), running: map[string]*programs.Process{}}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	accounts := k.file("accounts.key",
		pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	tokens := k.file("tokens.csv",
		[]byte(Admin+`,admin,1,"system:masters"`+"\n"+Reader+",reader,2\n"+Nobody+",nobody,3\n"))
	k.Server = start(t, k.dir, filepath.Join(bin, "kube-apiserver"),
		"--advertise-address", "127.0.0.1", "--endpoint-reconciler-type", "none",
		"--token-auth-file", tokens, "--authorization-mode", "RBAC",
		"--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", accounts,
		"--service-account-signing-key-file", accounts, "--service-cluster-ip-range", "10.0.0.0/24",
		"--disable-admission-plugins", "ServiceAccount")
	k.Install(t, crds)
	k.Write(t, readerRole, readerBinding)
	k.kubeconfig = k.file("admin.kubeconfig", []byte(k.Kubeconfig(Admin)))
	return k
}

// file writes a file into the folder of the server, and returns its path.
func (k *Kubernetes) file(name string, text []byte) string {
	k.t.Helper()
	file := filepath.Join(k.dir, name)
	programs.WriteFile(k.t, file, string(text))
	return file
}

// awaitReader waits until the server has read the role of [Reader], so that the user can list these objects.
func (k *Kubernetes) awaitReader(t testing.TB, at schema.GroupVersionResource) {
	t.Helper()
	reader, err := k.client(Reader)
	if err != nil {
		t.Fatal(err)
	}
	k.awaitKind(t, reader, at)
}

// Run starts a controller. After [Kubernetes.Stop] it starts it again.
func (k *Kubernetes) Run(controller string) {
	command := k.command(controller)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = slices.Concat(os.Environ(), k.env, []string{"KUBECONFIG=" + k.kubeconfig, "TMPDIR=" + k.dir})
	k.running[controller] = run(k.t, k.dir, cmd)
}

// Stop ends a controller.
func (k *Kubernetes) Stop(controller string) { k.running[controller].Stop(syscall.SIGTERM) }

// Write creates or changes objects by server-side apply, as the admin.
func (k *Kubernetes) Write(t testing.TB, documents ...string) {
	t.Helper()
	for _, text := range documents {
		o := parse(t, text)
		options := metav1.ApplyOptions{FieldManager: "admin", Force: true}
		if _, err := k.Objects(o).Apply(t.Context(), o.GetName(), o, options); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

// Patch merges a JSON document into an object, or into a subresource such as status.
func (k *Kubernetes) Patch(t testing.TB, o *unstructured.Unstructured, text string, subresource ...string) {
	t.Helper()
	_, err := k.Objects(o).Patch(t.Context(), o.GetName(), types.MergePatchType, []byte(text), metav1.PatchOptions{},
		subresource...)
	if err != nil {
		t.Fatal(err)
	}
}
