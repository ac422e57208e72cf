// Package apiserver runs a real Kubernetes API server for custom resources on loopback. It is
// k8s.io/apiextensions-apiserver, which make builds into bin/, with Debian's etcd. It provides the custom resources of
// Flux, Argo CD and External Secrets.
package apiserver

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// The tokens of the users. They are canaries: no output may contain them.
const (
	Admin  = "canary-admin"  // may do everything
	Reader = "canary-reader" // has the permissions that the guide requires
	Nobody = "canary-nobody" // may do nothing
)

var (
	etcd   = programs.Program{Name: "etcd", Add: "apt-get install etcd-server"}
	server = programs.Program{Name: "the API server", Add: "make bin/apiextensions-apiserver"}
)

// Server is a running API server.
type Server struct {
	Host     string // 127.0.0.1 and the port
	ca       []byte
	admin    dynamic.Interface
	replayed map[string]*unstructured.Unstructured // see [Server.Replay]
}

// Start starts a server with the custom resources in the files; see [CRDs]. It stops when the test ends.
func Start(t testing.TB, crds ...string) *Server {
	t.Helper()
	etcd := etcd.Find(t, "etcd")
	bin := server.Find(t, filepath.Join(programs.Root(), "bin", "apiextensions-apiserver"))
	dir := t.TempDir()
	client, port := startEtcd(t, dir, etcd), freePort(t)

	reviews := httptest.NewServer(reviewer{})
	t.Cleanup(reviews.Close)
	core := filepath.Join(dir, "core")
	if err := os.WriteFile(core, []byte(kubeconfig(reviews.URL, nil, "none")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, number, _ := net.SplitHostPort(port)
	certificates := filepath.Join(dir, "certificates")
	run(t, dir, bin, "--etcd-servers", client, "--bind-address", "127.0.0.1", "--secure-port", number,
		"--cert-dir", certificates,
		"--kubeconfig", core, "--authentication-kubeconfig", core, "--authorization-kubeconfig", core,
		"--authentication-skip-lookup",
		"--enable-priority-and-fairness=false", "--disable-admission-plugins",
		"NamespaceLifecycle,MutatingAdmissionPolicy,MutatingAdmissionWebhook,"+
			"ValidatingAdmissionPolicy,ValidatingAdmissionWebhook")
	s := &Server{Host: port}
	s.await(t, filepath.Join(certificates, "apiserver.crt"))
	s.Install(t, crds)
	return s
}

// startEtcd starts etcd with its data in dir, and returns its URL.
func startEtcd(t testing.TB, dir, etcd string) string {
	t.Helper()
	client, peer := "http://"+freePort(t), "http://"+freePort(t)
	run(t, dir, etcd, "--data-dir", filepath.Join(dir, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
	return client
}

// Kubeconfig returns a kubeconfig for a user, with the single context "fleet".
func (s *Server) Kubeconfig(token string) string { return kubeconfig("https://"+s.Host, s.ca, token) }

func kubeconfig(server string, ca []byte, token string) string {
	authority := ""
	if ca != nil {
		authority = "certificate-authority-data: " + base64.StdEncoding.EncodeToString(ca)
	}
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q, %s}}]
users: [{name: u, user: {token: %q}}]
contexts: [{name: fleet, context: {cluster: c, user: u}}]
current-context: fleet
`, server, authority, token)
}

// await waits until the server lists objects. It can't use /readyz, which never succeeds on this server.
func (s *Server) await(t testing.TB, certificate string) {
	t.Helper()
	var last error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if s.ca, last = os.ReadFile(certificate); last != nil {
			continue
		}
		var config *rest.Config
		if config, last = clientcmd.RESTConfigFromKubeConfig([]byte(s.Kubeconfig(Admin))); last != nil {
			continue
		}
		config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
		if s.admin, last = dynamic.NewForConfig(config); last != nil {
			continue
		}
		if _, last = s.admin.Resource(definitions).List(context.Background(), listAll); last == nil {
			return
		}
	}
	t.Fatalf("the API server does not answer: %v", last)
}

// run runs a program until the test ends. If the test fails, it logs the program's output.
func run(t testing.TB, dir, program string, args ...string) {
	t.Helper()
	runCommand(t, dir, exec.Command(program, args...))
}

// runCommand runs a command until the test ends, or stop is called. If the test fails, it logs the command's output.
func runCommand(t testing.TB, dir string, cmd *exec.Cmd) (stop func()) {
	t.Helper()
	name := filepath.Base(cmd.Path)
	cmd.Dir = dir
	process, err := programs.Start(filepath.Join(dir, name+".log"), cmd)
	if err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() { process.Stop(syscall.SIGTERM) })
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			t.Logf("the log of %s:\n%s", name, process.Log(1000))
		}
	})
	return stop
}

// freePort returns an address on loopback with a free port.
func freePort(t testing.TB) string {
	t.Helper()
	address, _ := programs.FreeAddress(t)
	return address
}
