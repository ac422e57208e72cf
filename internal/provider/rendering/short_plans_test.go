package rendering_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// summaryLine matches a line of a plan that shows a changed line of a summary: the cluster type, and its new line.
var summaryLine = regexp.MustCompile(`(?m)^ +[~+-] "([a-z]+-[a-z]+)" += (?:"[^"]*" -> )?"([^"]*)"$`)

// summaryBlock matches the summary in a plan.
var summaryBlock = regexp.MustCompile(`(?ms)^      ~ summary .*?\n        }\n`)

// With preview = "summary", plans of a fleet with 12 cluster types and 15 workloads are short, and the lines of the
// summary are exactly the cluster types that change, also after the state was lost.
func TestAccShortPlans(t *testing.T) {
	t.Parallel()
	const address = "kalypso_environment_rendering.this"
	var all []string
	for _, region := range []string{"eastus", "northeurope", "westeurope", "westus"} {
		for _, size := range []string{"large", "medium", "small"} {
			all = append(all, region+"-"+size)
		}
	}
	inWestUS := []string{"westus-large", "westus-medium", "westus-small"}
	for form, bounds := range map[string]struct{ first, app, value int }{
		"resources": {1400, 150, 110},
		"inline":    {700, 60, 60},
	} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			r := acc.NewRoot(t, map[string]string{
				"terraform.tf": acc.TerraformBlock,
				"fleet.tf":     acc.ReadFile(t, "testdata/TestAccShortPlans/fleet.tf"),
				"main.tf":      acc.ReadFile(t, "testdata/TestAccShortPlans/"+form+".tf"),
			})
			repo := "file://" + gitserver.InitBare(t)
			variables := map[string]any{"repo": repo}
			set := func(name string, value any) {
				variables[name] = value
				r.Write("terraform.tfvars.json", acc.ToJSON(t, variables))
			}
			// expect plans, and compares the length of the plan, and the lines of its summary.
			expect := func(name string, bound int, change string, clusterTypes []string) string {
				t.Helper()
				out := r.Succeed("plan", "-no-color", "-out=plan").Stdout
				lines := strings.Count(out, "\n")
				t.Logf("%s: %d lines", name, lines)
				if lines > bound {
					t.Errorf("%s: the plan has %d lines, more than %d:\n%s", name, lines, bound, out)
				}
				got, want := map[string]string{}, map[string]string{}
				for _, found := range summaryLine.FindAllStringSubmatch(out, -1) {
					got[found[1]], _, _ = strings.Cut(found[2], ", tree")
				}
				for _, clusterType := range clusterTypes {
					want[clusterType] = change
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: summary (-want +got):\n%s", name, diff)
				}
				return out
			}
			set("repo", repo)
			expect("first", bounds.first, "15 targets", all)
			r.ApplyPlan()
			r.ExpectEmptyPlan()

			set("database_port", 5433)
			out := expect("a value of a region", bounds.value, "+0 -0 ~15, 15 targets", inWestUS)
			acc.ExpectText(t, "testdata/TestAccShortPlans/summary.txt", summaryBlock.FindString(out))
			r.ApplyPlan()
			r.ExpectEmptyPlan()

			set("more_workloads", []any{"reviews"})
			expect("one app", bounds.app, "+1 -0 ~0, 16 targets", all)
			r.ApplyPlan()
			r.ExpectEmptyPlan()
			set("log_level", "debug")
			expect("one value", bounds.value, "+0 -0 ~16, 16 targets", all)
			r.ApplyPlan()
			r.ExpectEmptyPlan()

			set("database_port", 5434)
			r.EmptyState()
			id := "dev@" + repo + "?ref=dev&preview=summary"
			r.Write("import.tf", fmt.Sprintf("import {\n  to = %s\n  id = %q\n}\n", address, id))
			expect("lost state", bounds.first, "+0 -0 ~16, 16 targets", inWestUS)
			c := r.Plan()[address]
			for _, attribute := range []string{"assignments", "folders", "files"} {
				if c.Before[attribute] != nil || c.After[attribute] != nil {
					t.Errorf("the plan shows %s", attribute)
				}
			}
			r.ApplyPlan()
			r.ExpectEmptyPlan()
			if got := slices.Sorted(maps.Keys(asMap(r.State()[address]["summary"]))); !slices.Equal(got, all) {
				t.Errorf("the summary has the cluster types %v", got)
			}
		})
	}
}
