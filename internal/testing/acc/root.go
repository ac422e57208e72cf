package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// terraformBlock begins every configuration that the CLI runs by itself.
const terraformBlock = `terraform {
  required_providers {
    kalypso = { source = "terraform-kalypso/kalypso" }
  }
}
`

// root is a root module in a folder of its own that the real CLI runs with the provider.
type root struct {
	t        *testing.T
	folder   string
	env      []string
	attached map[string]any  // how Terraform reaches providers that this process serves, by source address
	printed  strings.Builder // by all commands
}

// newRoot creates a root module from files: name → content. It skips the test if it needs Terraform, see needTerraform.
//
// Its commands share a provider that this process serves, so the provider has the environment and the working directory
// of the tests. A test that needs those of the module calls ownProcess; a test of signals, logs or memory calls
// startProviders.
func newRoot(t *testing.T, files map[string]string) *root {
	t.Helper()
	needTerraform(t)
	r := &root{t: t, folder: t.TempDir(), env: append([]string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + t.TempDir(),
		"TF_CLI_CONFIG_FILE=",
		"CHECKPOINT_DISABLE=1",
		"TF_IN_AUTOMATION=1",
		"TF_INPUT=0",
	}, collector...)}
	r.attached = serveProvider(t)
	for name, content := range files {
		r.write(name, content)
	}
	return r
}

// newRootFrom creates a root module from a copy of a folder.
func newRootFrom(t *testing.T, folder string) *root {
	t.Helper()
	r := newRoot(t, nil)
	if err := os.CopyFS(r.folder, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	return r
}

// write writes a file of the module.
func (r *root) write(name, content string) {
	r.t.Helper()
	at := filepath.Join(r.folder, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(content), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// output contains what a command printed, and its exit code.
type output struct {
	stdout, stderr string
	code           int
}

// text returns the whole output on one line, without the frames around diagnostics, so that line breaks don't matter.
func (o output) text() string {
	all := strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(o.stdout + "\n" + o.stderr)
	return strings.Join(strings.Fields(all), " ")
}

// terraform runs the CLI in the module and returns the result.
func (r *root) terraform(args ...string) output {
	r.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := r.command(args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	r.printed.WriteString(stdout.String() + stderr.String())
	return output{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// terraformCLI returns the program that the tests run.
func terraformCLI() string {
	if cli := os.Getenv("TF_ACC_TERRAFORM_PATH"); cli != "" {
		return cli
	}
	return "terraform"
}

// terraformWords returns a text of the CLI in the words of Terraform 1.11. Other versions and OpenTofu use other words
// for it.
func terraformWords(text string) string {
	return strings.NewReplacer(
		"OpenTofu", "Terraform",
		"~ update in-place (current -> planned)", "~ update in-place",
		"configuration and\nfound no differences", "configuration\nand found no differences",
	).Replace(text)
}

// terraformFolder returns a folder that contains it under its own name, for a PATH.
func terraformFolder(t *testing.T) string {
	t.Helper()
	cli, err := exec.LookPath(terraformCLI())
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.Symlink(cli, filepath.Join(folder, "terraform")); err != nil {
		t.Fatal(err)
	}
	return folder
}

// command returns a command of the CLI in the module.
func (r *root) command(args ...string) *exec.Cmd {
	r.t.Helper()
	cmd := exec.CommandContext(context.Background(), terraformCLI(), args...)
	attached, err := json.Marshal(r.attached)
	if err != nil {
		r.t.Fatal(err)
	}
	cmd.Dir, cmd.Env = r.folder, append(slices.Clone(r.env), "TF_REATTACH_PROVIDERS="+string(attached))
	return cmd
}

// succeed runs the CLI in the module and fails the test unless it succeeds.
func (r *root) succeed(args ...string) output {
	r.t.Helper()
	o := r.terraform(args...)
	if o.code != 0 {
		r.t.Fatalf("terraform %s ended with %d:\n%s\n%s", strings.Join(args, " "), o.code, o.stdout, o.stderr)
	}
	return o
}

// apply applies the module.
func (r *root) apply(args ...string) output {
	r.t.Helper()
	return r.succeed(append([]string{"apply", "-no-color", "-auto-approve"}, args...)...)
}

// expectEmptyPlan fails the test if a plan has changes.
func (r *root) expectEmptyPlan(args ...string) {
	r.t.Helper()
	o := r.terraform(append([]string{"plan", "-no-color", "-detailed-exitcode"}, args...)...)
	if o.code != 0 {
		r.t.Errorf("the plan is not empty (exit code %d):\n%s\n%s", o.code, o.stdout, o.stderr)
	}
}

// expectNoChanges applies the module, and fails the test if there is anything to apply.
func (r *root) expectNoChanges() {
	r.t.Helper()
	if o := r.apply(); !strings.Contains(o.text(), "No changes.") {
		r.t.Errorf("there is something to apply:\n%s\n%s", o.stdout, o.stderr)
	}
}

// stateFile is the part of Terraform's state that the tests read: reading the file is faster than terraform show and
// output.
type stateFile struct {
	Outputs   map[string]struct{ Value json.RawMessage }
	Resources []struct {
		Module, Mode, Type, Name string
		Instances                []struct {
			IndexKey   json.RawMessage `json:"index_key"`
			Status     string
			Attributes map[string]any
		}
	}
}

// stateFile returns the state of the module, which is empty before the first apply.
func (r *root) stateFile() (state stateFile) {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.folder, "terraform.tfstate"))
	if os.IsNotExist(err) || err == nil && len(data) == 0 { // Terraform makes the file before it applies
		return state
	}
	if err == nil {
		err = json.Unmarshal(data, &state)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return state
}

// emptyState forgets all resources of the module, as terraform state rm does, without a command.
func (r *root) emptyState() {
	r.t.Helper()
	if err := os.Remove(filepath.Join(r.folder, "terraform.tfstate")); err != nil {
		r.t.Fatal(err)
	}
}

// output reads an output of the last apply.
func (r *root) output(name string, into any) {
	r.t.Helper()
	output, there := r.stateFile().Outputs[name]
	if !there {
		r.t.Fatalf("there is no output %q", name)
	}
	if err := json.Unmarshal(output.Value, into); err != nil {
		r.t.Fatal(err)
	}
}

// expectError fails the test unless a command fails and prints all texts.
func (r *root) expectError(texts []string, args ...string) {
	r.t.Helper()
	o := r.terraform(args...)
	if o.code == 0 {
		r.t.Errorf("terraform %s succeeded", strings.Join(args, " "))
	}
	for _, text := range texts {
		if !strings.Contains(o.text(), text) {
			r.t.Errorf("terraform %s does not say %q:\n%s\n%s", strings.Join(args, " "), text, o.stdout, o.stderr)
		}
	}
}

// expectErrors fails the test unless a command fails with one error for each key, such as an address, that contains the
// key and all of its texts, and with no other error.
func (r *root) expectErrors(texts map[string][]string, args ...string) {
	r.t.Helper()
	o := r.terraform(args...)
	errors := strings.Split(o.text(), "Error: ")[1:]
	if o.code == 0 || len(errors) != len(texts) {
		r.t.Errorf("terraform %s ended with %d and %d errors, want %d:\n%s\n%s", strings.Join(args, " "), o.code,
			len(errors), len(texts), o.stdout, o.stderr)
	}
	for key, said := range texts {
		found := slices.ContainsFunc(errors, func(text string) bool {
			return strings.Contains(text, key) && !slices.ContainsFunc(said, func(part string) bool {
				return !strings.Contains(text, part)
			})
		})
		if !found {
			r.t.Errorf("terraform %s has no error of %s that says %q:\n%s\n%s", strings.Join(args, " "), key, said,
				o.stdout, o.stderr)
		}
	}
}

// readFile returns a file of the test data.
func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
