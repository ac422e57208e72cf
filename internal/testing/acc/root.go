package acc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// TerraformBlock is the block with which a configuration names the provider's source.
const TerraformBlock = `terraform {
  required_providers {
    kalypso = { source = "terraform-kalypso/kalypso" }
  }
}
`

// Root is a root module in a folder of its own that the real CLI runs with the provider.
type Root struct {
	T        *testing.T
	Folder   string
	Env      []string
	Vars     map[string]any  // the variables of the module, see [Root.Set]
	Attached map[string]any  // how Terraform reaches providers that this process serves, by source address
	Printed  strings.Builder // the output of all commands
}

// NewRoot creates a root module from the content of files by name. It may skip the test, see [NeedTerraform].
//
// Its commands share a provider that this process serves, so the provider has the environment and the working directory
// of the test process. A test whose provider needs the module's environment and folder calls [Root.OwnProcess]; a test
// of signals, logs or memory calls [Root.StartProviders].
func NewRoot(t *testing.T, files map[string]string) *Root {
	t.Helper()
	NeedTerraform(t)
	r := &Root{T: t, Folder: t.TempDir(), Vars: map[string]any{}, Env: append([]string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + t.TempDir(),
		"TF_CLI_CONFIG_FILE=",
		"CHECKPOINT_DISABLE=1",
		"TF_IN_AUTOMATION=1",
		"TF_INPUT=0",
	}, Collector...)}
	r.Attached = ServeProvider(t)
	for name, content := range files {
		r.Write(name, content)
	}
	return r
}

// NewRootFrom creates a root module from a copy of a folder. If the folder does not declare the provider's source,
// NewRootFrom adds [TerraformBlock] to the copy.
func NewRootFrom(t *testing.T, folder string) *Root {
	t.Helper()
	r := NewRoot(t, nil)
	must.Succeed(t, os.CopyFS(r.Folder, os.DirFS(folder)))
	for _, file := range Glob(t, filepath.Join(r.Folder, "*.tf")) {
		if strings.Contains(ReadFile(t, file), "required_providers") {
			return r
		}
	}
	r.Write("terraform.tf", TerraformBlock)
	return r
}

// Write writes a file of the module.
func (r *Root) Write(name, content string) {
	r.T.Helper()
	programs.WriteFile(r.T, filepath.Join(r.Folder, name), content)
}

// Set sets a variable of the module.
func (r *Root) Set(name string, value any) {
	r.T.Helper()
	r.Vars[name] = value
	r.Write("terraform.tfvars.json", ToJSON(r.T, r.Vars))
}

// Output contains what a command printed, and its exit code.
type Output struct {
	Stdout, Stderr string
	Code           int
}

// Text returns the whole output on one line, without the frames around diagnostics, so that line breaks don't matter.
func (o Output) Text() string {
	all := strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(o.Stdout + "\n" + o.Stderr)
	return strings.Join(strings.Fields(all), " ")
}

// Terraform runs the CLI in the module and returns the result.
func (r *Root) Terraform(args ...string) Output {
	r.T.Helper()
	var stdout, stderr bytes.Buffer
	cmd := r.Command(args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.T.Fatal(err)
	}
	r.Printed.WriteString(stdout.String() + stderr.String())
	text := stdout.String() + stderr.String()
	// Of package fmt, as "%!s(MISSING)". Logs are those of the CLI too.
	logs := slices.ContainsFunc(r.Env, func(v string) bool { return strings.HasPrefix(v, "TF_LOG") })
	if strings.Contains(text, "%!") && !logs {
		r.T.Errorf("terraform %s prints a wrong format:\n%s", strings.Join(args, " "), text)
	}
	return Output{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// TerraformFolder returns a folder for a PATH that contains the CLI as "terraform".
func TerraformFolder(t *testing.T) string {
	t.Helper()
	cli, err := exec.LookPath(programs.TerraformCLI())
	must.Succeed(t, err)
	folder := t.TempDir()
	must.Succeed(t, os.Symlink(cli, filepath.Join(folder, "terraform")))
	return folder
}

// Command returns a command of the CLI in the module.
func (r *Root) Command(args ...string) *exec.Cmd {
	r.T.Helper()
	cmd := exec.CommandContext(context.Background(), programs.TerraformCLI(), args...)
	attached, err := json.Marshal(r.Attached)
	must.Succeed(r.T, err)
	cmd.Dir, cmd.Env = r.Folder, append(slices.Clone(r.Env), "TF_REATTACH_PROVIDERS="+string(attached))
	return cmd
}

// Succeed runs the CLI in the module and fails the test unless it succeeds.
func (r *Root) Succeed(args ...string) Output {
	r.T.Helper()
	o := r.Terraform(args...)
	if o.Code != 0 {
		r.T.Fatalf("terraform %s ended with %d:\n%s\n%s", strings.Join(args, " "), o.Code, o.Stdout, o.Stderr)
	}
	return o
}

// Apply applies the module.
func (r *Root) Apply(args ...string) Output {
	r.T.Helper()
	return r.Succeed(append([]string{"apply", "-no-color", "-auto-approve"}, args...)...)
}

// ExpectEmptyPlan fails the test if a plan has changes.
func (r *Root) ExpectEmptyPlan(args ...string) {
	r.T.Helper()
	o := r.Terraform(append([]string{"plan", "-no-color", "-detailed-exitcode"}, args...)...)
	if o.Code != 0 {
		r.T.Errorf("the plan is not empty (exit code %d):\n%s\n%s", o.Code, o.Stdout, o.Stderr)
	}
}

// ExpectNoChanges applies the module, and fails the test if there is anything to apply.
func (r *Root) ExpectNoChanges() {
	r.T.Helper()
	if o := r.Apply(); !strings.Contains(o.Text(), "No changes.") {
		r.T.Errorf("the apply has changes:\n%s\n%s", o.Stdout, o.Stderr)
	}
}

// stateFile is the part of Terraform's state that tests read. Reading the file is faster than running terraform show or
// terraform output.
type stateFile struct {
	Outputs   map[string]struct{ Value json.RawMessage }
	Resources []struct {
		Module, Mode, Type, Name string
		Instances                []struct {
			IndexKey   json.RawMessage `json:"index_key"`
			Status     string
			Attributes map[string]any
			Identity   map[string]any
		}
	}
}

// StateFile returns the state of the module, which is empty before the first apply.
func (r *Root) StateFile() (state stateFile) {
	r.T.Helper()
	data, err := os.ReadFile(filepath.Join(r.Folder, "terraform.tfstate"))
	if os.IsNotExist(err) || err == nil && len(data) == 0 { // Terraform creates an empty file before it applies
		return state
	}
	if err == nil {
		err = json.Unmarshal(data, &state)
	}
	must.Succeed(r.T, err)
	return state
}

// EmptyState removes the state of the module, so that Terraform forgets all resources. It is faster than terraform
// state rm.
func (r *Root) EmptyState() {
	r.T.Helper()
	must.Succeed(r.T, os.Remove(filepath.Join(r.Folder, "terraform.tfstate")))
}

// Output reads an output of the last apply.
func (r *Root) Output(name string, into any) {
	r.T.Helper()
	output, there := r.StateFile().Outputs[name]
	if !there {
		r.T.Fatalf("there is no output %q", name)
	}
	must.Succeed(r.T, json.Unmarshal(output.Value, into))
}

// ExpectError fails the test unless a command fails and prints all texts.
func (r *Root) ExpectError(texts []string, args ...string) {
	r.T.Helper()
	o := r.Terraform(args...)
	if o.Code == 0 {
		r.T.Errorf("terraform %s succeeded", strings.Join(args, " "))
	}
	for _, text := range texts {
		if !strings.Contains(o.Text(), text) {
			r.T.Errorf("terraform %s does not print %q:\n%s\n%s", strings.Join(args, " "), text, o.Stdout, o.Stderr)
		}
	}
}

// ExpectErrors fails the test unless a command fails with exactly one error for each key. The error must contain the
// key, such as an address, and all of its texts.
func (r *Root) ExpectErrors(texts map[string][]string, args ...string) {
	r.T.Helper()
	o := r.Terraform(args...)
	errors := strings.Split(o.Text(), "Error: ")[1:]
	if o.Code == 0 || len(errors) != len(texts) {
		r.T.Errorf("terraform %s ended with %d and %d errors, want %d:\n%s\n%s", strings.Join(args, " "), o.Code,
			len(errors), len(texts), o.Stdout, o.Stderr)
	}
	for key, parts := range texts {
		found := slices.ContainsFunc(errors, func(text string) bool {
			return strings.Contains(text, key) && !slices.ContainsFunc(parts, func(part string) bool {
				return !strings.Contains(text, part)
			})
		})
		if !found {
			r.T.Errorf("terraform %s has no error with %s that contains %q:\n%s\n%s", strings.Join(args, " "), key, parts,
				o.Stdout, o.Stderr)
		}
	}
}

// Examples is the folder with the examples.
var Examples = filepath.Join(programs.Root(), "examples")

// moduleSource matches the source of a module in another folder.
var moduleSource = regexp.MustCompile(`(?m)^(  source += ")(\.\.?/)`)

// NewExample creates a root module from an example. It uses modules and files of other folders in their folders, and
// does not copy them.
func NewExample(t *testing.T, folder string) *Root {
	t.Helper()
	r := NewRootFrom(t, folder)
	absolute, err := filepath.Abs(folder)
	must.Succeed(t, err)
	from, err := filepath.EvalSymlinks(r.Folder)
	must.Succeed(t, err)
	to, err := filepath.Rel(from, absolute) // Terraform copies modules with absolute paths
	must.Succeed(t, err)
	for _, file := range Glob(t, filepath.Join(folder, "*.tf")) {
		text := ReadFile(t, file)
		local := moduleSource.ReplaceAllString(text, "${1}"+filepath.ToSlash(to)+"/$2")
		if local != text {
			defer r.Succeed("get")
		}
		r.Write(filepath.Base(file), strings.ReplaceAll(local, "${path.module}/../", folder+"/../"))
	}
	return r
}

// ExampleFleet returns the manifests of examples/promotion, for the environments dev, stage and prod.
func ExampleFleet(t *testing.T) map[string]any {
	t.Helper()
	manifests := map[string]any{}
	for _, file := range []string{"environment/fleet.yaml", "main/templates.yaml", "main/shop.yaml"} {
		manifests[file] = ReadFile(t, filepath.Join(Examples, "promotion/repos", file))
	}
	return manifests
}

// ModelResources are the types of the resources of package model.
var ModelResources = []string{
	"kalypso_cluster_type",
	"kalypso_template",
	"kalypso_config",
	"kalypso_config_schema",
	"kalypso_secret",
	"kalypso_scheduling_policy",
	"kalypso_workload",
	"kalypso_workload_registration",
}

// KalypsoYAML returns the YAML document of an object of Kalypso.
func KalypsoYAML(kind, name, spec string) string {
	return fmt.Sprintf(
		"apiVersion: scheduler.kalypso.io/v1alpha1\nkind: %s\nmetadata: {name: %s}\nspec: %s\n",
		kind,
		name,
		spec,
	)
}

// WorkloadDocument returns the YAML document of a Workload with two targets in dev: target and "a-stays".
func WorkloadDocument(name, target string) string {
	return fmt.Sprintf("apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata: {name: %s, labels: "+
		"{workspace: team-other}}\n"+
		"spec: {deploymentTargets: [{name: %s, environment: dev}, {name: a-stays, environment: dev}]}\n", name, target)
}
