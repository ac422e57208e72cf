package giteaserver_test

import (
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/giteaserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

func TestMain(m *testing.M) {
	code := m.Run()
	giteaserver.Stop()
	os.Exit(code)
}

// TestServer: it serves Git and the API, also below its folder, and the proxy records the provider's requests.
func TestServer(t *testing.T) {
	t.Parallel()
	repo := giteaserver.Shared(t).AddRepo(t, "gitops", "ann")
	local := gitserver.InitBare(t)
	commit := gitserver.Seed(t, local, "main", map[string]string{"README.md": "hello\n"})
	gitserver.Git(t, local, "push", "--quiet", "--force", repo.Remote(), "refs/heads/main")
	if refs := gitserver.Git(t, local, "ls-remote", repo.Remote()); !strings.Contains(refs, commit) {
		t.Errorf("Git sees %s", refs)
	}
	path := "/repos/" + repo.Owner + "/gitops"
	for _, url := range []string{giteaserver.Shared(t).URL, giteaserver.Shared(t).URL + giteaserver.Folder} {
		if status := get(t, repo, url+"/api/v1"+path); status != http.StatusOK {
			t.Errorf("%s: status %d", url, status)
		}
	}
	want := hostfake.Request{
		Method: http.MethodGet, Path: path, Authorization: "Bearer " + repo.Token, Status: http.StatusOK,
	}
	if got := repo.Requests(); len(got) != 2 || got[0] != want || got[1] != want {
		t.Errorf("got %+v", got)
	}
}

// TestHooks: Git asks Gitea about each push. Gitea refuses one to a protected branch, and the push prints the reason.
func TestHooks(t *testing.T) {
	t.Parallel()
	repo := giteaserver.Shared(t).AddRepo(t, "gitops", "ann")
	local := gitserver.InitBare(t)
	commit := gitserver.Seed(t, local, "main", map[string]string{"README.md": "hello\n"})
	push := func(to string) string {
		cmd := exec.Command("git", "push", "--force", repo.Remote(), "main:"+to)
		cmd.Dir, cmd.Env = local, gitserver.Env()
		out, err := cmd.CombinedOutput()
		if refused := err != nil; refused != (to == "main") {
			t.Errorf("the push to %s: %v: %s", to, err, out)
		}
		return string(out)
	}
	repo.Protect(t, "main")
	if said := push("main"); !strings.Contains(said, "remote: error: Not allowed to") {
		t.Errorf("Git prints %s", said)
	}
	if head := repo.Head(t, "main"); head == commit {
		t.Error("the branch has the commit that was refused")
	}
	if said := push("next"); !strings.Contains(said, "remote: next: "+repo.URL) {
		t.Errorf("Git prints %s", said)
	}
	if head := repo.Head(t, "next"); head != commit {
		t.Errorf("the branch has %q, want %s", head, commit)
	}
}

// TestProxy: a request that is not in openapi.yaml is refused, and listed ones fail as often as the test asks for.
func TestProxy(t *testing.T) {
	t.Parallel()
	repo := giteaserver.Shared(t).AddRepo(t, "gitops")
	base := giteaserver.Shared(t).URL + "/api/v1/repos/" + repo.Owner + "/gitops"
	for _, unknown := range []string{
		"/branches", "/pulls?head=x", "/pulls?state=merged", "/pulls/x", "/pulls?limit=51", "/pulls/1/x/y", "/",
	} {
		if status := get(t, repo, base+unknown); status != http.StatusNotImplemented {
			t.Errorf("%s: status %d", unknown, status)
		}
	}
	for _, known := range []string{"/pulls/1/reviews?limit=50", "/pulls/main/change"} {
		if status := get(t, repo, base+known); status != http.StatusNotFound {
			t.Errorf("%s: status %d", known, status)
		}
	}
	for body, want := range map[string]int{
		`{"name": "x", "color": "#cccccc"}`: http.StatusCreated, `{"name": "x"}`: http.StatusNotImplemented,
		`{"name": "x", "color": 1}`: http.StatusNotImplemented, ``: http.StatusNotImplemented,
		`{"name": "x", "color": "#cccccc", "size": 1}`: http.StatusNotImplemented,
	} {
		if status := send(t, repo, http.MethodPost, base+"/labels", body); status != want {
			t.Errorf("%s: status %d", body, status)
		}
	}
	repo.Fail(http.MethodGet, "/labels", 1, hostfake.Failure{Status: http.StatusBadGateway})
	for _, want := range []int{http.StatusBadGateway, http.StatusOK} {
		if status := get(t, repo, base+"/labels"); status != want {
			t.Errorf("status %d, want %d", status, want)
		}
	}
	repo.Fail("", "/labels", 1, hostfake.Failure{Drop: true, After: true})
	if status := send(t, repo, http.MethodPost, base+"/labels", `{"name": "lost", "color": "#cccccc"}`); status != 0 {
		t.Errorf("the answer came: status %d", status)
	}
	if status := get(t, repo, base+"/labels"); status != http.StatusOK {
		t.Errorf("status %d", status)
	}
}

func get(t *testing.T, repo *giteaserver.Repo, url string) int {
	t.Helper()
	return send(t, repo, http.MethodGet, url, "")
}

// send sends a request as the provider does, and returns the status of the answer; 0: there is none.
func send(t *testing.T, repo *giteaserver.Repo, method, url, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+repo.Token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	return resp.StatusCode
}
