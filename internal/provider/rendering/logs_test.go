package rendering_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestAccLogs checks what the provider's process writes. Terraform reads all logs of the provider, but shows only the
// ones that TF_LOG requests. Other logs would cost time, and no user would see them.
func TestAccLogs(t *testing.T) {
	acc.NeedTerraform(t)
	for name, c := range map[string]struct {
		env          []string
		library, own bool
	}{
		"no log level":                 {nil, false, true},
		"level INFO of providers":      {[]string{"TF_LOG_PROVIDER=INFO"}, false, true},
		"everything":                   {[]string{"TF_LOG=TRACE"}, true, true},
		"level TRACE of the libraries": {[]string{"TF_LOG_SDK=TRACE"}, true, true},
		"level TRACE of the libraries, INFO of providers": {[]string{"TF_LOG_SDK=TRACE", "TF_LOG_PROVIDER=INFO"}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			logs := filepath.Join(t.TempDir(), "logs")
			r := acc.NewRoot(
				t,
				map[string]string{"main.tf": acc.TerraformBlock + fmt.Sprintf(logsConfiguration, gitserver.InitBare(t))},
			)
			r.StartProviders()
			r.Env = append(r.Env, "TF_CLI_CONFIG_FILE="+recording(t, logs))
			r.Env = append(r.Env, c.env...)
			r.Apply()
			data, err := os.ReadFile(logs)
			if err != nil {
				t.Fatal(err)
			}
			// The library repeats our warnings at level WARN, so only its lines below INFO are compared.
			for logged, want := range map[string]bool{`"@level":"(debug|trace)".*"@module":"sdk.framework"`: c.library,
				`"@level":"(debug|trace)".*"@module":"sdk.proto"`: c.library, `"@module":"kalypso"`: c.own} {
				if got := regexp.MustCompile(logged).Match(data); got != want {
					t.Errorf("logs that match %s are there: %t, want %t\n%.2000s", logged, got, want, data)
				}
			}
		})
	}
}

const logsConfiguration = `
resource "kalypso_environment_rendering" "this" {
  environment   = "dev"
  gitops_repo   = { repo = "file://%s", branch = "dev" }
  create_branch = true
  cluster_types = { large = { name = "large", reconciler = "flux", namespace_service = "ns" } }
  templates = {
    flux = { name = "flux", type = "reconciler", manifests = ["# {{ .Namespace }}"] }
    ns   = { name = "ns", type = "namespace", manifests = ["# {{ .Namespace }}"] }
  }
  scheduling_policies = { all = {
    name = "all", deployment_target_selector = { match_all = true }, cluster_type_selector = { match_all = true } } }
  workloads = { shop = { name = "shop", deployment_targets = [{ name = "web", environment = "dev" }] } }
}
`

// recording returns a CLI configuration whose provider appends its logs to a file.
func recording(t *testing.T, logs string) string {
	t.Helper()
	provider := acc.ProviderBinary(t)
	folder := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\" 2>>'%s'\n", provider, logs)
	if err := programs.Write(filepath.Join(folder, "terraform-provider-kalypso"), script); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(folder, "terraform.rc")
	if err := os.WriteFile(config, []byte(programs.Overriding(folder)), 0o600); err != nil {
		t.Fatal(err)
	}
	return config
}
