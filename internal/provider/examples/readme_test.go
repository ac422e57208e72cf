package examples_test

import (
	"regexp"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// TestAccReadme validates each configuration in the README by itself, as a reader copies it.
func TestAccReadme(t *testing.T) {
	t.Parallel()
	blocks := regexp.MustCompile("(?s)\n```hcl\n(.*?)\n```\n").FindAllStringSubmatch(
		acc.ReadFile(t, "../../../README.md"), -1)
	if len(blocks) == 0 {
		t.Fatal("the README has no configuration")
	}
	for _, block := range blocks {
		r := acc.NewRoot(t, map[string]string{"main.tf": block[1] + "\n"})
		r.Succeed("fmt", "-check", "-diff")
		r.Succeed("validate", "-no-color")
	}
}
