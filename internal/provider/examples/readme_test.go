package examples_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// TestAccReadme follows the README: its first configuration can be applied unchanged. After the change that the README
// describes, Terraform shows the plan at the beginning of the README.
func TestAccReadme(t *testing.T) {
	t.Parallel()
	text := acc.ReadFile(t, "../../../README.md")
	shown := acc.Excerpts.FindStringSubmatch(text)
	block := regexp.MustCompile("(?s)```hcl\n(.*?)```\n").FindStringSubmatch(text)
	if shown == nil || block == nil || strings.Count(shown[1], "\n") > 10 {
		t.Fatalf("the README shows the plan %q and the configuration %q", shown, block)
	}
	r := acc.NewRoot(t, map[string]string{"main.tf": block[1]})
	g := &guide{Root: r, host: acc.NewGitHost(t), cli: acc.TerraformFolder(t)}
	g.Succeed("fmt", "-check", "-diff")
	g.OwnProcess() // the repo is in the working directory
	g.shell("git init --bare gitops.git\nterraform apply -auto-approve")
	const before = `cluster_type_selector      = { match_labels = { size = "large" } }`
	g.Write("main.tf", strings.Replace(block[1], before, "cluster_type_selector = { match_all = true }", 1))
	if out := g.shell("terraform plan -no-color"); !strings.Contains(out, shown[1]) {
		t.Errorf("the README shows\n%s\nand the output is\n%s", shown[1], out)
	}
}
