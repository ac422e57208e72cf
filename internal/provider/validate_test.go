package provider_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every error is on its attribute, and what is valid or not known is none: the expected ones are in comments of the
// configuration, as "# error: summary; summary", or with the beginning of the detail as "summary: detail".
func TestAccValidate(t *testing.T) {
	folder := filepath.Join("testdata", "TestAccValidate")
	r := newRootFrom(t, folder)
	r.write("terraform.tf", terraformBlock)

	var got struct {
		Diagnostics []struct {
			Severity, Summary, Detail string
			Range                     struct {
				Filename string
				Start    struct{ Line int }
			}
		}
	}
	out := r.terraform("validate", "-json")
	if err := json.Unmarshal([]byte(out.stdout), &got); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.stdout, out.stderr)
	}
	found := map[string][]string{}
	for _, d := range got.Diagnostics {
		if d.Severity == "error" {
			at := fmt.Sprintf("%s:%d", d.Range.Filename, d.Range.Start.Line)
			found[at] = append(found[at], d.Summary+": "+strings.Join(strings.Fields(d.Detail), " "))
		}
	}
	for i, line := range strings.Split(readFile(t, filepath.Join(folder, "invalid.tf")), "\n") {
		at := fmt.Sprintf("invalid.tf:%d", i+1)
		var want []string
		if _, comment, ok := strings.Cut(line, "# error: "); ok {
			want = strings.Split(comment, "; ")
		}
		// Of what was found, keep what was wanted of it.
		texts := slices.Sorted(slices.Values(found[at]))
		slices.Sort(want)
		for j := range min(len(want), len(texts)) {
			if strings.HasPrefix(texts[j], want[j]) {
				texts[j] = want[j]
			}
		}
		if diff := cmp.Diff(want, texts); diff != "" && len(want)+len(texts) > 0 {
			t.Errorf("%s: (-want +got):\n%s", at, diff)
		}
		delete(found, at)
	}
	for at, texts := range found {
		t.Errorf("%s: unexpected: %s", at, strings.Join(texts, "\n"))
	}
}
