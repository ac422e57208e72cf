package deployment_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// Two environments that the CLI delivered are compared: targets, placements, config values without secrets, promoted
// commits. Bad input is an error at its argument, and nothing is written.
func TestAccComparison(t *testing.T) {
	t.Parallel()
	r := acc.NewRootFrom(t, "testdata/TestAccComparison")
	base, gitops := gitserver.InitBare(t), gitserver.InitBare(t)
	var promoted []string
	for i := range 3 {
		promoted = append(promoted, gitserver.Seed(t, base, "main", map[string]string{"a": fmt.Sprint(i)}))
	}
	repos := map[string]any{"gitops": "file://" + gitops, "base": "file://" + base}
	token := "gh" + "p_" + strings.Repeat("aB3", 12)
	set := func(stage, prod, arguments map[string]any) {
		t.Helper()
		r.Write("terraform.tfvars.json", acc.ToJSON(t, map[string]any{"repos": repos, "arguments": arguments,
			"environments": map[string]any{"stage": stage, "prod": prod}}))
	}
	environment := func(types, workloads, value, commit string) map[string]any {
		return map[string]any{"types": strings.Fields(types), "workloads": strings.Fields(workloads), "value": value,
			"commit": commit}
	}
	stage := environment("stage-large medium", "app new", "west", promoted[2])
	stage["token"] = token
	prod := environment("prod-large small", "app old", "east", promoted[0])
	set(stage, prod, map[string]any{"ignore": []string{"*.ENVIRONMENT"}, "base": "main",
		"match": map[string]any{"prod-large": "stage-large"}})
	r.Apply()
	var got map[string]any
	r.Output("comparison", &got)
	pair := func(left, right any) map[string]any { return map[string]any{"left": left, "right": right} }
	want := map[string]any{
		"promoted":   map[string]any{"left": promoted[2], "right": promoted[0], "commits": 2.0},
		"targets":    pair([]any{"new-web"}, []any{"old-web"}),
		"placements": map[string]any{"app-web": pair([]any{"medium"}, []any{"small"})},
		"configs": map[string]any{"app-web": map[string]any{"stage-large": map[string]any{
			"REGION": pair("west", "east"), "TOKEN": pair("(hidden)", "none")}}},
		"files": map[string]any{}, "equal": false,
		"summary": "## `stage` and `prod`\n\n**Promoted commit:** `" + promoted[2][:7] + "`, `" + promoted[0][:7] +
			"`; `stage` is 2 commits ahead\n\n### Deployment targets\n\n- only in `stage`: `new-web`\n" +
			"- only in `prod`: `old-web`\n\n### Placement\n\n- `app-web`: only in `stage`: `medium`; only in `prod`: `small`\n" +
			"\n### Config values\n\n- `REGION`: `west` → `east` in `stage-large/app-web`\n" +
			"- `TOKEN`: `(hidden)` → `none` in `stage-large/app-web`\n",
	}
	for name := range want {
		if diff := cmp.Diff(want[name], got[name]); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	if state := r.Succeed("show", "-json").Stdout; strings.Contains(strings.Split(state, "kalypso_comparison")[1], token) {
		t.Error("the comparison contains the secret")
	}
	r.ExpectEmptyPlan()
	var page string
	r.Output("page", &page)
	for _, text := range []string{"Differences", "REGION", "west", "east", "new-web"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q", text)
		}
	}

	// Environments that differ only in their names and promoted commits are equal.
	stage, prod = environment("large", "app", "west", promoted[1]), environment("large", "app", "west", promoted[0])
	set(stage, prod, map[string]any{"ignore": []string{"*.ENVIRONMENT"}})
	r.Apply()
	r.Output("comparison", &got)
	if got["equal"] != true {
		t.Errorf("not equal: %s", got["summary"])
	}

	// Bad input.
	gitserver.Seed(t, gitops, "foreign", map[string]string{"a": "b"})
	gitserver.Seed(t, gitops, "newer", map[string]string{"clusters/" + acc.RecordPath: `{"version": 99}`})
	before := gitserver.Git(t, gitops, "for-each-ref")
	for _, tt := range []struct {
		arguments map[string]any
		want      []string
	}{
		{map[string]any{"right": "stage"}, []string{"Both sides are the same rendering", "right = "}},
		{map[string]any{"right": "nowhere"}, []string{"Branch not found", "right = "}},
		{map[string]any{"right": "foreign"}, []string{"No rendering on the branch", "right = "}},
		{map[string]any{"right": "newer"},
			[]string{"The rendering's record is newer than the provider", "right = "}},
		{map[string]any{"ignore": []string{"REGION"}}, []string{"Invalid key", "ignore ="}},
		{map[string]any{"match": map[string]any{"a": "large", "b": "large"}}, []string{"Cluster type matched twice"}},
		{map[string]any{"base": "nowhere-://"}, []string{"Invalid branch name"}},
	} {
		set(stage, prod, tt.arguments)
		r.ExpectError(tt.want, "plan", "-no-color")
	}
	if after := gitserver.Git(t, gitops, "for-each-ref"); after != before {
		t.Errorf("a plan wrote to the repo:\n%s\n%s", before, after)
	}
}
