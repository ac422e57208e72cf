package configuration_test

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/clusters/azurefake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// No output, state, plan or log contains a credential of Azure or of a cluster, even if a server refuses the credential
// and repeats it in its answer.
func TestAccSecretsOfSources(t *testing.T) {
	t.Parallel()
	s := newSecrets(t, "testdata/TestAccSecretsOfSources")
	repo := gitserver.InitBare(t)
	record := `{"version": 1, "environment": "stage", "cluster_types": ["large"]}`
	commit := gitserver.Seed(t, repo, "stage", map[string]string{
		"fleet/large/shop/namespace.yaml": "one\n", "fleet/" + acc.RecordPath: record,
	})
	graph := azurefake.New(t)
	graph.Set("kubernetesconfigurationresources",
		azurefake.Configuration(azurefake.AKS("a"), "file://"+repo, "stage", "./fleet/large", "stage@sha1:"+commit))
	s.Env = append(s.Env, "SSL_CERT_FILE="+graph.CA)
	azure := map[string]any{
		"tenant_id": azurefake.Tenant, "client_id": azurefake.Client, "client_secret": azurefake.Secret,
		"disable_instance_discovery": true,
		"endpoint": map[string]any{
			"active_directory_authority_host": graph.URL, "resource_manager_endpoint": graph.URL,
			"resource_manager_audience": graph.URL,
		},
	}
	clusters := map[string]any{}
	for name, user := range map[string]string{
		"token":    "{token: canary-of-cluster}",
		"password": "{username: me, password: canary-password}",
		"program":  execUser(t),
	} {
		clusters[name] = map[string]any{"kubeconfig": repeatingCluster(t, user), "allow_exec": name == "program"}
	}
	s.canaries = append(s.canaries, base64.StdEncoding.EncodeToString([]byte("me:canary-password")))
	look := func(names ...string) {
		s.Write("terraform.tfvars.json", acc.ToJSON(t, map[string]any{"repo": "file://" + repo, "clusters": names}))
		credentials := acc.ToJSON(t, map[string]any{"azure": azure, "clusters": clusters})
		if err := os.WriteFile(s.file, []byte(credentials), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	look("token", "password", "program")
	s.Succeed("plan", "-no-color", "-out=plan")
	out := s.Succeed("apply", "-no-color", "plan").Text() + acc.ReadFile(t, filepath.Join(s.Folder, "terraform.tfstate"))
	if n := strings.Count(out, "you sent "); n < 3 || strings.Count(out, "(secret)") < n {
		t.Errorf("the clusters' answers are not shown:\n%s", out)
	}
	graph.Instead(func(w http.ResponseWriter, r *http.Request) {
		azurefake.Error(http.StatusBadRequest, "BadRequest", "you sent "+r.Header.Get("Authorization"))(w, r)
	})
	s.ExpectError([]string{"you sent Bearer (secret)"}, "plan", "-no-color")
	azure["client_secret"] = "canary-wrong"
	look("token")
	s.ExpectError([]string{"Invalid client secret provided: (secret)"}, "plan", "-no-color")
	clusters["token"] = map[string]any{"kubeconfig": "canary: [\n"}
	look("token")
	s.ExpectError([]string{"text is not a kubeconfig"}, "plan", "-no-color")
	s.expectNone(t, nil, repo)
	if _, ok := acc.FilesBelow(t, s.Folder)[filepath.Join("plan", "tfplan")]; !ok {
		t.Error("the plan file was not searched")
	}
}

// execUser returns a user of a kubeconfig that gets its token from a program.
func execUser(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "credential")
	script := "#!/bin/sh\necho '" + `{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", ` +
		`"status": {"token": "canary-of-program"}}` + "'\n"
	if err := programs.Write(program, script); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("{exec: {apiVersion: client.authentication.k8s.io/v1, command: %q, interactiveMode: Never}}",
		program)
}

// repeatingCluster starts a server that refuses each request and repeats its credential. It returns a kubeconfig for
// the server.
func repeatingCluster(t *testing.T, user string) string {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, acc.ToJSON(t, map[string]any{
			"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": http.StatusForbidden,
			"message": "you sent " + r.Header.Get("Authorization") + " " + password,
		}))
	}))
	t.Cleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: u, user: %s}]
contexts: [{name: one, context: {cluster: c, user: u}}]
current-context: one
`, server.URL, base64.StdEncoding.EncodeToString(authority), user)
}
