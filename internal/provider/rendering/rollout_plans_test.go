package rendering_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// maxWavePlanLines limits the lines that Terraform prints for the resource and for warnings at a step of a rollout.
const maxWavePlanLines = 40

// TestAccRolloutPlans compares the plans of examples/rollout with the recorded plans, which the guide Waves shows.
func TestAccRolloutPlans(t *testing.T) {
	t.Parallel()
	r := acc.NewExample(t, filepath.Join(acc.Examples, "rollout"))
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "prod", map[string]string{"README.md": "The fleet's GitOps repo.\n"})
	reports := t.TempDir()
	r.Env = append(r.Env, "TF_VAR_gitops_url=file://"+repo, "TF_VAR_reports="+reports)
	set := func(name, value string) { r.Env = append(r.Env, "TF_VAR_"+name+"="+value) }
	report := func(state string, clusterTypes ...string) {
		t.Helper()
		for _, name := range clusterTypes {
			text, err := json.Marshal(map[string]string{
				"cluster": name + "-1", "folder": name, "revision": "prod@sha1:" + gitserver.Rev(t, repo, "prod"), "state": state,
				"time": time.Now().UTC().Format(time.RFC3339), "message": "web is " + state,
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(reports, name+".json"), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	shows := func(name string, code int, args ...string) {
		t.Helper()
		time.Sleep(time.Second) // observed_at has whole seconds, and the plan shows it if it changed
		o := r.Terraform(append([]string{"plan", "-no-color", "-detailed-exitcode"}, args...)...)
		if o.Code != code {
			t.Errorf("%s: exit code %d\n%s\n%s", name, o.Code, o.Stdout, o.Stderr)
		}
		text := commitInPlan.ReplaceAllString(acc.Printed(o.Stdout), "${1}<commit>")
		text = acc.TimeInPlan.ReplaceAllString(text, "<time>")
		acc.ExpectText(t, filepath.Join("testdata", "TestAccRolloutPlans", name+".txt"), text)
		if _, resource, ok := strings.Cut(text, "will perform the following actions:\n\n"); ok {
			text, _, _ = strings.Cut(resource, "\nPlan: ")
		}
		if lines := strings.Count(text, "\n"); lines >= maxWavePlanLines {
			t.Errorf("the plan %s has %d lines, and should have less than %d:\n%s", name, lines, maxWavePlanLines, text)
		}
	}
	const empty, changes = 0, 2

	set("in_waves", "false")
	r.Apply()
	report("current", "canary", "east", "north", "south", "west")
	set("in_waves", "true")
	r.Apply()
	set("region", "north")
	shows("canary", changes)
	r.Apply()
	shows("waits", empty)
	report("current", "canary")
	shows("next_wave", changes)
	shows("rollback", changes, "-var=region=west")
	r.Apply()
	report("current", "east")
	target := acc.As[string](r.State()["kalypso_environment_rendering.prod"]["target_tree_hash"])
	shows("skip", changes, "-var=skip="+target)
	report("failed", "east")
	time.Sleep(time.Second)
	shows("failure", empty, "-var=progress_deadline=1s")
}
