package rendering_test

import (
	"crypto/tls"
	"fmt"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/giteaserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/tlsserver"
)

// TestAccGiteaClientCertificate: the provider pushes, opens a pull request and sets a commit status on a Gitea whose
// TLS server has a private authority and requires a client certificate. No file and no output contains the key.
func TestAccGiteaClientCertificate(t *testing.T) {
	t.Parallel()
	acc.NeedTerraform(t)
	on := giteaserver.Shared(t).AddRepo(t, "gitops", "ann")
	address, err := url.Parse(giteaserver.Shared(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	front := tlsserver.New(t, httputil.NewSingleHostReverseProxy(address), tls.RequireAndVerifyClientCert)
	local := gitserver.InitBare(t)
	gitserver.Seed(t, local, "dev", map[string]string{"README.md": "hello\n"})
	send(t, local, on)
	r := newRendering(t, local)
	repo := strings.Replace(on.URL, giteaserver.Shared(t).URL, front.URL, 1)
	r.setDestination("repo", repo)
	r.options("delivery", map[string]any{"strategy": "pull_request"})
	r.StartProviders() // for its log
	r.Env = append(r.Env, "TF_LOG=TRACE", "TF_LOG_PATH="+filepath.Join(r.Folder, acc.LogName))
	keys := t.TempDir() // outside of the module
	files := map[string]string{"ca": front.CA, "client": front.Client.Certificate, "key": front.Client.Key}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(keys, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure := func(client string) {
		r.Write("gitea_override.tf", fmt.Sprintf("provider \"kalypso\" {\n  github = null\n  git_credentials = null\n"+
			"  gitea = {\n    base_url = %q\n    token = %q\n    ca_certificate = file(%q)\n%s  }\n}\n",
			front.URL, on.Token, filepath.Join(keys, "ca"), client))
	}
	configure("")
	r.ExpectError([]string{"check", "client_certificate and client_key"}, "apply", "-no-color", "-auto-approve")
	configure(fmt.Sprintf("    client_certificate = file(%q)\n    client_key = file(%q)\n",
		filepath.Join(keys, "client"), filepath.Join(keys, "key")))
	r.Apply()
	r.ExpectEmptyPlan()
	pull, _ := r.Rendered()["pull_request"].(map[string]any)
	head, _ := pull["head_commit"].(string)
	r.Write("status.tf", fmt.Sprintf("resource \"kalypso_commit_status\" \"ci\" {\n  repo = %q\n  commit = %q\n"+
		"  context = \"ci\"\n  state = \"success\"\n}\n", repo, head))
	r.Apply()
	r.ExpectEmptyPlan()
	branch, _ := pull["branch"].(string)
	receive(t, local, on)
	if pull["state"] != "open" || gitserver.Rev(t, local, branch) != head {
		t.Errorf("the pull request: %v", pull)
	}
	if presented := front.Presented(); len(presented) == 0 || slices.Contains(presented, "") {
		t.Errorf("the certificates of the requests: %q", presented)
	}
	secret := strings.Split(front.Client.Key, "\n")[1]
	places := acc.FilesBelow(t, r.Folder)
	places["the output"] = []byte(r.Printed.String())
	for place, data := range places {
		if strings.Contains(string(data), secret) {
			t.Errorf("the key is in %s", place)
		}
	}
}
