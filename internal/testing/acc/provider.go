package acc

import (
	"context"
	"encoding/json"
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
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/giteaserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// OwnAddress is the source address of the provider.
const OwnAddress = "terraform-kalypso/kalypso"

// built returns the folder with the provider's binary and the CLI configuration that overrides it.
var built = sync.OnceValues(build)

// Main runs the tests of a package. Each package with acceptance tests calls it from TestMain.
func Main(m *testing.M) {
	home, err := os.MkdirTemp("", "kalypso-home-")
	if err != nil {
		panic(err)
	}
	isolate(home)
	code := m.Run()
	giteaserver.Stop()
	_ = os.RemoveAll(home)
	os.Exit(code)
}

// isolate removes settings of the user from the environment, which the providers in this process would otherwise use:
// credentials, proxies, and the settings of Git and SSH in the home folder.
func isolate(home string) {
	for _, variable := range programs.UserEnv {
		name, _, _ := strings.Cut(variable, "=")
		for _, prefix := range []string{"GIT", "SSH_", "AZURE_", "ARM_", "ACTIONS_", "SSL_", "TF_LOG", "TF_CLI_ARGS",
			"KALYPSO_SIGNING_", "DOCKER_"} {
			if strings.HasPrefix(name, prefix) || strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
				_ = os.Unsetenv(name)
			}
		}
	}
	_ = os.Setenv("HOME", home)
	for _, name := range []string{"TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_SDK_PROTO", "TF_LOG_PROVIDER_KALYPSO"} {
		_ = os.Setenv(name, "OFF")
	}
	debug.SetGCPercent(800)
}

// Collector configures the garbage collector of Terraform in tests. The heap of a command is small, so with Go's
// defaults the collector runs often and takes a third of a plan's processor time. With these settings it runs only when
// the heap is near a gigabyte.
var Collector = []string{"GOGC=off", "GOMEMLIMIT=1GiB"}

// ProviderBinary builds the provider, and returns its path.
func ProviderBinary(t *testing.T) string {
	t.Helper()
	folder, err := built()
	must.Succeed(t, err)
	return filepath.Join(folder, "terraform-provider-kalypso")
}

// cliConfig returns the path of a CLI configuration that uses the provider's binary.
func cliConfig(t *testing.T) string {
	t.Helper()
	return filepath.Join(filepath.Dir(ProviderBinary(t)), "terraform.rc")
}

// build builds the provider for the tests of all packages.
func build() (folder string, err error) {
	folder = filepath.Join(programs.Root(), "bin", "test")
	program := filepath.Join(folder, "terraform-provider-kalypso")
	if err := programs.Build(programs.Root(), program, "-ldflags=-s -w"); err != nil {
		return "", err
	}
	config, text := filepath.Join(folder, "terraform.rc"), programs.Overriding(folder)
	if old, err := os.ReadFile(config); err == nil && string(old) == text {
		return folder, nil
	}
	return folder, os.WriteFile(config, []byte(text), 0o600)
}

// OwnProcess starts a process that serves the provider, with the module's current environment, more variables, and the
// module's folder as working directory. The process writes its log to [LogName].
func (r *Root) OwnProcess(variables ...string) {
	r.T.Helper()
	cmd := exec.Command(ProviderBinary(r.T), "-debug")
	cmd.Dir, cmd.Env = r.Folder, slices.Concat(r.Env, []string{"TF_LOG_SDK=OFF"}, variables)
	process := programs.Run(r.T, filepath.Join(r.Folder, LogName), cmd, os.Kill)
	process.Await(r.T, func() error {
		_, text, _ := strings.Cut(process.Log(1<<20), "TF_REATTACH_PROVIDERS='")
		text, _, _ = strings.Cut(text, "'")
		var attached map[string]any
		err := json.Unmarshal([]byte(text), &attached)
		r.Attached[OwnAddress] = attached["registry.terraform.io/"+OwnAddress]
		return err
	})
}

// StartProviders makes each command start the provider's binary, as it does for users. Tests of signals, logs and
// memory need it.
func (r *Root) StartProviders() {
	r.T.Helper()
	delete(r.Attached, OwnAddress)
	r.Env = append(r.Env, "TF_CLI_CONFIG_FILE="+cliConfig(r.T))
}

// Killable returns a command of the CLI that starts the provider's binary, in a process group that [Kill] ends.
func (r *Root) Killable(args ...string) *exec.Cmd {
	r.T.Helper()
	alone := Root{T: r.T, Folder: r.Folder, Env: slices.Clone(r.Env), Attached: maps.Clone(r.Attached)}
	alone.StartProviders()
	cmd := alone.Command(args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// Kill kills a command of [Root.Killable] and all processes that it started.
func Kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	must.Succeed(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
}

// ServeProvider serves our provider from this process, and returns a value for [Root.Attached].
func ServeProvider(t *testing.T, options ...provider.Option) map[string]any {
	t.Helper()
	server := provider.NewServer("test", options...)
	return map[string]any{OwnAddress: Serve(t, "registry.terraform.io/"+OwnAddress,
		func() tfprotov6.ProviderServer { return server })}
}

// Serve serves a provider from this process until the test ends, and returns how Terraform attaches to it.
func Serve(t *testing.T, address string, factory func() tfprotov6.ProviderServer) map[string]any {
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

// LogName is the file with the log of all runs in the module.
const LogName = "trace.log"
