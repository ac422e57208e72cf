package rendering_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// TestAccDailyPlans: with preview = "none" and sensitive manifests, the whole output of a plan of a daily change of the
// sample has at most 60 lines, and names each folder that will be removed. Each plan can be applied, and the next plan
// is empty.
func TestAccDailyPlans(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t)
	h.Sample()
	h.Commit("kalypso-gitops", "dev", acc.ReadTree(t, filepath.Join(acc.Samples, "kalypso-gitops", "dev")))
	r := acc.NewRootFrom(t, "testdata/TestAccDailyPlans")
	r.Write("terraform.tfvars.json", acc.ToJSON(t, map[string]any{"url": h.URL, "password": acc.GitHostPassword}))
	r.Apply()

	dev := acc.ReadTree(t, filepath.Join(acc.Samples, "kalypso-control-plane", "dev"))
	main := acc.ReadTree(t, filepath.Join(acc.Samples, "kalypso-control-plane", "main"))
	const (
		policy     = "scheduling/platform-services/observability-policy.yaml"
		small      = "cluster-types/west-us/small/small-cluster-type.yaml"
		large      = "cluster-types/west-us/large/large-cluster-type.yaml"
		config     = "cluster-types/west-us/west-us-config.yaml"
		onboarding = "workloads/shop.yaml"
	)
	edit := func(file string, pairs ...string) string {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			if !strings.Contains(dev[file], pairs[i]) {
				t.Fatalf("%s of the sample has no %q", file, pairs[i])
			}
		}
		return strings.NewReplacer(pairs...).Replace(dev[file])
	}
	shows := func(name string, args ...string) string {
		t.Helper()
		out := r.Succeed(append([]string{"plan", "-no-color", "-out=plan"}, args...)...).Stdout
		lines := strings.Count(out, "\n")
		t.Logf("%s: %d lines", name, lines)
		if lines > 60 {
			t.Errorf("%s: the plan has %d lines:\n%s", name, lines, out)
		}
		if len(args) == 0 {
			r.ApplyPlan()
			r.ExpectEmptyPlan()
		}
		return out
	}
	const folders = "\n  command-center (0 deployment targets)\n  drone (1 deployment target)\n" +
		"  large (1 deployment target)\n  small (0 deployment targets)\n"
	if out := shows("removed environment", "-destroy"); !strings.Contains(out, folders) {
		t.Errorf("the removal does not list the folders by cluster type:\n%s", out)
	}
	for _, step := range []struct {
		name    string
		files   map[string]string
		removed string
	}{
		{"new type", map[string]string{"cluster-types/west-us/tiny/tiny-cluster-type.yaml": edit(small, "name: small",
			"name: tiny")}, ""},
		{"value", map[string]string{config: edit(config, "west:8806", "west:9906")}, ""},
		{"renamed config", map[string]string{config: edit(config, "west:8806", "west:9906", "name: west-us-config",
			"name: west-config")}, ""},
		{"renamed type", map[string]string{small: edit(small, "name: small", "name: compact")},
			"  small (0 deployment targets)\n"},
		{"policies", map[string]string{
			"scheduling/a.yaml": edit(policy, "name: observability-policy", "name: a", "size: large", "size: small"),
			"scheduling/b.yaml": edit(policy, "name: observability-policy", "name: b", "    workspace: platform-team\n", "",
				"stack: observability", "purpose: performance-test"),
			policy: edit(policy, "size: large", "region: west-us"),
		}, ""},
		{"split type", map[string]string{
			large: edit(large, "name: large", "name: large-a"),
			"cluster-types/west-us/large/large-b-cluster-type.yaml": edit(large, "name: large", "name: large-b"),
		}, "  large → large-a\n"},
	} {
		h.Commit("kalypso-control-plane", "dev", step.files)
		if out := shows(step.name); !strings.Contains(out, step.removed) {
			t.Errorf("%s: the plan does not name the folder that will be removed:\n%s", step.name, out)
		}
	}
	app := acc.ReadTree(t, filepath.Join(acc.Samples, "kalypso-app-src", "main"))
	moved := maps.Clone(app)
	for name, text := range app {
		moved[name] = strings.ReplaceAll(text, "hello-world-app", "shop")
	}
	h.Commit("kalypso-shop-src", "main", moved)
	registration := strings.NewReplacer("https://github.com/microsoft/kalypso-svc-src", h.URL+"/kalypso-shop-src",
		"name: platform-svc", "name: shop", "platform-team", "shop-team", "./workloads", "./workload").
		Replace(main["workloads/platform-svc.yaml"])
	head := h.Commit("kalypso-control-plane", "main", map[string]string{onboarding: registration})
	base := dev["base-repo.yaml"]
	i := strings.Index(base, "commit:")
	h.Commit("kalypso-control-plane", "dev", map[string]string{"base-repo.yaml": strings.ReplaceAll(base[:i],
		"https://github.com/microsoft", h.URL) + "commit: " + head + "\n"})
	shows("onboarding")
}
