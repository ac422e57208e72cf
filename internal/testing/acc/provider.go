package provider_test

import (
	"bufio"
	"context"
	"encoding/json"
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
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/gitea"
)

// factories serve the provider within the test, for terraform-plugin-testing.
var factories = map[string]func() (tfprotov6.ProviderServer, error){
	"kalypso": func() (tfprotov6.ProviderServer, error) { return provider.NewServer("test"), nil },
}

// ownAddress is the source address of the provider.
const ownAddress = "terraform-kalypso/kalypso"

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
	gitea.Stop()
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
		for _, prefix := range []string{"GIT", "SSH_", "AZURE_", "ARM_", "ACTIONS_", "SSL_", "TF_LOG", "TF_CLI_ARGS",
			"KALYPSO_SIGNING_"} {
			if strings.HasPrefix(name, prefix) || strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
				_ = os.Unsetenv(name)
			}
		}
	}
	_ = os.Setenv("HOME", home)
	for _, name := range []string{"TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_SDK_PROTO", "TF_LOG_PROVIDER_KALYPSO"} {
		_ = os.Setenv(name, "OFF")
	}
	for _, setting := range collector { // for the commands that terraform-plugin-testing starts
		name, value, _ := strings.Cut(setting, "=")
		_ = os.Setenv(name, value)
	}
	debug.SetGCPercent(800)
}

// collector is the environment of Terraform's garbage collector in tests. A command's heap is small, so the collector
// would run often, which took a third of a plan's processor time. With these settings it runs only near a gigabyte.
var collector = []string{"GOGC=off", "GOMEMLIMIT=1GiB"}

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
	binary := filepath.Join(folder, "terraform-provider-kalypso")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, "../..")
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

// ownProcess serves the provider from a process of its own, with the module's current environment, more variables, and
// the module's folder as working directory. The process writes its log to [logName].
func (r *root) ownProcess(variables ...string) {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), providerBinary(r.t), "-debug")
	cmd.Dir, cmd.Env = r.folder, slices.Concat(r.env, []string{"TF_LOG_SDK=OFF"}, variables)
	log, err := os.OpenFile(filepath.Join(r.folder, logName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		r.t.Fatal(err)
	}
	cmd.Stderr = log
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
		_ = log.Close()
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

// startProviders has each command start the provider's binary, as it does for users. Tests of signals, logs and memory
// need it.
func (r *root) startProviders() {
	r.t.Helper()
	delete(r.attached, ownAddress)
	r.env = append(r.env, "TF_CLI_CONFIG_FILE="+cliConfig(r.t))
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
