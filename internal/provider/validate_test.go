package provider_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// Every error points to its attribute. Valid and unknown values cause no error.
func TestAccValidate(t *testing.T) {
	expectDiagnostics(t, filepath.Join("testdata", "TestAccValidate"))
}

// Each error of the provider's own configuration points to its attribute too, and contains no secret.
func TestAccValidateProvider(t *testing.T) {
	text := expectDiagnostics(t, filepath.Join("testdata", "TestAccValidateProvider"))
	if strings.Contains(text, "canary") {
		t.Errorf("a secret is in the errors:\n%s", text)
	}
}

// An object that sets nothing causes a warning, because Terraform drops attributes with misspelled names.
func TestAccValidateObjectSetsNothing(t *testing.T) {
	t.Parallel()
	r := acc.NewRoot(t, map[string]string{"terraform.tf": acc.TerraformBlock, "main.tf": `
variable "limits" {
  type    = object({ assignments = optional(number) })
  default = null
}

resource "kalypso_environment_rendering" "this" {
  environment = "dev"
  delivery    = { strategy = "none" }
  guardrails  = { max_remved = "5%" }
  limits      = var.limits
}

resource "kalypso_base_repo" "this" {
  repo      = "https://git.acme.io/control-plane"
  branch    = "dev"
  promotion = { commit = "", decision = "hold", summary = "" }
  delivery  = {}
}
`})
	out := strings.Join(strings.Fields(r.Succeed("validate", "-no-color").Text()), " ")
	acc.ExpectTexts(t, out, "Warning: guardrails sets nothing", "No attribute of guardrails is set",
		"max_kept, max_removed",
		"Warning: delivery sets nothing")
	if n := strings.Count(out, "Warning: "); n != 2 {
		t.Errorf("%d warnings:\n%s", n, out)
	}
}

// expectDiagnostics validates the configuration in a folder. Its comments contain the expected errors, as "# error:
// summary; summary", or with the start of the detail as "summary: detail". It returns all diagnostics.
func expectDiagnostics(t *testing.T, folder string) string {
	t.Helper()
	r := acc.NewRootFrom(t, folder)

	var got struct {
		Diagnostics []struct {
			Severity, Summary, Detail string
			Range                     struct {
				Filename string
				Start    struct{ Line int }
			}
		}
	}
	out := r.Terraform("validate", "-json")
	if err := json.Unmarshal([]byte(out.Stdout), &got); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.Stdout, out.Stderr)
	}
	found := map[string][]string{}
	for _, d := range got.Diagnostics {
		if d.Severity == "error" {
			at := fmt.Sprintf("%s:%d", d.Range.Filename, d.Range.Start.Line)
			found[at] = append(found[at], d.Summary+": "+strings.Join(strings.Fields(d.Detail), " "))
		}
	}
	for at, want := range expected(t, folder) {
		// Keep only the expected part of each problem.
		texts := slices.Sorted(slices.Values(found[at]))
		slices.Sort(want)
		for j := range min(len(want), len(texts)) {
			if strings.HasPrefix(texts[j], want[j]) {
				texts[j] = want[j]
			}
		}
		if diff := cmp.Diff(want, texts); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", at, diff)
		}
		delete(found, at)
	}
	for at, texts := range found {
		t.Errorf("%s: unexpected: %s", at, strings.Join(texts, "\n"))
	}
	var all strings.Builder
	for _, d := range got.Diagnostics {
		all.WriteString(d.Summary + "\n" + d.Detail + "\n")
	}
	return all.String()
}

// expected returns the errors in the comments of the configuration in a folder, by file and line.
func expected(t *testing.T, folder string) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.tf"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, file := range files {
		for i, line := range strings.Split(acc.ReadFile(t, file), "\n") {
			if _, comment, ok := strings.Cut(line, "# error: "); ok {
				all[fmt.Sprintf("%s:%d", filepath.Base(file), i+1)] = strings.Split(comment, "; ")
			}
		}
	}
	return all
}

// An invalid argument is an error at its attribute.
func TestAccControlPlaneValidate(t *testing.T) {
	text := expectDiagnostics(t, filepath.Join("testdata", "TestAccControlPlaneValidate"))
	if strings.Contains(text, "AAAAC3") {
		t.Errorf("the errors show a key:\n%s", text)
	}
}
