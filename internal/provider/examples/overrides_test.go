package examples_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// The examples that read overrides/<environment>.yaml plan with each file that the guide From dev to prod tells people
// to write, with an empty file, and without one.
func TestAccOverrides(t *testing.T) {
	t.Parallel()
	for _, example := range []string{"environments/render", "renderings/chain"} {
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			fake := githubfake.New(t)
			controlPlane, gitops := fake.AddRepo(t, "acme/control-plane"), fake.AddRepo(t, "acme/gitops")
			gitserver.Seed(t, gitops.Path, "dev", map[string]string{"README.md": "GitOps\n"})
			own, base := exampleBranches(t)
			gitserver.Seed(t, controlPlane.Path, "dev", own)
			first := gitserver.Seed(t, controlPlane.Path, "main", base)
			controlPlane.SetStatus("github-actions[bot]", first, "ci", "success")

			module, err := filepath.Abs(environmentModule)
			if err != nil {
				t.Fatal(err)
			}
			text := strings.NewReplacer("../../modules/environment", module, "https://github.com", fake.URL).Replace(
				acc.ReadFile(t, filepath.Join(acc.Examples, example, "main.tf")))
			r := acc.NewRoot(t, map[string]string{"main.tf": text, "provider.tf": acc.TerraformBlock + fmt.Sprintf(
				"provider \"kalypso\" {\n  github = { base_url = %[1]q, token = %[2]q }\n"+
					"  git_credentials = [{ url = %[1]q, username = \"x\", password = %[2]q }]\n}\n", fake.URL, fake.Token)})
			if example == "environments/render" {
				r.Succeed("get")
			}
			r.Succeed("workspace", "new", "dev")
			r.Apply()
			base["note.txt"] = "second"
			second := gitserver.Seed(t, controlPlane.Path, "main", base)

			// A misspelled key must not be taken for none: a freeze would not freeze.
			r.Write("overrides/dev.yaml", "holt: The shop is closed.\n")
			r.ExpectError([]string{"hold, pinned_commit, approved and rejected, and nothing else"}, "plan", "-no-color")
			for file, want := range map[string]string{
				"": first, "# hold: not now\n": first, "---\n": first,
				"hold: The shop is closed.\n":                                     first,
				"pinned_commit: " + first + "\n":                                  first,
				"approved: [" + second + "]\n":                                    second,
				"approved:\n  - " + second + "\nhold: Wait.\n":                    first,
				"rejected: {" + second + ": null}\n":                              first,
				"---\nrejected: {" + second + ": null}\napproved: []\n":           first,
				"hold: null\npinned_commit: " + second + "\napproved: null\n":     second,
				"# all of them\nhold:\npinned_commit:\napproved:\nrejected: {}\n": first,
			} {
				r.Write("overrides/dev.yaml", file)
				out := r.Succeed("plan", "-no-color").Text()
				const waits = "Nothing is promoted now" // which names the second commit
				if got := strings.Contains(out, second[:8]) && !strings.Contains(out, waits); got != (want == second) {
					t.Errorf("with the overrides %q, the plan takes the second commit: %t\n%s", file, got, out)
				}
				if frozen := strings.Contains(file, "hold: T") || strings.Contains(file, "hold: W"); frozen &&
					!strings.Contains(out, "frozen") {
					t.Errorf("with the overrides %q, the plan does not say that dev is frozen:\n%s", file, out)
				}
			}
		})
	}
}

// exampleBranches returns the files of the example's fleet on the branches dev and main of its control plane.
func exampleBranches(t *testing.T) (own, base map[string]string) {
	t.Helper()
	own, base = map[string]string{}, map[string]string{}
	for name, content := range acc.ExampleFleet(t) {
		into := own
		if strings.HasPrefix(name, "main/") {
			into = base
		}
		into[filepath.Base(name)], _ = content.(string)
	}
	return own, base
}
