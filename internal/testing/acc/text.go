package acc

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// FromJSON decodes a JSON text.
func FromJSON(t *testing.T, text string, into any) {
	t.Helper()
	must.Succeed(t, json.Unmarshal([]byte(text), into))
}

// ExpectYAML compares a value, written as YAML, with a file of the test data. With -update it writes the file.
func ExpectYAML(t *testing.T, file string, v any) {
	t.Helper()
	got, err := yaml.Marshal(v)
	must.Succeed(t, err)
	ExpectText(t, file, string(got))
}

// ExpectText compares a text with a file of the test data. With -update it writes the file.
func ExpectText(t *testing.T, file, got string) {
	t.Helper()
	got = TerraformWords(got)
	if *Update {
		programs.WriteFile(t, file, got)
	}
	if diff := cmp.Diff(ReadFile(t, file), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// TerraformWords replaces wording of OpenTofu and of other versions of Terraform in a text of the CLI by the wording of
// Terraform 1.11.
func TerraformWords(text string) string {
	return strings.NewReplacer(
		"OpenTofu", "Terraform",
		"~ update in-place (current -> planned)", "~ update in-place",
		"configuration and\nfound no differences", "configuration\nand found no differences",
	).Replace(text)
}

// ReadFile returns a file of the test data.
func ReadFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	must.Succeed(t, err)
	return string(data)
}

// Glob returns the files that match a pattern, see [filepath.Glob].
func Glob(t *testing.T, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	must.Succeed(t, err)
	return all
}

// ToJSON returns a value as JSON.
func ToJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	must.Succeed(t, err)
	return string(data)
}

// Update makes tests write the expected files and not compare with them.
var Update = flag.Bool("update", false, "write the expected texts")

var blanks = regexp.MustCompile(`\s+`)

// found matches the type that newer CLIs add to an error about a wrong type.
var found = regexp.MustCompile(` required, but have [a-z ]+\.`)

// Diagnostics returns the diagnostics in Terraform's JSON output as text, each with its place, title and body. They are
// sorted, since Terraform walks its graph in any order.
func Diagnostics(t *testing.T, output string) string {
	t.Helper()
	var all []string
	for lines := json.NewDecoder(strings.NewReader(output)); lines.More(); {
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
		if err := lines.Decode(&line); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		d := line.Diagnostic
		if line.Type != "diagnostic" || d.Summary == "Provider development overrides are in effect" {
			continue
		}
		code, _, _ := strings.Cut(d.Snippet.Code, "\n")
		all = append(all, fmt.Sprintf("%s, %s line %d: %s\n%s: %s\n%s\n",
			d.Address, d.Range.Filename, d.Range.Start.Line, blanks.ReplaceAllString(strings.TrimSpace(code), " "),
			d.Severity, d.Summary, found.ReplaceAllString(strings.TrimRight(d.Detail, "\n"), " required.")))
	}
	slices.Sort(all)
	return strings.Join(all, "\n\n")
}

// TimeInPlan matches a time in the text of a plan.
var TimeInPlan = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// Excerpts matches the blocks of a guide that show an output.
var Excerpts = regexp.MustCompile("(?s)```text\n(.*?)\n```\n")

// Fenced matches the code blocks of a guide that a test executes.
var Fenced = regexp.MustCompile("(?s)```(terraform|sh)\n(.*?)\n *```\n")

var noise = regexp.MustCompile(`(?ms)^\S+: (Reading\.\.\.|Read complete|Refreshing state).*?\n` +
	`|^Warning: Provider development overrides.*?published\nreleases\.\n\n?|^─+\n.*\z`)

// Printed returns the part of a plan's output that depends only on the configuration.
func Printed(plan string) string { return strings.TrimSpace(noise.ReplaceAllString(plan, "")) + "\n" }

// ExpectTexts fails the test unless a text contains all of wants.
func ExpectTexts(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("the text does not contain %q:\n%s", want, text)
		}
	}
}

// FilesBelow returns the content of the files in a folder and of the files in zip files there, by path.
func FilesBelow(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for name, data := range ReadTree(t, folder) {
		all[name] = []byte(data)
		must.Succeed(t, unzip(all, name, []byte(data)))
	}
	return all
}

// unzip adds the files in data if it is a zip file, as Terraform's plans are.
func unzip(all map[string][]byte, name string, data []byte) error {
	if !bytes.HasPrefix(data, []byte("PK")) {
		return nil
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	files, err := golden.Files(archive)
	for path, content := range files {
		all[name+"/"+path] = []byte(content)
	}
	return err
}
