package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

const manifestsRoot = `terraform {
  required_providers {
    kalypso = { source = "terraform-kalypso/kalypso" }
  }
}

resource "kalypso_environment_rendering" "this" {
  environment   = "dev"
  manifests     = { for f in fileset(path.module, "fleet/*.yaml") : f => file(f) }
  gitops_repo   = { repo = "file://%s", branch = "dev" }
  create_branch = true
  preview       = %q
  guardrails    = { unscheduled = "ignore" }
}
`

// planning measures terraform plan with nothing to do, and the memory of the provider.
func (b *bench) planning(ctx context.Context) error {
	empty, err := b.terraform(ctx, &fleet.Fleet{}, "none")
	if err != nil {
		return err
	}
	times := map[string]measured{}
	for _, m := range []struct{ fleet, preview, what, bound string }{
		{"large-10k", "none", "`terraform plan` with nothing to do, `large-10k` through `manifests`, `preview = \"none\"`", "+2 s"},
		{"large-10k", "assignments", "the same with `preview = \"assignments\"`", ""},
		{"large-100k", "none", "the same for `large-100k`, `preview = \"none\"`", ""},
	} {
		f, err := b.load(m.fleet)
		if err != nil {
			return err
		}
		t, err := b.terraform(ctx, f, m.preview)
		if err != nil {
			return err
		}
		times[m.fleet+m.preview] = t
		b.add(row{m.what, seconds(t.plan), "an empty fleet: " + seconds(empty.plan), "+" + seconds(t.plan-empty.plan), m.bound})
		b.add(row{"its first `terraform apply`", seconds(t.apply), "", "", ""})
	}
	b.add(row{"growth of the plan from 10,000 to 100,000", exponent(times["large-10knone"].plan, times["large-100knone"].plan, 10), "", "", "exponent"})
	b.add(row{"peak memory of the provider, `large-100k`, first apply and plan", fmt.Sprintf("%d MiB", times["large-100knone"].peak>>10), "", "", "1 GiB"})
	models, err := b.terraformRoot(ctx, modelRoot)
	if err != nil {
		return err
	}
	b.add(row{"`terraform plan` with nothing to do, 50 cluster types, 100 configs, 100 workloads of three targets, 20 policies as model resources and typed maps", seconds(models.plan), "an empty fleet: " + seconds(empty.plan), "+" + seconds(models.plan-empty.plan), "measured"})
	return nil
}

// measured is what a root module took. peak is the provider's resident memory in KiB.
type measured struct {
	apply, plan time.Duration
	peak        int64
}

func (b *bench) terraform(ctx context.Context, f *fleet.Fleet, preview string) (measured, error) {
	return b.terraformRoot(ctx, func(dir, repo string) error {
		if err := write(f, filepath.Join(dir, "fleet")); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "main.tf"), fmt.Appendf(nil, manifestsRoot, repo, preview), 0o600)
	})
}

// terraformRoot applies a root module once and plans it again.
func (b *bench) terraformRoot(ctx context.Context, write func(dir, repo string) error) (m measured, err error) {
	dir, err := os.MkdirTemp(b.scratch, "root-")
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(dir)
	repo := filepath.Join(dir, "gitops.git")
	if err := git(ctx, nil, "init", "-q", "--bare", repo); err != nil {
		return m, err
	}
	if err := write(dir, repo); err != nil {
		return m, err
	}
	config := fmt.Sprintf("disable_checkpoint = true\nprovider_installation {\n  dev_overrides {\n    \"registry.terraform.io/terraform-kalypso/kalypso\" = %q\n  }\n}\n", b.provider)
	rc := filepath.Join(dir, "terraform.rc")
	if err := os.WriteFile(rc, []byte(config), 0o600); err != nil {
		return m, err
	}
	var peak atomic.Int64
	done := watchPeak(&peak)
	defer done()
	terraform := func(args ...string) error {
		cmd := exec.CommandContext(ctx, "terraform", args...) //nolint:gosec // the CLI
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+rc, "CHECKPOINT_DISABLE=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("terraform %s: %w\n%s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	if m.apply, err = timed(func() error { return terraform("apply", "-auto-approve", "-no-color") }); err != nil {
		return m, err
	}
	m.plan, err = b.median(func() (time.Duration, error) {
		return timed(func() error { return terraform("plan", "-detailed-exitcode", "-no-color") })
	})
	m.peak = peak.Load()
	return m, err
}

// watchPeak looks at the peak memory of the providers that run, until it is told to stop.
func watchPeak(peak *atomic.Int64) (stop func()) {
	quit := make(chan struct{})
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				peak.Store(max(peak.Load(), providersPeak()))
			}
		}
	}()
	return func() { close(quit) }
}

// providersPeak is the largest peak among the provider processes, in KiB; 0 where there is no /proc.
func providersPeak() (peak int64) {
	names, _ := filepath.Glob("/proc/[0-9]*/comm")
	for _, name := range names {
		comm, _ := os.ReadFile(name) //nolint:gosec // in /proc
		if !strings.HasPrefix("terraform-provider-kalypso", strings.TrimSpace(string(comm))) || len(comm) < 15 {
			continue
		}
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "status")) //nolint:gosec // in /proc
		for line := range strings.Lines(string(status)) {
			if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				kib, _ := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
				peak = max(peak, kib)
			}
		}
	}
	return peak
}

// modelRoot writes a fleet as model resources with for_each.
func modelRoot(dir, repo string) error {
	return os.WriteFile(filepath.Join(dir, "main.tf"), fmt.Appendf(nil, modelConfiguration, repo), 0o600)
}

const modelConfiguration = `terraform {
  required_providers {
    kalypso = { source = "terraform-kalypso/kalypso" }
  }
}

resource "kalypso_template" "all" {
  for_each  = { flux = "reconciler", ns = "namespace", cm = "config" }
  name      = each.key
  type      = each.value
  manifests = ["name: {{ .DeploymentTargetName }}\nnamespace: {{ .Namespace }}\ndata:\n{{ toYaml .ConfigData | indent 2 }}\n"]
}

resource "kalypso_cluster_type" "all" {
  for_each          = { for i in range(50) : format("cluster-%%02d", i) => i }
  name              = each.key
  labels            = { region = "r${each.value %% 5}", size = "s${each.value %% 3}", pool = "p${each.value %% 20}" }
  reconciler        = kalypso_template.all["flux"].name
  namespace_service = kalypso_template.all["ns"].name
  config_type       = kalypso_template.all["cm"].name
}

resource "kalypso_config" "all" {
  for_each = { for i in range(100) : format("config-%%03d", i) => i }
  name     = each.key
  labels   = each.value %% 2 == 0 ? { region = "r${each.value %% 5}" } : { cluster-type = format("cluster-%%02d", each.value %% 50) }
  data     = { for k in range(10) : "KEY_${k}" => "value ${k} of ${each.key}" }
}

resource "kalypso_workload" "all" {
  for_each  = { for i in range(100) : format("app-%%03d", i) => i }
  name      = each.key
  workspace = "team-${each.value %% 10}"
  labels    = { family = "f${each.value %% 20}" }
  deployment_targets = [for t in ["test", "perf", "uat"] : {
    name        = t
    environment = "dev"
    labels      = { purpose = t }
    manifests   = { repo = "https://github.com/example/${each.key}", branch = "dev", path = "./${t}" }
  }]
}

resource "kalypso_scheduling_policy" "all" {
  for_each                   = { for i in range(20) : format("policy-%%02d", i) => i }
  name                       = each.key
  deployment_target_selector = { match_labels = { family = "f${each.value}" } }
  cluster_type_selector      = { match_labels = { pool = "p${each.value}" } }
}

resource "kalypso_environment_rendering" "this" {
  environment         = "dev"
  cluster_types       = kalypso_cluster_type.all
  templates           = kalypso_template.all
  configs             = kalypso_config.all
  scheduling_policies = kalypso_scheduling_policy.all
  workloads           = kalypso_workload.all
  gitops_repo         = { repo = "file://%s", branch = "dev" }
  create_branch       = true
}
`
