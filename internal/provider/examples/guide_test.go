package examples_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// guide follows a guide literally: it writes the files that the guide names, and runs the commands in the module's
// folder. A host serves the repos of https://github.com/acme.
type guide struct {
	*acc.Root
	text string // the rest of the guide
	host *acc.GitHost
	cli  string // a folder that contains terraform
}

func newGuide(t *testing.T, file string, h *acc.GitHost) *guide {
	t.Helper()
	r := acc.NewRoot(t, map[string]string{"provider.tf": `
provider "kalypso" {
  git_credentials = [{ url = "` + h.URL + `", username = "me", password = "` + acc.GitHostPassword + `" }]
}
`})
	return &guide{Root: r, text: acc.ReadFile(t, file), host: h, cli: acc.TerraformFolder(t)}
}

// acme replaces acme's URL with the host's.
func (g *guide) acme(text string) string {
	return strings.NewReplacer("https://github.com/acme/gitops", g.host.RepoURL("kalypso-gitops"),
		"https://github.com/acme", g.host.URL,
		"/tmp/rehearsal.git", g.Folder+"/rehearsal.git").Replace(text)
}

var namedFile = regexp.MustCompile("`([a-z-]+\\.(?:tf|tfquery\\.hcl))`[^`]*\n\n$")

// next runs the next block of the guide, which must contain want, and returns its output. It does not run the texts in
// notRun.
func (g *guide) next(want string, notRun ...string) string {
	g.T.Helper()
	at := acc.Fenced.FindStringSubmatchIndex(g.text)
	if at == nil {
		g.T.Fatalf("the guide has no block with %q", want)
	}
	before, language, block := g.text[:at[0]], g.text[at[2]:at[3]], g.acme(g.text[at[4]:at[5]])
	g.text = g.text[at[1]:]
	if !strings.Contains(block, want) {
		g.T.Fatalf("the guide's next block does not contain %q:\n%s", want, block)
	}
	if language == "terraform" {
		name := namedFile.FindStringSubmatch(before)
		if name == nil {
			g.T.Fatalf("the guide does not name the file of\n%s", block)
		}
		g.Write(name[1], block+"\n")
		return ""
	}
	for _, line := range notRun {
		block = strings.ReplaceAll(block, line, "")
	}
	return g.shell(block)
}

// skip skips the next blocks of the guide, which must contain the texts.
func (g *guide) skip(wants ...string) {
	g.T.Helper()
	for _, want := range wants {
		at := acc.Fenced.FindStringSubmatchIndex(g.text)
		if at == nil || !strings.Contains(g.text[at[4]:at[5]], want) {
			g.T.Fatalf("the guide's next block does not contain %q", want)
		}
		g.text = g.text[at[1]:]
	}
}

// shell runs commands, answers yes to Terraform's questions, and returns the output.
func (g *guide) shell(commands string) string {
	g.T.Helper()
	cmd := exec.CommandContext(g.T.Context(), "bash", "-euo", "pipefail", "-c", commands)
	cmd.Dir = g.Folder
	cmd.Env = append(g.Command().Env, "PATH="+g.cli+string(os.PathListSeparator)+os.Getenv("PATH"),
		"TF_CLI_ARGS_apply=-auto-approve", "TF_CLI_ARGS=-no-color",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=url."+strings.Replace(g.host.URL, "//", "//me:"+acc.GitHostPassword+"@", 1)+"/.insteadOf",
		"GIT_CONFIG_VALUE_0="+g.host.URL+"/",
		"GIT_AUTHOR_NAME=Somebody", "GIT_AUTHOR_EMAIL=somebody@acme.io", "GIT_COMMITTER_NAME=Somebody",
		"GIT_COMMITTER_EMAIL=somebody@acme.io")
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.T.Fatalf("%s\n%v\n%s", commands, err, out)
	}
	return string(out)
}

// The state of the guide "Leaving the operator" moves into the module of the guide "From dev to prod" without a commit.
func TestAccLeavingToTheModule(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t)
	operators := golden.Named(t, "sample-dev").Tree
	operators[acc.PromotedCommitPath] = h.Sample()
	h.Commit("kalypso-gitops", "dev", operators)
	g := newGuide(t, "../../../docs/guides/from-the-operator.md", h)
	g.OwnProcess() // the guide names files in the working directory
	g.next("required_providers")
	g.next(`data "kalypso_control_plane" "dev"`)
	g.skip("kubectl", "Only computes", "terraform plan", "git clone --bare", `data "kalypso_assignments" "dev"`)
	g.next("adopt = true")
	g.shell("terraform apply")
	tree := g.State()["kalypso_environment_rendering.dev"]["tree_hash"]

	g.skip("terraform workspace new rehearsal", "flux", "promoted_commit")
	for _, file := range acc.Glob(t, filepath.Join(acc.Examples, "modules/environment/*.tf")) {
		g.Write("modules/environment/"+filepath.Base(file), acc.ReadFile(t, file))
	}
	g.next("moved {")
	if err := os.Remove(filepath.Join(g.Folder, "fleet.tf")); err != nil {
		t.Fatal(err)
	}
	g.shell("terraform get")
	if out := g.shell("terraform apply"); !strings.Contains(out, "0 added, 1 changed, 0 destroyed") {
		t.Errorf("the rendering is not updated in place:\n%s", out)
	}
	if shown := g.shell("terraform show"); !strings.Contains(shown, fmt.Sprintf("%q", tree)) {
		t.Errorf("the tree is no longer %v:\n%s", tree, shown)
	}
	if commits := gitserver.Log(t, h.Dir("kalypso-gitops"), "dev"); len(commits) != 2 {
		t.Errorf("the move makes a commit: %v", commits)
	}
	g.ExpectEmptyPlan()
}

// The test follows the guide "Leaving the operator" exactly on the sample control plane, with the operator's tree on
// the branch. The shadow run plans the hash of this tree. The rehearsal and the adoption keep its files. Objects move
// to HCL without a commit. The destroy, which is the way back, keeps the branch.
func TestAccLeavingTheOperator(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t)
	operators := golden.Named(t, "sample-dev").Tree
	operators[acc.PromotedCommitPath] = h.Sample()
	h.Commit("kalypso-gitops", "dev", operators)
	g := newGuide(t, "../../../docs/guides/from-the-operator.md", h)
	g.OwnProcess() // the guide names files in the working directory
	gitops := h.Dir("kalypso-gitops")
	const rendering = "kalypso_environment_rendering.dev"

	g.next("required_providers")
	g.next(`data "kalypso_control_plane" "dev"`)
	g.skip("kubectl")
	g.next("Only computes the tree, and delivers nothing.")
	// Tests have no registry for terraform init.
	if out := g.next("terraform plan", "terraform init"); !strings.Contains(out, "Plan: 1 to add") {
		t.Errorf("the shadow run:\n%s", out)
	}
	hash := strings.TrimSpace(g.next("git clone --bare"))
	hash = hash[strings.LastIndex(hash, "\n")+1:]
	if out := g.shell("terraform plan"); !strings.Contains(strings.Join(strings.Fields(out), " "),
		`tree_hash = "`+hash+`"`) {
		t.Errorf("the operator's tree is %s, and the plan's is another:\n%s", hash, out)
	}
	g.next(`data "kalypso_assignments" "dev"`)
	remove := func(file string) {
		t.Helper()
		if err := os.Remove(filepath.Join(g.Folder, file)); err != nil {
			t.Fatal(err)
		}
	}
	remove("why.tf")

	g.next("adopt = true")
	rehearsed := g.next("terraform workspace new rehearsal")
	if !strings.Contains(rehearsed, ".kalypso/rendering.json") || strings.Contains(rehearsed, "reconciler.yaml") {
		t.Errorf("the rehearsal does not commit only the record:\n%s", rehearsed)
	}
	if commits := gitserver.Log(t, gitops, "dev"); len(commits) != 1 {
		t.Errorf("the rehearsal wrote to the branch: %v", commits)
	}

	g.skip("flux")
	taken := g.shell("terraform apply")
	if !strings.Contains(taken, "Existing folders will be adopted") {
		t.Errorf("no folder is adopted:\n%s", taken)
	}
	branch := acc.RenderedFiles(t, gitops, "dev")
	if diff := cmp.Diff(operators, branch); diff != "" {
		t.Errorf("the adoption (-operator +branch):\n%s", diff)
	}
	before := g.State()[rendering]
	unchanged := func(step string) {
		t.Helper()
		if commits := gitserver.Log(t, gitops, "dev"); len(commits) != 2 {
			t.Errorf("%s: commits %v", step, commits)
		}
		g.ExpectEmptyPlan()
	}
	g.Write("main.tf", strings.Replace(acc.ReadFile(t, filepath.Join(g.Folder, "main.tf")), "adopt = true", "", 1))
	g.shell("terraform apply")
	unchanged("without adopt")

	g.skip("promoted_commit", "moved {")
	rest := g.text // imports, as the guide "Import existing objects" shows
	_, g.text, _ = strings.Cut(acc.ReadFile(t, bringGuide), "## Import blocks\n")
	g.next("import_blocks")
	g.next("terraform output -raw import_blocks")
	// Run the commands in the comments of the generated file.
	for line := range strings.Lines(acc.ReadFile(t, filepath.Join(g.Folder, "model.tf"))) {
		if command, ok := strings.CutPrefix(line, "#   git clone "); ok {
			g.shell("git clone " + command)
		}
	}
	if out := g.next("terraform plan"); !strings.Contains(out, "0 to add, 0 to change, 0 to destroy") {
		t.Errorf("the import changes something:\n%s", out)
	}
	g.shell("terraform apply")
	g.text = rest
	unchanged("import")
	g.next("kalypso_cluster_type.large")
	g.shell("terraform apply")
	unchanged("one object moved")

	// Move all objects, as the comments describe.
	var all strings.Builder
	model := acc.ReadFile(t, filepath.Join(g.Folder, "model.tf"))
	for line := range strings.Lines(model) {
		if text, ok := strings.CutPrefix(line, "#   "); ok && !strings.HasPrefix(text, "git ") &&
			!strings.HasPrefix(text, "terraform ") {
			all.WriteString(text)
		}
	}
	moved := strings.Replace(all.String(), `"kalypso_environment_rendering" "this"`,
		`"kalypso_environment_rendering" "dev"`, 1)
	moved = strings.Replace(moved, `environment = "dev"`,
		"environment = \"dev\"\n  on_destroy = \"keep\"\n  deletion_protection = false", 1)
	g.Write("main.tf", moved)
	_, resources, found := strings.Cut(model, "\n# The resources.\n")
	if !found {
		t.Fatalf("the text has no heading between the import blocks and the resources:\n%s", model)
	}
	g.Write("model.tf", resources)
	remove("import-blocks.tf")
	remove("fleet.tf")
	g.shell("terraform apply")
	unchanged("all moved")
	if after := g.State()[rendering]; after["tree_hash"] != before["tree_hash"] ||
		after["promoted_commit"] != before["promoted_commit"] {
		t.Errorf(
			"the tree was %v of commit %v, and is %v of commit %v",
			before["tree_hash"],
			before["promoted_commit"],
			after["tree_hash"],
			after["promoted_commit"],
		)
	}

	g.shell("terraform destroy -auto-approve")
	if commits := gitserver.Log(t, gitops, "dev"); len(commits) != 2 {
		t.Errorf("the way back: commits %v", commits)
	}
	if diff := cmp.Diff(branch, acc.RenderedFiles(t, gitops, "dev")); diff != "" {
		t.Errorf("the way back (-before +after):\n%s", diff)
	}
}
