package rendering_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// Bad input is an error of the plan. The files diagnostics.txt contain each error as the user reads it: the resource,
// the line, the object and its source, what is wrong and what to do. One plan shows all errors of a configuration.
func TestAccBadInput(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"arguments", "fleet", "manifests", "paths", "placement", "placement_resources"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join("testdata", "TestAccBadInput", name)
			r := acc.NewRootFrom(t, folder)
			expectRefused(t, r, filepath.Join(folder, "diagnostics.txt"))
		})
	}
}

// A destination that cannot be read or written is an error of the plan too, and nothing is written to it.
func TestAccUnreadableDestination(t *testing.T) {
	t.Parallel()
	type object = map[string]string
	folder := filepath.Join("testdata", "TestAccBadInput", "places")
	r := acc.NewRootFrom(t, folder)

	var repos []string
	names := []string{} // pairs of a text that differs between runs, and a name for it
	repo := func(name string, files map[string]string) string {
		bare := gitserver.InitBare(t)
		gitserver.Seed(t, bare, "dev", files)
		repos = append(repos, bare)
		names = append(names, bare, "/"+name)
		return bare
	}
	readme := map[string]string{"README.md": "The GitOps repo."}
	plain := repo("plain", readme)
	served, url := gitserver.Serve(t, plain, gitserver.WithBasic("me", "canary"))
	elsewhere := gitserver.New(t, served.Root, gitserver.WithRedirect(served.URL))
	locked, lockedURL := gitserver.Serve(t, plain, gitserver.WithBasic("me", "other"))
	closed, closedURL := gitserver.Serve(t, plain, gitserver.WithBasic("me", "canary"))
	forbidden := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "this token may not read", http.StatusForbidden)
	}))
	t.Cleanup(forbidden.Close)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html>Sign in</html>"))
	}))
	t.Cleanup(page.Close)
	unknown, refusing := gitserver.NewSSH(t), gitserver.NewSSH(t)
	names = append(
		names,
		served.URL,
		"http://served",
		elsewhere.URL,
		"http://elsewhere",
		locked.URL,
		"http://locked",
		closed.URL,
		"http://closed",
		forbidden.URL,
		"http://forbidden",
		page.URL,
		"http://page",
		unknown.User+"@"+unknown.Host,
		"user@unknown",
		refusing.User+"@"+refusing.Host,
		"user@refusing",
		unknown.KnownHosts[:strings.Index(unknown.KnownHosts, " ")],
		"[unknown]:22",
		unknown.Host,
		"unknown",
		refusing.Host,
		"refusing",
		ssh.FingerprintSHA256(
			unknown.HostKey,
		),
		"SHA256:fingerprint",
		filepath.Base(plain),
		"plain.git",
		filepath.Dir(plain),
		"",
	)

	variables := map[string]any{
		"credentials": []object{
			{"url": served.URL, "username": "me", "password": "canary"},
			{"url": elsewhere.URL, "username": "me", "password": "canary"},
			{"url": locked.URL, "username": "me", "password": "canary"},
			{"url": forbidden.URL, "bearer_token": "canary"},
			{"url": "ssh://" + unknown.Host, "private_key": unknown.PrivateKey, "known_hosts": refusing.KnownHosts},
			{"url": "ssh://" + refusing.Host, "private_key": unknown.PrivateKey, "known_hosts": refusing.KnownHosts},
		},
		"places": map[string]object{
			"branch":          {"repo": "file://" + plain, "branch": "prod"},
			"branch_http":     {"repo": url, "branch": "prod"},
			"repo":            {"repo": "file://" + plain + "/none"},
			"repo_http":       {"repo": served.URL + "/none"},
			"wrong_password":  {"repo": lockedURL},
			"no_password":     {"repo": closedURL},
			"forbidden":       {"repo": forbidden.URL + "/gitops"},
			"redirected":      {"repo": elsewhere.URL + "/" + filepath.Base(plain)},
			"no_git_server":   {"repo": page.URL + "/gitops"},
			"unreachable":     {"repo": "http://127.0.0.1:9/gitops"},
			"unknown_host":    {"repo": unknown.URL(plain)},
			"wrong_key":       {"repo": refusing.URL(plain)},
			"file_in_the_way": {"repo": "file://" + repo("file-in-the-way", map[string]string{"large": "not a folder"})},
			"path_is_file": {"repo": "file://" + repo("path-is-file", map[string]string{"a/b": "not a folder"}),
				"path": "a/b/c"},
			"others_folder": {"repo": "file://" + repo("others-folder", map[string]string{"large/a.yaml": "a: b"})},
			"broken_record": {"repo": "file://" + repo("broken-record", map[string]string{".kalypso/rendering.json": "{"})},
			"empty_record":  {"repo": "file://" + repo("empty-record", map[string]string{".kalypso/rendering.json": "{}"})},
			"newer_record": {
				"repo": "file://" + repo("newer-record", map[string]string{".kalypso/rendering.json": `{"version": 99}`}),
			},
			"escaping_record": {
				"repo": "file://" + repo(
					"escaping-record",
					map[string]string{
						".kalypso/rendering.json": `{"version": 1, "environment": "dev", "cluster_types": ["../other", ".git", "a/b"]}`,
					},
				),
			},
			"other_environment": {
				"repo": "file://" + repo(
					"other-environment",
					map[string]string{".kalypso/rendering.json": `{"version": 1, "environment": "test"}`},
				),
			},
			"nested": {
				"repo": "file://" + repo(
					"nested",
					map[string]string{"a/.kalypso/rendering.json": `{"version": 1, "environment": "test"}`},
				),
				"path": "a/b",
			},
		},
	}
	data, err := json.Marshal(variables)
	if err != nil {
		t.Fatal(err)
	}
	r.Write("terraform.tfvars.json", string(data))
	var before []string
	for _, bare := range repos {
		before = append(before, gitserver.Git(t, bare, "for-each-ref"))
	}
	text := expectRefused(t, r, filepath.Join(folder, "diagnostics.txt"), names...)
	if strings.Contains(text, "canary") || strings.Contains(text, "PRIVATE KEY") {
		t.Error("a secret is in the errors")
	}
	for i, bare := range repos {
		if diff := cmp.Diff(before[i], gitserver.Git(t, bare, "for-each-ref")); diff != "" {
			t.Errorf("the plan wrote to %s:\n%s", bare, diff)
		}
	}
}

// If there are hundreds of problems, the first are shown completely, and the rest are counted.
func TestAccBadInputIsBounded(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock + `
resource "kalypso_environment_rendering" "test" {
  environment   = "dev"
  cluster_types = { for i in range(300) : format("%03d", i) => { name = "Large${i}" } }
  delivery      = { strategy = "none" }
}
`})
	out := r.Terraform("plan", "-json")
	text := acc.Diagnostics(t, out.Stdout)
	if got := strings.Count(text, "error: "); got != 51 {
		t.Errorf("%d errors", got)
	}
	for _, want := range []string{`cluster_types["000"].name`, "error: 850 more problems\nThe first 50 of 900 are " +
		"shown. Fix them, and plan again to see the rest."} {
		if !strings.Contains(text, want) {
			t.Errorf("the errors do not contain: %s", want)
		}
	}
}

// expectRefused applies the module, whose plan fails, and compares the diagnostics with the file, in which names
// replace texts that differ between runs. It returns the diagnostics.
func expectRefused(t *testing.T, r *acc.Root, file string, names ...string) string {
	t.Helper()
	out := r.Terraform("apply", "-auto-approve", "-json")
	if out.Code != 1 || strings.Contains(out.Stdout, `"type":"apply_start"`) {
		t.Errorf("the plan was not refused (exit code %d):\n%s\n%s", out.Code, out.Stdout, out.Stderr)
	}
	got := strings.NewReplacer(names...).Replace(acc.Diagnostics(t, out.Stdout))
	got = acc.ChangeID.ReplaceAllString(got, `"$1-3f2a9c41d07b"`)
	if *acc.Update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(acc.ReadFile(t, file), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
	return got
}
