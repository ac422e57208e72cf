package provider_test

import (
	"regexp"
	"testing"
)

// TestAccReadme validates each configuration in the README by itself, as a reader copies it.
func TestAccReadme(t *testing.T) {
	t.Parallel()
	blocks := regexp.MustCompile("(?s)\n```hcl\n(.*?)\n```\n").FindAllStringSubmatch(readFile(t, "../../README.md"), -1)
	if len(blocks) == 0 {
		t.Fatal("the README has no configuration")
	}
	for _, block := range blocks {
		r := newRoot(t, map[string]string{"main.tf": block[1] + "\n"})
		r.succeed("fmt", "-check", "-diff")
		r.succeed("validate", "-no-color")
	}
}
