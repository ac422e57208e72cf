package kubernetes_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/kubernetes"
)

// withProgram returns a kubeconfig with a shell script that prints the credential. more adds fields to its exec
// section.
func withProgram(t *testing.T, server, script, more string) kubernetes.Connection {
	t.Helper()
	quoted, err := json.Marshal(script)
	if err != nil {
		t.Fatal(err)
	}
	return kubernetes.Connection{AllowExec: true, Kubeconfig: strings.Replace(config(server), "{token: canary-token}",
		"{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, args: [-c, "+
			string(quoted)+"]"+more+"}}", 1)}
}

// offlineMessage reads a cluster that must be offline, and returns the message of its report.
func offlineMessage(ctx context.Context, t *testing.T, c kubernetes.Connection) string {
	t.Helper()
	reports, err := kubernetes.Source{"a": c}.Reports(ctx, rendering)
	if err != nil || len(reports) != 1 || reports[0].Health != deployment.Offline {
		t.Fatalf("%+v, %v", reports, err)
	}
	return reports[0].Message
}

// TestProgramKilled: a program that does not end is killed when the context ends, together with the processes that it
// started.
func TestProgramKilled(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"program that waits for a child":     "sleep 300 & echo $! > PID; wait",
		"program that ignores signals":       "trap '' INT TERM HUP; echo $$ > PID; while :; do sleep 1; done",
		"program that ends before its child": "sleep 300 & echo $! > PID",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				for ctx.Err() == nil {
					if text, _ := os.ReadFile(file); len(text) > 0 {
						time.Sleep(100 * time.Millisecond)
						cancel()
					}
					time.Sleep(10 * time.Millisecond)
				}
			}()
			begin := time.Now()
			said := offlineMessage(ctx, t, withProgram(t, "https://127.0.0.1:1", strings.ReplaceAll(script, "PID", file), ""))
			if took := time.Since(begin); took > 20*time.Second {
				t.Errorf("the program was killed after %s: %s", took, said)
			}
			if !strings.Contains(said, `the program "sh", which gets the credential: it`) {
				t.Error(said)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			for range 100 { // until init has reaped the process
				if syscall.Kill(pid, 0) != nil {
					return
				}
				state, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
				if strings.Contains(string(state), ") Z ") {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
			t.Errorf("process %d still runs", pid)
		})
	}
}

// TestProgramErrors: how much a program may print is limited, and no error contains what it printed.
func TestProgramErrors(t *testing.T) {
	t.Parallel()
	credential := func(version, status string) string {
		return `echo '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/` + version + `", "status": ` +
			status + `}'`
	}
	inYAML := `printf 'kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1\nstatus: {token: a}\n---\n`
	for script, want := range map[string]string{
		inYAML + "a: canary'":                      "it prints text after the ExecCredential, in line 5",
		"head -c 2000000 /dev/zero; sleep 300":     "it prints more than 1 MiB",
		"echo canary; echo canary >&2; exit 3":     "it failed: exit status 3",
		"echo canary":                              "does not print an ExecCredential",
		credential("v1beta1", `{"token": "a"}`):    "does not print an ExecCredential of client.authentication.k8s.io/v1 ",
		credential("v1", `{"clientKeyData": "a"}`): "a certificate or a key alone",
		credential("v1", `{}`):                     "neither a token nor a certificate",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			got := offlineMessage(t.Context(), t, withProgram(t, "https://127.0.0.1:1", script, ""))
			if !strings.Contains(got, want) || strings.Contains(got, "canary") {
				t.Error(got)
			}
		})
	}
	missing := withProgram(t, "https://127.0.0.1:1", "", "")
	missing.Kubeconfig = strings.Replace(missing.Kubeconfig, "command: sh", "command: not-installed-anywhere", 1)
	if got := offlineMessage(t.Context(), t, missing); !strings.Contains(got, "it is not installed") {
		t.Error(got)
	}
	asks := withProgram(t, "https://127.0.0.1:1", "", "")
	asks.Kubeconfig = strings.Replace(asks.Kubeconfig, "interactiveMode: Never", "interactiveMode: Always", 1)
	if got := offlineMessage(t.Context(), t, asks); !strings.Contains(got, "no one can answer") {
		t.Error(got)
	}
}

// TestProgram: a program gets the cluster's address and the variables of the kubeconfig, and its token is sent to the
// cluster. What it prints to stderr does not reach our log.
func TestProgram(t *testing.T) {
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stderr
	os.Stderr = log
	t.Cleanup(func() { os.Stderr = before })

	var got string
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	c := withProgram(t, s.URL, `echo to the log >&2; info=$(printf %s "$KUBERNETES_EXEC_INFO" | base64 -w0); `+
		`echo '{"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", '`+
		`'"status": {"token": "'$TOKEN.$info'"}}'`,
		", provideClusterInfo: true, env: [{name: TOKEN, value: mine}]")
	c.Kubeconfig = strings.Replace(c.Kubeconfig, "server:", "insecure-skip-tls-verify: true, server:", 1)
	if said := offlineMessage(t.Context(), t, c); !strings.Contains(said, "no custom resources") {
		t.Error(said)
	}
	token, info, _ := strings.Cut(strings.TrimPrefix(got, "Bearer "), ".")
	text, err := base64.StdEncoding.DecodeString(info)
	if token != "mine" || err != nil || !strings.Contains(string(text), s.URL) {
		t.Errorf("%s %s %v", got, text, err)
	}
	if text, _ := os.ReadFile(log.Name()); len(text) > 0 {
		t.Errorf("the log contains the output of the program: %s", text)
	}
}

// TestFilesInKubeconfig: a kubeconfig that is passed as text may name files only if the user allows this. A kubeconfig
// that is read from a file may always name files.
func TestFilesInKubeconfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := config("https://10.0.0.1")
	withFile := strings.Replace(good, "{token: canary-token}", "{tokenFile: "+token+"}", 1)
	path := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(path, []byte(withFile), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		connection kubernetes.Connection
		want       string
	}{
		"token file": {kubernetes.Connection{Kubeconfig: withFile},
			"refers to files on this machine: tokenFile;"},
		"token file that is allowed":              {kubernetes.Connection{Kubeconfig: withFile, AllowFiles: true}, ""},
		"token file, kubeconfig read from a file": {kubernetes.Connection{Kubeconfig: path}, ""},
		"no files": {kubernetes.Connection{Kubeconfig: good}, ""},
		"CA and client certificate": {kubernetes.Connection{Kubeconfig: strings.NewReplacer(
			"token: canary-token", "client-certificate: /canary/a, client-key: /canary/b",
			"server:", "certificate-authority: /canary/c, server:").Replace(good)},
			"refers to files on this machine: certificate-authority, client-certificate, client-key;"},
	} {
		err := test.connection.Check()
		if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) ||
			strings.Contains(err.Error(), "canary")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
