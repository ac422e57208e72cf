package kubernetes_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/kubernetes"
)

// config returns a kubeconfig for a server. Its token contains "canary", which no error may contain.
func config(server string) string {
	return `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "` + server + `"}}]
users: [{name: u, user: {token: canary-token}}]
contexts: [{name: one, context: {cluster: c, user: u}}, {name: two, context: {cluster: c, user: u}}]
current-context: one
`
}

func withTimeout(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// TestCheck: Check reports errors of a kubeconfig without its secrets. No program runs that is not allowed.
func TestCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(file, []byte(config("https://10.0.0.1")), 0o600); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ran := filepath.Join(dir, "ran")
	exec := strings.Replace(
		config("https://127.0.0.1:1"),
		"{token: canary-token}",
		`{exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: ["`+ran+`", "`+ran+`-canary-argument"],`+
			"interactiveMode: Never}}",
		1,
	)
	good := config("https://10.0.0.1")
	for name, test := range map[string]struct {
		connection kubernetes.Connection
		want       string
	}{
		"content of a kubeconfig": {kubernetes.Connection{Kubeconfig: good}, ""},
		"path of a kubeconfig":    {kubernetes.Connection{Kubeconfig: file, Context: "two"}, ""},
		"unknown context": {kubernetes.Connection{Kubeconfig: good, Context: "three"},
			`no context "three"; it has: one, two`},
		"no current context": {kubernetes.Connection{Kubeconfig: strings.Replace(good, "current-context: one", "", 1)},
			"no current context; set context to one of: one, two"},
		"unknown cluster": {kubernetes.Connection{Kubeconfig: strings.Replace(good, "{name: c, cluster",
			"{name: d, cluster", 1)}, `no cluster "c"`},
		"unknown user": {kubernetes.Connection{Kubeconfig: strings.Replace(good, "{name: u, user",
			"{name: v, user", 1)}, `no user "u"`},
		"invalid YAML": {kubernetes.Connection{Kubeconfig: "canary: [\n"}, "not a kubeconfig"},
		"a second document": {kubernetes.Connection{Kubeconfig: "apiVersion: v1\nkind: Config\n---\nkind: Config\n"},
			"line 4 of the text follows the end"},
		"text after JSON": {kubernetes.Connection{Kubeconfig: `{"apiVersion": "v1", "kind": "Config"}` + "\nx"},
			"line 2 of the text follows the end"},
		"missing file": {kubernetes.Connection{Kubeconfig: filepath.Join(dir, "not")}, "nor the path of a readable file"},
		"program that is not allowed": {kubernetes.Connection{Kubeconfig: exec},
			`runs the program "touch" to get a credential; set allow_exec = true`},
		"program that is allowed": {kubernetes.Connection{Kubeconfig: exec, AllowExec: true}, ""},
		"auth-provider": {kubernetes.Connection{Kubeconfig: strings.Replace(good, "{token: canary-token}",
			"{auth-provider: {name: azure}}", 1)}, "auth-provider"},
		"plain http":                {kubernetes.Connection{Kubeconfig: config("http://10.0.0.1")}, "does not use TLS"},
		"plain http on loopback":    {kubernetes.Connection{Kubeconfig: config("http://127.0.0.1:8080")}, ""},
		"invalid URL of the server": {kubernetes.Connection{Kubeconfig: config("canary")}, "not a URL"},
		"device as the kubeconfig":  {kubernetes.Connection{Kubeconfig: "/dev/zero"}, "not a regular file"},
		"pipe as the kubeconfig":    {kubernetes.Connection{Kubeconfig: pipe}, "not a regular file"},
		"device as the token file": {kubernetes.Connection{Kubeconfig: strings.Replace(good, "token: canary-token",
			"tokenFile: /dev/zero", 1), AllowFiles: true},
			"the file that its tokenFile names can't be read: it is not a regular"},
		"pipe as the token file": {kubernetes.Connection{Kubeconfig: strings.Replace(good, "token: canary-token",
			"tokenFile: "+pipe, 1), AllowFiles: true}, "not a regular file"},
		"device as the CA": {kubernetes.Connection{Kubeconfig: strings.Replace(good, "cluster: {",
			"cluster: {certificate-authority: /dev/zero, ", 1), AllowFiles: true},
			"its certificate-authority names can't be read"},
		"missing key file": {kubernetes.Connection{Kubeconfig: strings.Replace(good, "token: canary-token",
			"client-certificate: /canary/a, client-key: /canary/b", 1), AllowFiles: true}, "can't be read"},
	} {
		err := test.connection.Check()
		if (err == nil) != (test.want == "") ||
			err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := kubernetes.Source{
		"a": {Kubeconfig: exec},
		"b": {Kubeconfig: good, Context: "x"},
	}.Reports(
		t.Context(),
		rendering,
	)
	if err == nil || !strings.Contains(err.Error(), `cluster "a": `) || !strings.Contains(err.Error(), `cluster "b": `) {
		t.Errorf("the error does not name both clusters: %v", err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the program ran without being allowed")
	}
	if _, err := (kubernetes.Source{"a": {Kubeconfig: exec, AllowExec: true}}).Reports(
		withTimeout(t, time.Minute),
		rendering,
	); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(ran); err != nil {
		t.Error("the program did not run, although it is allowed")
	}
}
