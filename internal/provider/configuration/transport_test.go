package configuration_test

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// A rendering is delivered in the same way over every transport, and no file or output contains a credential.
func TestAccTransports(t *testing.T) {
	t.Parallel()
	s := newSecrets(t, "testdata/TestAccTransports")
	repos := map[string]string{} // by transport
	for _, name := range []string{"https_basic", "https_bearer", "http_basic", "ssh", "ssh_scp", "file", "path"} {
		repos[name] = gitserver.InitBare(t)
	}
	https, httpsURL := gitserver.Serve(t, repos["https_basic"], gitserver.WithTLS(),
		gitserver.WithBasic("me", "canary-https"))
	bearer, bearerURL := gitserver.Serve(t, repos["https_bearer"], gitserver.WithTLS(),
		gitserver.WithBearer("canary-bearer"))
	http, httpURL := gitserver.Serve(t, repos["http_basic"], gitserver.WithBasic("me", "canary-http"))
	secure, short := gitserver.NewSSH(t), gitserver.NewSSH(t)
	_, hostKey, _ := strings.Cut(short.KnownHosts, " ")
	s.credentials(t,
		credential{"url": https.URL, "username": "me", "password": "canary-https", "ca_certificate": https.CA},
		credential{"url": bearer.URL, "bearer_token": "canary-bearer", "ca_certificate": bearer.CA},
		credential{"url": http.URL, "username": "me", "password": "canary-http"},
		credential{"url": "ssh://" + secure.Host, "private_key": encrypted(t, secure.PrivateKey, "canary-passphrase"),
			"private_key_passphrase": "canary-passphrase", "known_hosts": secure.KnownHosts},
		credential{"url": short.User + "@git.acme.test:/", "private_key": short.PrivateKey,
			"known_hosts": "git.acme.test " + hostKey},
	)
	s.repos(t, map[string]string{
		"https_basic": httpsURL, "https_bearer": bearerURL, "http_basic": httpURL,
		"ssh": secure.URL(repos["ssh"]), "ssh_scp": short.User + "@git.acme.test:" + repos["ssh_scp"],
		"file": "file://" + repos["file"], "path": repos["path"],
	})
	// The short form of an SSH URL has no port, so a proxy connects its host to the port of the server.
	s.Env = append(s.Env, "ALL_PROXY=socks5://"+socks(t, short.Host), "NO_PROXY=127.0.0.1")

	s.Succeed("plan", "-no-color", "-out=plan")
	var plan struct {
		Changes []struct {
			Index  string
			Change struct {
				After struct {
					TreeHash string `json:"tree_hash"`
				}
			}
		} `json:"resource_changes"`
	}
	if err := json.Unmarshal([]byte(s.Succeed("show", "-json", "plan").Stdout), &plan); err != nil {
		t.Fatal(err)
	}
	s.Succeed("apply", "-no-color", "plan")
	s.ExpectEmptyPlan()

	if len(plan.Changes) != len(repos) {
		t.Errorf("%d changes are planned for %d repos", len(plan.Changes), len(repos))
	}
	for _, c := range plan.Changes {
		want := map[string]string{
			"README.md":                 "This folder contains deployment targets scheduled on the cluster type",
			"hello-app/namespace.yaml":  "# name: dev-large-hello-app",
			"hello-app/reconciler.yaml": "# repo: " + c.Index,
			"hello-app/platform-config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: platform-config\n  " +
				"namespace: dev-large-hello-app\ndata:\n  {}\n",
		}
		if diff := cmp.Diff(want, gitserver.Tree(t, repos[c.Index], "dev:large")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.Index, diff)
		}
		if n := len(gitserver.Log(t, repos[c.Index], "dev")); n != 1 {
			t.Errorf("%s: %d commits", c.Index, n)
		}
		if c.Change.After.TreeHash == "" {
			t.Errorf("%s: no tree hash is planned", c.Index)
		}
		gitserver.Fsck(t, repos[c.Index])
	}
	s.expectNone(t, []*gitserver.Server{https, bearer, http}, repos["https_basic"], repos["https_bearer"],
		repos["http_basic"], repos["ssh"], repos["ssh_scp"])
	if _, ok := acc.FilesBelow(t, s.Folder)[filepath.Join("plan", "tfplan")]; !ok {
		t.Error("the plan file was not searched")
	}
}

// socks serves SOCKS5 on loopback and forwards every connection to one address.
func socks(t *testing.T, to string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { forward(conn, to) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	return listener.Addr().String()
}

// forward answers the handshake of RFC 1928 for a client that requests a host by name, and copies in both directions.
func forward(conn net.Conn, to string) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	var hello struct{ Version, Methods byte }
	if binary.Read(in, binary.BigEndian, &hello) != nil {
		return
	}
	_, _ = in.Discard(int(hello.Methods))
	_, _ = conn.Write([]byte{5, 0})
	var request struct{ Version, Command, Reserved, Type, Length byte }
	if binary.Read(in, binary.BigEndian, &request) != nil {
		return
	}
	_, _ = in.Discard(int(request.Length) + 2)
	_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	done := make(chan struct{}, 2)
	go func() { _, _ = io.Copy(server, in); done <- struct{}{} }()
	go func() { _, _ = io.Copy(conn, server); done <- struct{}{} }()
	<-done
}
