package examples_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
)

const bringGuide = "../../../docs/guides/bring-what-exists.md"

// bringExcerpts are the excerpts of outputs in the guide, in its order.
type bringExcerpts struct{ assignments, query, queryPlan, comments, importPlan, resource string }

func readBringExcerpts(t *testing.T) bringExcerpts {
	t.Helper()
	all := acc.Excerpts.FindAllStringSubmatch(acc.ReadFile(t, bringGuide), -1)
	if len(all) != 6 {
		t.Fatalf("the guide has %d excerpts", len(all))
	}
	return bringExcerpts{all[0][1], all[1][1], all[2][1], all[3][1], all[4][1], all[5][1]}
}

// expectShown fails the test unless an output contains the excerpt in the guide.
func (g *guide) expectShown(want, out string) {
	g.T.Helper()
	out = g.host.Shown(out)
	if !strings.Contains(out, want) {
		g.T.Errorf("the guide shows\n%s\nand the output is\n%s", want, out)
	}
}

// skipUpTo skips the guide's code blocks up to the first that contains a text.
func (g *guide) skipUpTo(want string) {
	g.T.Helper()
	for {
		at := acc.Fenced.FindStringSubmatchIndex(g.text)
		if at == nil {
			g.T.Fatalf("the guide has no block with %q", want)
		}
		if strings.Contains(g.text[at[4]:at[5]], want) {
			return
		}
		g.text = g.text[at[1]:]
	}
}

// The test follows the guide "Import existing objects" on Microsoft's sample: with unchanged YAML, and with import
// blocks.
func TestAccBringWhatExists(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t)
	h.Sample()
	g := newGuide(t, bringGuide, h)
	g.OwnProcess() // the import IDs are paths in the working directory
	excerpts := readBringExcerpts(t)
	g.next(`data "kalypso_control_plane" "dev"`)
	g.expectShown(excerpts.assignments, g.next("terraform apply", "terraform init"))

	g.skipUpTo("import_blocks")
	g.next("import_blocks")
	g.next("terraform output -raw import_blocks")
	model := acc.ReadFile(t, filepath.Join(g.Folder, "model.tf"))
	g.expectShown(excerpts.comments, model)
	g.expectShown(excerpts.resource, model)
	for line := range strings.Lines(model) {
		if command, ok := strings.CutPrefix(line, "#   git clone "); ok {
			g.shell("git clone " + command)
		}
	}
	g.expectShown(excerpts.importPlan, g.next("terraform plan"))
	if acc.Fenced.MatchString(g.text) {
		t.Errorf("the test does not follow all of the guide; left: %s", g.text)
	}
	g.shell("terraform apply")
	g.ExpectEmptyPlan()
}

// The test follows the guide's query with Terraform 1.14 or newer.
func TestAccQueryBringWhatExists(t *testing.T) {
	t.Parallel()
	acc.NeedQuery(t)
	h := acc.NewGitHost(t)
	h.Sample()
	g := newGuide(t, bringGuide, h)
	excerpts := readBringExcerpts(t)
	g.next(`data "kalypso_control_plane" "dev"`)
	g.next("terraform apply", "terraform init")
	g.next(`list "kalypso_cluster_type"`)
	g.expectShownResults(excerpts.query, h.Shown(g.next("terraform query")))
	g.expectShown(excerpts.queryPlan, g.next("terraform plan"))
	g.shell("terraform apply")
	if err := os.Remove(filepath.Join(g.Folder, "dev.tfquery.hcl")); err != nil {
		t.Fatal(err)
	}
	g.ExpectEmptyPlan()
}

// expectShownResults fails the test unless the guide shows all results of two lists, in their order.
func (g *guide) expectShownResults(want, out string) {
	g.T.Helper()
	var lists []string
	for _, of := range []string{"list.kalypso_cluster_type.", "list.kalypso_template."} {
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, of) {
				lists = append(lists, strings.Join(strings.Fields(line), " "))
			}
		}
	}
	diff := cmp.Diff(strings.Fields(want), strings.Fields(strings.Join(lists, "\n")))
	if diff != "" || len(lists) != 8 {
		g.T.Errorf("%d results (-guide +query):\n%s", len(lists), diff)
	}
}

// The lists return the results that the guide shows for the query. This test needs no Terraform with queries.
func TestListBringWhatExists(t *testing.T) {
	t.Parallel()
	h := acc.NewGitHost(t)
	h.Sample()
	session := (&acc.ProtocolRun{T: t, Config: h.Access()}).Start()
	var lines []string
	ofGuide := regexp.MustCompile(`(?m)^list "(\w+)" "dev"`)
	for _, list := range ofGuide.FindAllStringSubmatch(acc.ReadFile(t, bringGuide), -1) {
		results, ds := session.List(t.Context(), protocol.ListRequest{
			Type: list[1], Config: map[string]any{"repo": h.RepoURL("kalypso-control-plane"), "branch": "dev"}, Limit: 100,
			IncludeResource: true,
		})
		if len(ds) > 0 {
			t.Errorf("%s: %s", list[1], ds)
		}
		for _, r := range results {
			lines = append(lines, fmt.Sprintf("list.%s.dev   %s   %s\n", list[1], identityText(t, r), r.DisplayName))
		}
	}
	if len(lines) != 20 {
		t.Errorf("%d results", len(lines))
	}
	(&guide{Root: &acc.Root{T: t}}).expectShownResults(readBringExcerpts(t).query, h.Shown(strings.Join(lines, "")))
}

// identityText returns an identity as Terraform prints it.
func identityText(t *testing.T, r protocol.ListResult) string {
	t.Helper()
	var attributes map[string]tftypes.Value
	if err := r.Identity.As(&attributes); err != nil {
		t.Fatal(err)
	}
	var parts []string
	for name, v := range attributes {
		text := "<null>"
		if !v.IsNull() {
			if err := v.As(&text); err != nil {
				t.Fatal(err)
			}
		}
		parts = append(parts, name+"="+text)
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}
