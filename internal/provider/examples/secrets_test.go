package examples_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// TestAccSOPS follows the guide with SOPS and Kustomize: a Secret is encrypted once, rendered for the namespace of the
// assignment, built as Flux builds it, and decrypted, which checks its MAC. Without mac_only_encrypted, the MAC does
// not match.
func TestAccSOPS(t *testing.T) {
	t.Parallel()
	sops, keygen := programs.Built(t, "sops"), programs.Built(t, "age-keygen")
	guide := acc.ReadFile(t, "../../../docs/guides/secrets.md")
	_, document, _ := strings.Cut(guide, "4. Write the Secret")
	_, document, _ = strings.Cut(document, "```yaml\n")
	document, _, _ = strings.Cut(document, "```")
	document = strings.ReplaceAll("\n"+document, "\n   ", "\n") // the list's indentation
	for _, signsAll := range []bool{false, true} {
		dir := t.TempDir()
		run := func(command string, arguments ...string) (string, error) {
			cmd := exec.CommandContext(t.Context(), command, arguments...) //nolint:gosec // programs of the tests
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "SOPS_DISABLE_VERSION_CHECK=1", "SOPS_AGE_KEY_FILE=key.txt")
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, stderr.String())
			}
			return string(out), err
		}
		if _, err := run(keygen, "-o", "key.txt"); err != nil {
			t.Fatal(err)
		}
		_, recipient, _ := strings.Cut(acc.ReadFile(t, filepath.Join(dir, "key.txt")), "# public key: ")
		recipient, _, _ = strings.Cut(recipient, "\n")
		rules := regexp.MustCompile(`age1\w+`).ReplaceAllString(
			acc.ReadFile(t, acc.Examples+"/secrets/.sops.yaml"), recipient)
		if signsAll {
			rules = strings.Replace(rules, "mac_only_encrypted: true", "mac_only_encrypted: false", 1)
		}
		write := func(name, content string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(".sops.yaml", rules)
		write("license.yaml", document)
		encrypted, err := run(sops, "encrypt", "license.yaml")
		if err != nil || strings.Contains(encrypted, "the license") {
			t.Fatalf("%v: %s", err, encrypted)
		}
		r := acc.NewExample(t, acc.Examples+"/secrets")
		r.Write("license.sops.yaml", encrypted)
		r.Apply()
		objects := buildFolders(t, renderedFiles(r.State()["kalypso_environment_rendering.this"]))["large"]
		i := slices.IndexFunc(objects, func(o map[string]any) bool { return o["kind"] == "Secret" })
		if i < 0 {
			t.Fatalf("no Secret: %v", objects)
		}
		built, err := yaml.Marshal(objects[i])
		if err != nil {
			t.Fatal(err)
		}
		write("built.yaml", string(built))
		plain, err := run(sops, "decrypt", "built.yaml")
		if signsAll {
			if err == nil || !strings.Contains(err.Error(), "MAC mismatch") {
				t.Errorf("with a MAC of all values: %v", err)
			}
			continue
		}
		if err != nil || !strings.Contains(plain, "LICENSE: the license") ||
			!strings.Contains(plain, "namespace: dev-large-shop-web") {
			t.Errorf("%v: %s", err, plain)
		}
	}
}

// examples/secrets renders references with the built-in template and with a template of the example. It renders
// ciphertext unchanged to the byte.
func TestAccExampleSecrets(t *testing.T) {
	t.Parallel()
	r := acc.NewExample(t, acc.Examples+"/secrets")
	r.Write("license.sops.yaml", acc.ReadFile(t, acc.Examples+"/secrets/license.sops.yaml"))
	r.Apply()
	r.ExpectEmptyPlan()
	files, _ := r.State()["kalypso_environment_rendering.this"]["files"].(map[string]any)
	text := func(path string) string {
		content, _ := files[path].(string)
		return content
	}
	if !strings.HasSuffix(text("large/shop-web/platform-config.yaml"), "\n---\n"+strings.ReplaceAll(
		acc.ReadFile(t, acc.Examples+"/secrets/license.sops.yaml"), "{{ .Namespace }}", "dev-large-shop-web")) {
		t.Errorf("the ciphertext changed:\n%s", text("large/shop-web/platform-config.yaml"))
	}
	guide := acc.ReadFile(t, "../../../templates/guides/secrets.md.tmpl")
	if !strings.Contains(guide, "```yaml\n"+text("large/shop-web/platform-secret.yaml")+"```\n") {
		t.Errorf("the guide does not show\n%s", text("large/shop-web/platform-secret.yaml"))
	}
	for _, want := range []string{"name: \"shop-secrets\"",
		"  refreshInterval: 10m\n  secretStoreRef:\n    name: vault\n"} {
		if !strings.Contains(text("small/shop-web/platform-secret.yaml"), want) {
			t.Errorf("%q is not in\n%s", want, text("small/shop-web/platform-secret.yaml"))
		}
	}
}
