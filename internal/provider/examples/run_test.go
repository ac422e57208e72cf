package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
)

// runExample runs the run.sh of an example from another folder, and returns its output by headline. The run's temporary
// folder is in temp, and is kept if keep is "1". The example of the control plane runs with the provider's binary, as
// users run all examples. The other examples use a provider of this process.
func runExample(t *testing.T, example, temp, keep string) map[string]string {
	t.Helper()
	acc.NeedTerraform(t)
	script, err := filepath.Abs(filepath.Join(acc.Examples, example, "run.sh"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), script)
	cmd.Dir = t.TempDir()
	attached := map[string]any{}
	if example != "control-plane" {
		attached = acc.ServeProvider(t)
	}
	cmd.Env = append([]string{
		"TF_REATTACH_PROVIDERS=" + acc.ToJSON(t, attached),
		"PATH=" + acc.TerraformFolder(t) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + t.TempDir(),
		"TMPDIR=" + temp,
		"KEEP=" + keep,
		"KALYPSO_PROVIDER=" + acc.ProviderBinary(t),
		"TF_WORKSPACE=of-the-caller", // run.sh must hide this variable from Terraform
		"GIT_DIR=/of/the/caller",     // and this one from Git
	}, acc.Collector...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	sections := map[string]string{}
	for section := range strings.SplitSeq("\n"+string(out), "\n=== ") {
		headline, text, _ := strings.Cut(section, "\n")
		sections[headline] = strings.TrimSpace(text)
	}
	return sections
}

// wantInSection fails the test unless a section contains all texts, ignoring spaces and line breaks.
func wantInSection(t *testing.T, sections map[string]string, headline string, texts ...string) {
	t.Helper()
	section := strings.Join(strings.Fields(sections[headline]), " ")
	for _, text := range texts {
		if !strings.Contains(section, text) {
			t.Errorf("under %q there is no %q:\n%s", headline, text, sections[headline])
		}
	}
}

// wantQuotes fails the test unless the output contains every paragraph that a guide shows as output. It ignores times
// and line breaks.
func wantQuotes(t *testing.T, guide, output string) {
	t.Helper()
	plain := func(text string) string {
		return strings.Join(strings.Fields(acc.TimeInPlan.ReplaceAllString(text, "<time>")), " ")
	}
	quotes := acc.Excerpts.FindAllStringSubmatch(acc.ReadFile(t, guide), -1)
	if len(quotes) == 0 {
		t.Errorf("%s shows no output", guide)
	}
	for _, quote := range quotes {
		for paragraph := range strings.SplitSeq(quote[1], "\n\n") {
			if !strings.Contains(plain(output), plain(paragraph)) {
				t.Errorf("%s shows what the example does not print:\n%s\nIt prints\n%s", guide, paragraph, output)
			}
		}
	}
}

// examples/control-plane adopts the operator's tree. The tree's files stay unchanged, and the record and the promoted
// commit are added. The next plan is empty, and run.sh removes its temporary folder.
func TestAccExampleControlPlane(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	sections := runExample(t, "control-plane", temp, "")

	operator := sections["The tree that the operator left"]
	if want := ".github/tracking/Promoted_Commit_Id\n.kalypso/rendering.json\n" + operator; sections["The tree"] != want {
		t.Errorf("the tree is\n%s\nand should be\n%s", sections["The tree"], want)
	}
	for _, file := range []string{
		"README.md", "large/shop-worker/reconciler.yaml", "small/README.md", "small/shop-web/platform-config.yaml",
	} {
		if !strings.Contains(operator+"\n", file+"\n") {
			t.Errorf("the operator left no %s:\n%s", file, operator)
		}
	}
	wantInSection(t, sections, "What became of the operator's", "2 files changed,", "insertions(+)")
	if strings.Contains(sections["What became of the operator's"], "deletion") {
		t.Errorf("the operator's files have changed:\n%s", sections["What became of the operator's"])
	}
	wantInSection(t, sections, "Plan", "Plan: 1 to add, 0 to change, 0 to destroy.", "Existing folders will be adopted")
	wantInSection(t, sections, "A plan with nothing changed", "No changes.")

	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("the run left %v (%v)", left, err)
	}
}

// examples/deployment-state follows a tree to two clusters: the verdict is pending while a report is missing, which is
// listed; it is success once both run the tree, and pending again when a cluster runs an older tree.
func TestAccExampleDeploymentState(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	sections := runExample(t, "deployment-state", temp, "1")
	buildBranches(t, temp)
	wantInSection(t, sections, "No cluster has reported", `verdict = "pending"`, "missing: drone-7", "missing: drone-8")
	wantInSection(
		t,
		sections,
		"One cluster runs it",
		`verdict = "pending"`,
		"1 of 2 clusters current",
		"missing: drone-8",
		`"current" = 1 "failed" = 0 "total" = 2`,
	)
	wantInSection(t, sections, "Both run it", `verdict = "success"`, "1 of 1 cluster types deployed", "problems = []")
	wantInSection(t, sections, "It is on its way", `verdict = "pending"`,
		"progressing: drone-8: it runs an older tree of the folder")
	wantInSection(t, sections, "A cluster does not get well", `verdict = "pending"`, "progressing: drone-8: unhealthy")
}

// examples/clusters follows clusters that join and leave. A cluster without a cluster type causes a warning; a cluster
// with a cluster type is expected to report.
func TestAccExampleClusters(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	sections := runExample(t, "clusters", temp, "1")
	buildBranches(t, temp)
	wantInSection(t, sections, "The store runs it", "1 cluster of 1 cluster type.", "problems = []",
		`"shop-web-0" = [ "store-1", ]`)
	wantInSection(t, sections, "A cluster joins without a cluster type", "Warning: Clusters without a cluster type",
		`unmatched = tolist([ "store-2", ])`, "2 clusters of 1 cluster type, 1 without a cluster type.", "problems = []")
	wantInSection(t, sections, "It gets a cluster type, and is expected", "1 of 2 clusters current",
		"missing: store-2: it is expected to follow the folder", `"shop-web-0" = [ "store-1", "store-2", ]`)
	wantInSection(t, sections, "It runs the tree", "2 of 2 clusters current", "problems = []")
	wantInSection(t, sections, "The first store leaves", "1 of 1 clusters current", "problems = []",
		`"shop-web-0" = [ "store-2", ]`)
}

// examples/rollout changes five cluster types in waves: a canary, quarters, a failure, an urgent skip and a rollback.
func TestAccExampleRollout(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	sections := runExample(t, "rollout", temp, "1")
	buildBranches(t, temp)
	wantInSection(
		t,
		sections,
		"The plan of a change",
		"(4 unchanged elements hidden)",
		`+ rollout_status = "stage canary, wave 1"`,
		"Plan: 0 to add, 1 to change, 0 to destroy.",
	)
	wantInSection(t, sections, "The canary", "delivered = false",
		"canary region: north east region: west north region: west")
	wantInSection(
		t,
		sections,
		"It waits: nothing changes",
		"No changes.",
		"The rollout waits",
		`Stage "canary" waits for:`,
	)
	wantInSection(t, sections, "A quarter of the rest", `"stage rest, wave 1"`, "east region: north north region: west")
	wantInSection(t, sections, "The next quarter", `"stage rest, wave 2"`, "north region: north south region: west")
	wantInSection(t, sections, "It fails: the rollout stops", "The rollout stopped", "north-1 failed:",
		"south region: west")
	wantInSection(t, sections, "A fixed fleet begins with the canary", "canary region: south east region: north")
	wantInSection(t, sections, "What was written before it failed comes first", "east region: south north region: north")
	wantInSection(t, sections, "It is urgent: everywhere at once", "delivered = true", "west region: south")
	wantInSection(t, sections, "Another change goes in waves again", "canary region: mars east region: south")
	wantInSection(t, sections, "It is reverted at once", "delivered = true", "canary region: south east region: south")
}

// examples/promotion promotes two commits from dev to prod. It stops a third commit that fails in stage, and still
// delivers prod's own change. It promotes a hotfix past the closed gate, and rolls it back. Commits that were rolled
// back do not return, but a newer commit is promoted.
func TestAccExamplePromotion(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	sections := runExample(t, "promotion", temp, "1")
	buildBranches(t, temp)
	wants := func(headline string, texts ...string) {
		t.Helper()
		wantInSection(t, sections, headline, texts...)
	}
	wants("Version one: dev takes it at once", "Plan: 1 to add, 0 to change, 0 to destroy.", `to environment "dev"`,
		"drone version: one")
	wants("Stage waits for dev", `Environment "stage" has no promoted commit`,
		`the verdict on environment "dev" is pending`)
	wants("Dev runs it: stage takes it", "Plan: 0 to add, 1 to change", `environment "dev" runs it: success`,
		"drone version: one")
	wants("Stage runs it: prod takes it", "Plan: 1 to add", "drone version: one")
	wants("Version two: prod", "Plan: 0 to add, 1 to change, 0 to destroy.", "drone version: two")
	wants("It fails in stage: prod stays, and its own change goes out", "Plan: 0 to add, 1 to change, 0 to destroy.",
		"1 newer commit waits", ": failure", "drone version: two kiosk version: two")
	wants("Version four is a hotfix: it needs no gate, and goes in waves", "approved: no gate is needed",
		"drone version: four kiosk version: two")
	wants("A pause: no further wave", "No changes.", "The rollout is paused", "drone version: four kiosk version: two")
	wants("The second wave", "Plan: 0 to add, 1 to change, 0 to destroy.", "drone version: four kiosk version: four")
	wants("Reject version four: prod is rolled back at once", `Roll back environment "prod"`,
		"Plan: 0 to add, 1 to change, 0 to destroy.", "drone version: two kiosk version: two")
	wants("What was rolled back does not come back", "No changes.", "2 commits skipped", "rolled back",
		"drone version: two kiosk version: two")
	wants("Version five: prod is closed over the holidays", "No changes.", "window: waits until ",
		"-02-01T00:00:00Z: holidays", "drone version: two kiosk version: two")
	wants("Version five: the first wave in prod", "drone version: five kiosk version: two")
	wants("Hold: nothing is written", "The environment is frozen", "Hold: an incident",
		"drone version: five kiosk version: two")
	wants("Version five: the second wave in prod", "drone version: five kiosk version: five")
	wants("Why prod runs it", `environment "stage" runs it: success`, "Promoted commit: ")
	wants("Break-glass: revert the last wave on the GitOps branch", "Drift: rendered folders changed outside Terraform",
		"The promotion would ")
	wants("Reject version five: the first wave is rolled back, too", `Roll back environment "prod"`,
		"drone version: two kiosk version: two")
	wants("Version six: the first wave in prod", "drone version: six kiosk version: two")
	wants("It breaks the clusters: prod is rolled back automatically", `Roll back environment "prod"`,
		"automatic rollback: ",
		`folder "drone" has been failing since `, "web is failed", "drone version: two kiosk version: two")
	wants("It runs: the record notes that, and version six does not come back",
		"Plan: 0 to add, 1 to change, 0 to destroy.", "rolled back", "drone version: two kiosk version: two")
}

// fixedHashes replaces the hashes of commits in a text, since they depend on the folder of the run. It also removes the
// spaces at the ends of lines.
func fixedHashes(text string) string {
	text = regexp.MustCompile(`\b[0-9a-f]{7,40}\b`).ReplaceAllString(text, "HASH")
	return strings.TrimSpace(regexp.MustCompile(`(?m) +$`).ReplaceAllString(text, ""))
}

// examples/observability runs a week of promotions, one of which fails, and shows the versions that clusters run, the
// history of prod, and dashboards and checks of the record. The guide What ran where and the README show its output.
func TestAccExampleObservability(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	sections := runExample(t, "observability", temp, "1")
	buildBranches(t, temp)
	wantInSection(t, sections, "Monday: prod runs 1.0", `"shop-web" = tomap({ "1.0" = 2 })`)
	wantInSection(t, sections, "Thursday: platform two failed and is rolled back, and the shop stays",
		`"shop-web" = tomap({ "1.1" = 2 })`)
	shown := fixedHashes(acc.ReadFile(t, "../../../docs/guides/what-ran-where.md") +
		acc.ReadFile(t, acc.Examples+"/observability/README.md"))
	for headline, language := range map[string]string{
		"Tuesday: the first cluster runs 1.1, without a commit of the platform": "text",
		"Wednesday: platform two fails in prod":                                 "text",
		"The week":                                                              "markdown",
	} {
		printed := fixedHashes(strings.TrimSuffix(sections[headline], "Kept: "+keptFolder(t, temp)))
		if !strings.Contains(shown, "```"+language+"\n"+printed+"\n```") {
			t.Errorf("neither the guide nor the README shows under %q\n%s", headline, printed)
		}
	}
	wantInSection(t, sections, "Tuesday: dev and prod run different versions",
		`"shop-web" = { "dev" = [ "1.0", ] "prod" = [ "1.0", "1.1", ] }`)
	if got := sections["Wednesday: what the checks say"]; got != "shop-web 1.1 fails on 2 clusters of prod." {
		t.Errorf("the checks say %q", got)
	}
	wantInSection(t, sections, "What a cluster runs", `"shop-web" = { "state" = "current" "version" = "1.1" }`)
	wantInSection(t, sections, "What the clusters ran",
		`"prod-1: 1.1 current", "prod-2: 1.1 current", "prod-1: 1.1 failed",`,
		`"prod-1: 1.0 current", "prod-2: 1.0 current", ]`)
	for _, row := range []string{"| promotion |", "| rollback |", "failed, restored 2025-03-06T09:00:00Z", "| first |"} {
		if !strings.Contains(sections["The week"], row) {
			t.Errorf("the history has no %s:\n%s", row, sections["The week"])
		}
	}
}

// keptFolder returns the temporary folder of a run that keeps it.
func keptFolder(t *testing.T, temp string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(temp, "kalypso-example.*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("the run left %v (%v)", found, err)
	}
	return found[0]
}

// In examples/broken-teams, two of three teams break their targets. The example keeps these targets until the teams fix
// them, and still delivers changes of the third team.
func TestAccExampleBrokenTeams(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	sections := runExample(t, "broken-teams", temp, "1")
	buildBranches(t, temp)
	wantInSection(t, sections, "All is well", "failed = {}", "orders path: ./orders region: west")
	wantInSection(t, sections, "A team breaks its data: the plan warns", "Warning: A deployment target fails to render",
		"prints a missing or null value", "large / orders-web: kept", "Plan: 0 to add, 1 to change, 0 to destroy.")
	wantInSection(t, sections, "The branch keeps its folder", `"large/orders-web" = "Template flux"`,
		"orders path: ./orders region: west")
	wantInSection(t, sections, "The others change", "large / orders-web: kept, failing since",
		"orders path: ./orders region: west stock path: ./stock region: north users path: ./users region: north")
	wantInSection(t, sections, "Another team breaks its schema", "Warning: 2 deployment targets fail to render",
		`"large/stock-web" = "Workload stock"`, "large / stock-web: kept", "missing property 'ZONE'",
		"orders path: ./orders region: west stock path: ./stock region: north users path: ./users region: south")
	wantQuotes(t, "../../../templates/guides/several-teams.md", sections["Another team breaks its schema"])
	wantInSection(t, sections, "Nothing is left to do, and the plan still warns", "No changes.",
		"2 deployment targets fail to render")
	wantInSection(t, sections, "The first team fixes it", "A deployment target fails to render",
		"orders path: ./orders/v2 region: south stock path: ./stock region: north")
	wantInSection(t, sections, "And the other", "failed = {}", "stock path: ./stock region: south")
	if strings.Contains(sections["And the other"], "Warning") {
		t.Errorf("there is still a warning:\n%s", sections["And the other"])
	}
}
