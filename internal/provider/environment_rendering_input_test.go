package provider_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the diagnostics of testdata anew")

// TestAccBadInput pins what the user reads of each wrong configuration, to the letter.
func TestAccBadInput(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fleet", "manifests"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join("testdata", "TestAccBadInput", name)
			r := newRootFrom(t, folder)
			r.write("terraform.tf", terraformBlock)
			expectPlanErrors(t, r, filepath.Join(folder, "diagnostics.txt"), nil)
		})
	}
}

// expectPlanErrors plans the module and compares the diagnostics with the file, once replace took what differs from run
// to run out of them.
func expectPlanErrors(t *testing.T, r *root, file string, replace *strings.Replacer, args ...string) {
	t.Helper()
	out := r.terraform(append([]string{"plan", "-json", "-refresh=false"}, args...)...)
	if out.code != 1 {
		t.Errorf("the plan ended with %d:\n%s\n%s", out.code, out.stdout, out.stderr)
	}
	got := diagnostics(t, out.stdout)
	if replace != nil {
		got = replace.Replace(got)
	}
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(readFile(t, file), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// diagnostics are those of Terraform's JSON output as text, sorted: Terraform walks its graph in any order.
func diagnostics(t *testing.T, output string) string {
	t.Helper()
	var all []string
	for lines := bufio.NewScanner(strings.NewReader(output)); lines.Scan(); {
		var line struct {
			Type       string
			Diagnostic struct {
				Severity, Summary, Detail, Address string
				Range                              struct {
					Filename string
					Start    struct{ Line int }
				}
				Snippet struct{ Code string }
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		if d := line.Diagnostic; line.Type == "diagnostic" && d.Summary != "Provider development overrides are in effect" {
			code, _, _ := strings.Cut(strings.TrimSpace(d.Snippet.Code), "\n")
			all = append(all, fmt.Sprintf("%s, %s:%d, %s\n%s: %s\n%s\n", d.Address, d.Range.Filename, d.Range.Start.Line, code, d.Severity, d.Summary, d.Detail))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n\n")
}
