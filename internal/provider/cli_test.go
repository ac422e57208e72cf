package provider_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// factories serve the provider within the test, for terraform-plugin-testing.
var factories = map[string]func() (tfprotov6.ProviderServer, error){
	"kalypso": providerserver.NewProtocol6WithError(provider.New("test")()),
}

// ownAddress is the source address of the provider.
const ownAddress = "terraform-kalypso/kalypso"

// terraformBlock is what every configuration that the CLI runs by itself begins with.
const terraformBlock = `terraform {
  required_providers {
    kalypso = { source = "terraform-kalypso/kalypso" }
  }
}
`

// built is the folder with the provider's binary and the CLI configuration that overrides it.
var built struct {
	sync.Once
	folder string
	err    error
}

// userEnv is the environment of the user who runs the tests. Go builds the provider in it.
var userEnv = os.Environ()

func TestMain(m *testing.M) {
	home, err := os.MkdirTemp("", "kalypso-home-")
	if err != nil {
		panic(err)
	}
	isolate(home)
	code := m.Run()
	os.RemoveAll(home)
	if built.folder != "" {
		os.RemoveAll(built.folder)
	}
	os.Exit(code)
}

// isolate removes what the providers in this process would otherwise take from the user: credentials, proxies, and the
// settings of Git and SSH in the home folder.
func isolate(home string) {
	for _, variable := range userEnv {
		name, _, _ := strings.Cut(variable, "=")
		for _, prefix := range []string{"GIT", "SSH_", "AZURE_", "ARM_", "ACTIONS_", "SSL_", "TF_LOG", "TF_CLI_ARGS"} {
			if strings.HasPrefix(name, prefix) || strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
				_ = os.Unsetenv(name)
			}
		}
	}
	_ = os.Setenv("HOME", home)
	for _, name := range []string{"TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_SDK_PROTO", "TF_LOG_PROVIDER_KALYPSO"} {
		_ = os.Setenv(name, "OFF")
	}
	_ = os.Setenv("GOGC", collector) // for the commands that terraform-plugin-testing starts
	debug.SetGCPercent(800)
}

// collector is the environment variable GOGC of Terraform in tests. Its heap is small, so its garbage collector would run
// often: that was a quarter of the processor time of a plan.
const collector = "400"

// providerBinary builds the provider once for all tests, and returns its path.
func providerBinary(t *testing.T) string {
	t.Helper()
	built.Do(func() { built.folder, built.err = build() })
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.folder, "terraform-provider-kalypso")
}

// cliConfig returns the path of a CLI configuration that uses the provider's binary.
func cliConfig(t *testing.T) string {
	t.Helper()
	return filepath.Join(filepath.Dir(providerBinary(t)), "terraform.rc")
}

func build() (string, error) {
	folder, err := os.MkdirTemp("", "kalypso-provider-")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", filepath.Join(folder, "terraform-provider-kalypso"), "../..")
	cmd.Env = userEnv
	if out, err := cmd.CombinedOutput(); err != nil {
		return folder, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return folder, os.WriteFile(filepath.Join(folder, "terraform.rc"), []byte(overriding(folder)), 0o600)
}

// overriding returns a CLI configuration that takes the provider from a folder.
func overriding(folder string) string {
	return fmt.Sprintf(`disable_checkpoint = true
provider_installation {
  dev_overrides {
    "terraform-kalypso/kalypso" = %q
  }
}
`, folder)
}

// root is a root module in a folder of its own that the real CLI runs with the provider.
type root struct {
	t        *testing.T
	folder   string
	env      []string
	attached map[string]any  // how Terraform reaches providers that this process serves, by source address
	printed  strings.Builder // by all commands
}

// needTerraform skips the test if acceptance tests are off.
func needTerraform(t *testing.T) {
	t.Helper()
	_ = os.Getenv(programs.NotRun) // so that Go repeats the test, see programs
	if os.Getenv("TF_ACC") == "" {
		t.Skip("TF_ACC is not set: the test runs the Terraform CLI")
	}
}

// newRoot creates a root module from files: name → content. It skips the test if acceptance tests are off.
//
// Its commands share a provider that this process serves, so the provider has the environment and the working directory
// of the tests. A test that needs those of the module calls ownProcess; one of what crosses a process, startProviders.
func newRoot(t *testing.T, files map[string]string) *root {
	t.Helper()
	needTerraform(t)
	r := &root{t: t, folder: t.TempDir(), env: []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + t.TempDir(),
		"TF_CLI_CONFIG_FILE=",
		"CHECKPOINT_DISABLE=1",
		"TF_IN_AUTOMATION=1",
		"TF_INPUT=0",
		"GOGC=" + collector,
	}}
	r.attached = serveProvider(t)
	for name, content := range files {
		r.write(name, content)
	}
	return r
}

// ownProcess serves the provider from a process of its own, with the environment that the module has by now and its
// folder as working directory.
func (r *root) ownProcess() {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), providerBinary(r.t), "-debug")
	cmd.Dir, cmd.Env = r.folder, append(slices.Clone(r.env), "TF_LOG_SDK=OFF")
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if _, text, found := strings.Cut(lines.Text(), "TF_REATTACH_PROVIDERS='"); found {
			var attached map[string]any
			if err := json.Unmarshal([]byte(strings.TrimSuffix(text, "'")), &attached); err != nil {
				r.t.Fatal(err)
			}
			r.attached[ownAddress] = attached["registry.terraform.io/"+ownAddress]
			return
		}
	}
	r.t.Fatal("the provider ended before it served")
}

// startProviders has each command start the provider's binary, as it does for users. Tests need it for what crosses the
// border of a process: signals, logs and memory.
func (r *root) startProviders() {
	r.t.Helper()
	delete(r.attached, ownAddress)
	r.env = append(r.env, "TF_CLI_CONFIG_FILE="+cliConfig(r.t))
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

// output is what a command printed, and how it ended.
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

// terraformWords returns a text of the CLI as Terraform 1.11 puts it. Other versions and OpenTofu differ in these
// words.
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
	cmd := exec.CommandContext(context.Background(), terraformCLI(), args...)
	cmd.Dir, cmd.Env = r.folder, r.environment()
	return cmd
}

// killable returns a command of the CLI that starts the provider's binary, in a process group that [kill] ends.
func (r *root) killable(args ...string) *exec.Cmd {
	r.t.Helper()
	alone := root{t: r.t, folder: r.folder, env: slices.Clone(r.env), attached: maps.Clone(r.attached)}
	alone.startProviders()
	cmd := alone.command(args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// kill kills a command and all that it started.
func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// environment returns the environment of the root module's commands.
func (r *root) environment() []string {
	r.t.Helper()
	attached, err := json.Marshal(r.attached)
	if err != nil {
		r.t.Fatal(err)
	}
	return append(slices.Clone(r.env), "TF_REATTACH_PROVIDERS="+string(attached))
}

// serveProvider serves a provider of this project from this process, and returns the value of attached.
func serveProvider(t *testing.T) map[string]any {
	t.Helper()
	server := provider.NewServer("test")
	return map[string]any{ownAddress: serve(t, "registry.terraform.io/"+ownAddress,
		func() tfprotov6.ProviderServer { return server })}
}

// serve serves a provider from this process until the test ends, and returns how Terraform attaches to it.
func serve(t *testing.T, address string, factory func() tfprotov6.ProviderServer) map[string]any {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	attached, closed := make(chan *plugin.ReattachConfig), make(chan struct{})
	go func() {
		err := tf6server.Serve(address, factory, tf6server.WithDebug(ctx, attached, closed),
			tf6server.WithoutLogStderrOverride(), tf6server.WithGoPluginLogger(hclog.NewNullLogger()))
		if err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-closed
	})
	config := <-attached
	return map[string]any{
		"Protocol": string(config.Protocol), "ProtocolVersion": config.ProtocolVersion, "Pid": config.Pid, "Test": true,
		"Addr": map[string]string{"Network": config.Addr.Network(), "String": config.Addr.String()},
	}
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

// stateFile is what the tests read of Terraform's state: reading the file is faster than terraform show and output.
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

// readFile returns a file of the test data.
func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
