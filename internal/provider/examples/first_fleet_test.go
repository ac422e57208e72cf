package examples_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// TestAccFirstFleet follows the guide "Your first fleet" exactly. The guide's excerpts of plans match this build.
func TestAccFirstFleet(t *testing.T) {
	t.Parallel()
	const file = "../../../docs/guides/first-fleet.md"
	g := newGuide(t, file, acc.NewGitHost(t))
	excerpts := acc.Excerpts.FindAllStringSubmatch(acc.ReadFile(t, file), -1)
	expect := func(out string) {
		t.Helper()
		if want := excerpts[0][1]; !strings.Contains(out, want) {
			t.Errorf("the guide shows\n%s\nand the output is\n%s", want, out)
		}
		excerpts = excerpts[1:]
	}
	g.next("required_providers")
	g.next("kalypso_cluster_type")
	g.next("kalypso_workload")
	g.next("kalypso_scheduling_policy")
	g.next("kalypso_environment_rendering")
	expect(g.next("terraform plan", "terraform init"))
	expect(g.next("ls-tree"))
	g.next("kalypso_scheduling_policy")
	out := g.next("terraform plan")
	expect(out)
	if !strings.Contains(out, "Plan: 0 to add, 2 to change, 0 to destroy.") {
		t.Errorf("more changes than the policy and the rendering:\n%s", out)
	}
	if out := g.next("git --git-dir gitops.git show --stat dev"); !strings.Contains(out, "3 files changed") {
		t.Errorf("the commit does not add the files of exactly one target:\n%s", out)
	}
	g.next("kalypso_config")
	_, line, _ := strings.Cut(g.text, "```hcl\n")
	line, _, _ = strings.Cut(line, "```")
	text := acc.ReadFile(t, filepath.Join(g.Folder, "main.tf"))
	g.Write("main.tf", strings.Replace(text, "  scheduling_policies", line+"  scheduling_policies", 1))
	expect(g.next("grep LOG_LEVEL"))
	if len(excerpts) > 0 || acc.Fenced.MatchString(g.text) {
		t.Errorf("the test does not follow all of the guide; left: %s", g.text)
	}
}
