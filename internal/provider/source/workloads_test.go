package source_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/signingkey"
)

// newWorkloads creates a module from testdata/TestAccWorkloads with these registrations.
func newWorkloads(t *testing.T, h *acc.GitHost, registrations map[string]string) *acc.Root {
	t.Helper()
	r := acc.NewRootFrom(t, "testdata/TestAccWorkloads")
	register(r, h, registrations)
	return r
}

func register(r *acc.Root, h *acc.GitHost, registrations map[string]string) {
	r.T.Helper()
	r.Vars = map[string]any{"url": h.URL, "password": acc.GitHostPassword}
	r.Set("registrations", registrations)
}

// A new registration shows its deployment targets at plan. If a repo gets a commit between plan and apply, the apply
// still commits the tree that the plan showed. The next plan shows which registration moved, from which commit to
// which, and the effect. A pin keeps a commit or selects another one.
func TestAccWorkloads(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t, gitserver.WithFilter())
	gitserver.Seed(t, h.Dir("gitops"), "main", map[string]string{"README.md": "GitOps\n"})
	first := h.Commit("shop-src", "main", map[string]string{"deploy/w.yaml": acc.WorkloadDocument("shop", "test")})
	r := newWorkloads(t, h, map[string]string{"shop": "shop-src"})

	planned := r.Succeed("plan", "-no-color", "-out=plan")
	if !strings.Contains(planned.Text(), `"shop-test"`) || !strings.Contains(planned.Text(), first) ||
		!strings.Contains(planned.Text(), "Workspace claimed") {
		t.Errorf("the plan does not show the target shop-test of a registration that is new, its commit %s, and the claim "+
			"of its labels:\n%s", first, planned.Stdout)
	}
	second := h.Commit("shop-src", "main", map[string]string{"deploy/w.yaml": acc.WorkloadDocument("shop", "canary")})
	r.Succeed("apply", "-no-color", "plan")
	branch := gitserver.Tree(t, h.Dir("gitops"), "dev")
	record := branch["fleet/"+acc.RecordPath]
	want := map[string]string{
		"fleet/" + acc.RecordPath:                  record,
		"fleet/large/README.md":                    "This folder contains deployment targets scheduled on the cluster type",
		"fleet/large/shop-test/reconciler.yaml":    "# workspace: team-shop",
		"fleet/large/shop-test/namespace.yaml":     "# kind: Namespace",
		"fleet/large/shop-a-stays/reconciler.yaml": "# workspace: team-shop",
		"fleet/large/shop-a-stays/namespace.yaml":  "# kind: Namespace",
	}
	maps.DeleteFunc(branch, func(path, _ string) bool { return strings.HasSuffix(path, "/platform-config.yaml") })
	if diff := cmp.Diff(want, branch); diff != "" {
		t.Errorf("the branch (-planned +committed):\n%s", diff)
	}
	place := h.RepoURL("shop-src") + "@main:deploy"
	for _, said := range []string{`"` + place + `/w.yaml#shop"`, `"` + place + `": "` + first + `"`} {
		if !strings.Contains(record, said) {
			t.Errorf("the record does not name %s:\n%s", said, record)
		}
	}

	moved := r.Succeed("plan", "-no-color")
	for _, text := range []string{`~ "` + place + `" = "` + first + `" -> "` + second + `"`, `- "shop-test" = "`,
		`+ "shop-canary" = "`,
		"- `" + h.RepoURL("shop-src") + "`: `" + first[:7] + "` → `" + second[:7] +
			"` (`deploy/w.yaml#shop`)", "`shop-test` → `shop-canary`, so this namespace goes: `dev-large-shop-test`"} {
		if !strings.Contains(moved.Text(), text) {
			t.Errorf("the plan after the repo moved does not say %q:\n%s", text, moved.Stdout)
		}
	}
	r.ExpectEmptyPlan("-var", `pins={"shop":"`+first+`"}`)
	h.Commit("shop-src", "main", map[string]string{"deploy/w.yaml": acc.WorkloadDocument("shop", "test"),
		"NOTES.md": "Back.\n"})
	before := r.Rendered()
	r.ExpectNoChanges() // although there is another commit, with the same documents
	if diff := cmp.Diff(before, r.Rendered()); diff != "" {
		t.Errorf("a commit that changes no document changes the state (-before +after):\n%s", diff)
	}
	h.Commit("shop-src", "main", map[string]string{"deploy/w.yaml": acc.WorkloadDocument("shop", "canary")})
	r.Apply("-var", `pins={"shop":null}`)
	r.ExpectEmptyPlan()
}

// A registration is broken if no listed key signed its commit. With last_good, its last delivered commit is read
// instead. With the mode history, the commits below the head must be signed too. The record names the signers.
func TestAccWorkloadsVerify(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t, gitserver.WithFilter())
	ann := signingkey.NewSSH(t)
	gitserver.Seed(t, h.Dir("gitops"), "main", map[string]string{"README.md": "GitOps\n"})
	push := func(target string, signed bool) string {
		commit := h.Commit("shop-src", "main", map[string]string{"deploy/w.yaml": acc.WorkloadDocument("shop", target)})
		if signed {
			commit = ann.SignHead(t, h.Dir("shop-src"), "main")
		}
		return commit
	}
	unsigned := push("test", false)
	r := newWorkloads(t, h, map[string]string{"shop": "shop-src"})
	verify := map[string]any{"ssh": []string{ann.Public}}
	r.Set("verify", verify)
	r.ExpectError([]string{"Commit not verified", unsigned + " is not verified", "it is not signed", "Registration: shop"},
		"plan", "-no-color")
	good := push("test", true)
	r.Apply()
	record := gitserver.Tree(t, h.Dir("gitops"), "dev")["fleet/"+acc.RecordPath]
	if !strings.Contains(record, `"`+good+`": "`+signingkey.Email+`"`) {
		t.Errorf("the record does not name the signer of %s:\n%s", good, record)
	}
	r.ExpectEmptyPlan()

	unsigned = push("canary", false)
	r.Set("on_error", "last_good")
	out := r.Apply().Text()
	acc.ExpectTexts(t, out, "Commit not verified: Commit "+unsigned+" is not verified",
		"The last delivered commit "+good+" is read instead")
	push("canary", true)
	r.Set("verify", map[string]any{"ssh": verify["ssh"], "mode": "history"})
	r.Set("on_error", "fail")
	r.ExpectError([]string{"Commit not verified", unsigned + " is not verified"}, "plan", "-no-color")
	r.Set("verify", verify)
	r.Apply()
}

// Every broken registration is listed, with its repo, commit, file and line, and hides no other error. With last_good,
// each broken registration is read at the commit of its last delivery, if it has been delivered.
func TestAccWorkloadsBroken(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t, gitserver.WithFilter())
	gitserver.Seed(t, h.Dir("gitops"), "main", map[string]string{"README.md": "GitOps\n"})
	registrations := map[string]string{"fine": "fine-src"}
	good := map[string]string{"fine": h.Commit("fine-src", "main",
		map[string]string{"deploy/w.yaml": acc.WorkloadDocument("fine", "t")})}
	for i := range 60 {
		name := fmt.Sprintf("app-%02d", i)
		registrations[name] = name + "-src"
		if i < 3 {
			good[name] = h.Commit(name+"-src", "main", map[string]string{"deploy/w.yaml": acc.WorkloadDocument(name, "t")})
		}
	}
	r := newWorkloads(t, h, registrations)
	r.ExpectError([]string{"Registration: app-03", "Registration: app-59", "Repo: " + h.RepoURL("app-59-src"),
		"Repo not found"}, "plan", "-no-color")

	registrations = map[string]string{"fine": "fine-src", "app-00": "app-00-src", "app-01": "app-01-src",
		"app-02": "app-02-src", "same-02": "same-02-src"}
	for _, name := range []string{"app-02", "same-02"} { // without a label, there is no second warning
		text := strings.Replace(acc.WorkloadDocument(name, "t"), ", labels: {workspace: team-other}", "", 1)
		good[name] = h.Commit(name+"-src", "main", map[string]string{"deploy/w.yaml": text})
	}
	register(r, h, registrations)
	r.Apply()
	before := gitserver.Tree(t, h.Dir("gitops"), "dev")
	broken := h.Commit("app-00-src", "main", map[string]string{"deploy/w.yaml": acc.WorkloadDocument("app-00", "t") +
		"---\nkind: [\n"})
	h.Commit("app-01-src", "main", map[string]string{"deploy/w.yaml": "kind: Other\n"})
	h.Commit("fine-src", "main", map[string]string{"README.md": "moved\n"})
	h.Commit("new-src", "main", map[string]string{"deploy/w.yaml": "{"})
	gitserver.Git(t, h.Dir("app-02-src"), "branch", "-m", "main", "trunk")
	gitserver.Git(t, h.Dir("same-02-src"), "branch", "-m", "main", "trunk")
	texts := []string{
		"Registration: app-00", "Invalid YAML", "Commit: " + broken, "File: deploy/w.yaml, line 5", "Registration: app-01",
		"No workload",
		"Registration: app-02", `Registration "app-02": Branch not found`,
		"Registration: same-02", `Registration "same-02": Branch not found`,
	}
	r.ExpectError(append(texts, "Error: "), "plan", "-no-color")

	out := r.Apply("-var", "on_error=last_good").Text()
	for _, text := range append(texts, "last delivered commit "+good["app-00"]+" is read",
		"last delivered commit "+good["app-02"]+" is read") {
		if !strings.Contains(out, text) {
			t.Errorf("apply with last_good does not say %q:\n%s", text, out)
		}
	}
	if diff := cmp.Diff(before, gitserver.Tree(t, h.Dir("gitops"), "dev")); diff != "" {
		t.Errorf("the branch changed:\n%s", diff)
	}
	registrations["new"], registrations["a-taker"] = "new-src", "taker-src"
	h.Commit("taker-src", "main", map[string]string{"deploy/w.yaml": acc.WorkloadDocument("fine", "t")})
	register(r, h, registrations)
	r.ExpectError([]string{"Registration: new", "No commit of this registration was delivered before",
		`Error: Registration "a-taker": Duplicate workload`, `Workload "fine" already exists, through registration "fine"`},
		"plan", "-no-color", "-var", "on_error=last_good")
}

// No credential is sent over plain http or to another host, and a URL must not contain a credential.
func TestAccWorkloadsCredentials(t *testing.T) {
	t.Parallel()
	config := func(credential, repo string) map[string]string {
		return map[string]string{"main.tf": acc.TerraformBlock + `
provider "kalypso" {
  git_credentials = [` + credential + `]
}
data "kalypso_workloads" "this" {
  registrations = { shop = { name = "shop", workload = { repo = "` + repo + `", branch = "main" } } }
}
`}
	}
	r := acc.NewRoot(t, config(`{ url = "http://git.acme.test", username = "me", password = "canary" }`,
		"http://git.acme.test/shop"))
	r.ExpectError([]string{"Invalid credential"}, "plan", "-no-color")
	r = acc.NewRoot(t, config(`{ url = "https://git.acme.test", username = "me", password = "canary" }`,
		"https://me:canary@git.acme.test/shop"))
	r.ExpectError([]string{"move it to the", "Registration: shop"}, "plan", "-no-color")
	if strings.Contains(r.Printed.String(), "canary") {
		t.Errorf("a secret is in the errors:\n%s", &r.Printed)
	}
	other := acc.NewGitHost(t)
	r = acc.NewRoot(t, config(`{ url = "https://127.0.0.1", username = "me", password = "canary" }`,
		other.RepoURL("shop")))
	r.ExpectError([]string{"Credentials refused", "no credential matches it"}, "plan", "-no-color")
	for _, request := range other.Requests() {
		if request.Authorization != "" {
			t.Errorf("another host got a credential: %v", request)
		}
	}
}

// The import blocks turn the sample's dev branch into resources, from folders and from Git, and its tree stays the
// same.
func TestAccControlPlaneImport(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t)
	ours := func(files map[string]string) map[string]string {
		for path, text := range files {
			files[path] = strings.ReplaceAll(text, "https://github.com/microsoft", h.URL)
		}
		return files
	}
	branch, base := ours(acc.ReadTree(t, filepath.Join(acc.Samples, "kalypso-control-plane", "dev"))), ours(acc.ReadTree(t,
		filepath.Join(acc.Samples, "kalypso-control-plane", "main")))
	promoted := h.Commit("kalypso-control-plane", "main", base)
	branch["base-repo.yaml"] = strings.Replace(branch["base-repo.yaml"], "5523a85f37d12c0c7c10ab6616644db089fcd6f7",
		promoted, 1)
	h.Commit("kalypso-control-plane", "dev", branch)
	h.Commit("kalypso-svc-src", "main", acc.ReadTree(t, filepath.Join(acc.Samples, "kalypso-svc-src", "main")))
	for name, arguments := range map[string]string{
		"folders": `directory = "checkout/dev"` + "\n" + `base_directory = "checkout/main"`,
		"repos":   `repo = "` + h.RepoURL("kalypso-control-plane") + `"` + "\n" + `branch = "dev"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := acc.NewRoot(t, map[string]string{"main.tf": acc.TerraformBlock + `
provider "kalypso" {
  git_credentials = [{ url = "` + h.URL + `", username = "me", password = "` + acc.GitHostPassword + `" }]
}
`, "source.tf": `
data "kalypso_control_plane" "this" {
` + arguments + `
}
resource "kalypso_environment_rendering" "this" {
  environment     = "dev"
  manifests       = data.kalypso_control_plane.this.manifests
  promoted_commit = data.kalypso_control_plane.this.base_commit
  delivery        = { strategy = "none" }
  preview         = "manifests"
}
output "import_blocks" {
  value = data.kalypso_control_plane.this.import_blocks
}
`})
			r.OwnProcess() // the import IDs are paths in the working directory
			for path, text := range branch {
				r.Write("checkout/dev/"+path, text)
			}
			for path, text := range base {
				r.Write("checkout/main/"+path, text)
			}
			r.Apply()
			before := r.State()["kalypso_environment_rendering.this"]
			blocks := r.Succeed("output", "-raw", "import_blocks").Stdout
			// Make the edits that the comments describe.
			for line := range strings.Lines(blocks) {
				if f := strings.Fields(line); len(f) > 5 && f[1] == "git" {
					gitserver.Git(t, "", "clone", "--quiet", h.Dir("kalypso-control-plane"), filepath.Join(r.Folder, f[4]))
					gitserver.Git(t, filepath.Join(r.Folder, f[4]), "checkout", "--quiet", f[len(f)-1])
				}
			}
			r.Write("model.tf", blocks)
			r.Succeed("fmt", "-check", "-diff", "model.tf")
			if name == "folders" {
				text := strings.NewReplacer(h.URL, "https://github.com/microsoft", promoted, "<promoted>").Replace(blocks)
				acc.ExpectText(t, filepath.Join("testdata", "TestAccControlPlaneImport", "model.tf.txt"), text)
			}
			imports := strings.Count(blocks, "\nimport {")
			planned := r.Succeed("plan", "-no-color").Text()
			if want := fmt.Sprintf("Plan: %d to import, 0 to add, 0 to change, 0 to destroy.",
				imports); !strings.Contains(planned, want) {
				t.Errorf("the plan is not %q:\n%s", want, planned)
			}
			// The rendering from the comments replaces the rendering with manifests.
			var rendering strings.Builder
			for line := range strings.Lines(blocks) {
				if text, ok := strings.CutPrefix(line, "#   "); ok && !strings.HasPrefix(text, "git ") &&
					!strings.HasPrefix(text, "terraform ") {
					rendering.WriteString(text)
				}
			}
			// This rendering is complete. The test only adds arguments to show the files and to deliver nothing.
			text, whole := strings.CutSuffix(rendering.String(), "}\n")
			if !whole || !strings.Contains(text, `environment = "dev"`) || !strings.Contains(text, "gitops_repo = {") {
				t.Fatalf("the comments have no whole rendering:\n%s", blocks)
			}
			r.Write("source.tf", text+"  delivery = { strategy = \"none\" }\n  preview = \"manifests\"\n}\n")
			r.Apply()
			r.ExpectEmptyPlan()
			after := r.State()["kalypso_environment_rendering.this"]
			for _, attribute := range []string{"files", "tree_hash", "promoted_commit"} {
				if diff := cmp.Diff(asJSON(t, before[attribute]), asJSON(t, after[attribute])); diff != "" ||
					before[attribute] == nil {
					t.Errorf("%s (-YAML +HCL):\n%s", attribute, diff)
				}
			}
		})
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
