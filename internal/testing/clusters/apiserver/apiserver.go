// Package apiserver runs a real Kubernetes API server for custom resources on loopback. It is
// k8s.io/apiextensions-apiserver, which make builds into bin/, with Debian's etcd. It provides the custom resources of
// Flux, Argo CD and External Secrets.
package apiserver

import (
	"encoding/base64"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

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

// registry is the prefix of all keys in etcd.
const registry = "/registry"

var etcd = programs.Program{Name: "etcd", Add: "apt-get install etcd-server"}

// Server is a running API server.
type Server struct {
	Host    string // 127.0.0.1 and the port
	etcd    string // its URL
	process *programs.Process
	ca      []byte
	admin   dynamic.Interface
}

// Start starts a server with the custom resources in the files; see [CRDs]. It stops when the test ends.
func Start(t testing.TB, crds ...string) *Server {
	t.Helper()
	bin := programs.Built(t, "apiextensions-apiserver")
	dir := t.TempDir()
	reviews := httptest.NewServer(reviewer{})
	t.Cleanup(reviews.Close)
	core := filepath.Join(dir, "core")
	programs.WriteFile(t, core, kubeconfig(reviews.URL, nil, "none"))
	s := start(t, dir, bin,
		"--kubeconfig", core, "--authentication-kubeconfig", core, "--authorization-kubeconfig", core,
		"--authentication-skip-lookup",
		"--enable-priority-and-fairness=false", "--disable-admission-plugins",
		"NamespaceLifecycle,MutatingAdmissionPolicy,MutatingAdmissionWebhook,"+
			"ValidatingAdmissionPolicy,ValidatingAdmissionWebhook")
	s.Install(t, crds)
	return s
}

// start starts an API server that needs more arguments, with an etcd, and waits until it lists objects. It can't use
// /readyz, which never succeeds on the server of [Start].
func start(t testing.TB, dir, program string, more ...string) *Server {
	t.Helper()
	s := &Server{Host: programs.FreeAddress(t), etcd: startEtcd(t, dir)}
	certificates := filepath.Join(dir, "certificates")
	s.process = run(t, dir, exec.Command(program, append(more, "--etcd-servers", s.etcd, "--etcd-prefix", registry,
		"--bind-address", "127.0.0.1", "--secure-port", programs.Port(s.Host), "--cert-dir", certificates)...))
	s.process.Await(t, func() (err error) {
		s.ca, err = os.ReadFile(filepath.Join(certificates, "apiserver.crt"))
		if err != nil {
			return err
		}
		s.admin, err = s.client(Admin)
		if err == nil {
			_, err = s.admin.Resource(definitions).List(t.Context(), listAll)
		}
		return err
	})
	return s
}

// startEtcd starts etcd with its data in dir, and returns its URL.
func startEtcd(t testing.TB, dir string) string {
	t.Helper()
	program := etcd.Find(t, "etcd")
	client, peer := "http://"+programs.FreeAddress(t), "http://"+programs.FreeAddress(t)
	run(t, dir, exec.Command(program, "--data-dir", filepath.Join(dir, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer))
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

func (s *Server) client(token string) (dynamic.Interface, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig([]byte(s.Kubeconfig(token)))
	if err != nil {
		return nil, err
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	return dynamic.NewForConfig(config)
}

// run runs a command in a folder until the test ends.
func run(t testing.TB, dir string, cmd *exec.Cmd) *programs.Process {
	t.Helper()
	cmd.Dir = dir
	return programs.Run(t, filepath.Join(dir, filepath.Base(cmd.Path)+".log"), cmd, syscall.SIGTERM)
}
