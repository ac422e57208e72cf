package rendering_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// requiringFleet is the fleet of testdata/TestAccRequires.
type requiringFleet struct {
	Workloads         map[string]requiringWorkload `json:"workloads"`
	Guardrail         string                       `json:"guardrail"`
	OnAssignmentError string                       `json:"on_assignment_error"`
	YAML              bool                         `json:"yaml"` // the workloads are in manifests
}

// diagnostics matches the first warning or error of Terraform's output.
var diagnostics = regexp.MustCompile(`(?m)^(Warning|Error): `)

type requiringWorkload struct {
	On       string   `json:"on"`
	Requires []string `json:"requires"`
}

// TestAccRequires removes required deployment targets, and places them again. It also makes targets require each other.
func TestAccRequires(t *testing.T) {
	t.Parallel()
	r := &rendering{acc.NewRootFrom(t, filepath.Join("testdata", "TestAccRequires")), gitserver.InitBare(t)}
	r.Set("repo", r.repo)
	f := &requiringFleet{Guardrail: "error", OnAssignmentError: "fail"}
	place := func(pairs ...string) { // such as "web on all requires redis"
		f.Workloads = map[string]requiringWorkload{}
		for _, pair := range pairs {
			name, rest, _ := strings.Cut(pair, " on ")
			on, requires, _ := strings.Cut(rest, " requires ")
			f.Workloads[name] = requiringWorkload{on, append([]string{}, strings.Fields(requires)...)}
		}
		r.Write("fleet.json", acc.ToJSON(t, f))
	}
	expect := func(want string) { // folders on the branch, each with the required targets beside it
		t.Helper()
		var got []string
		for _, folder := range []string{"large/redis-main", "large/web-main", "small/redis-main", "small/web-main"} {
			if content := gitserver.Tree(t, r.repo, "dev")[folder+"/reconciler.yaml"]; content != "" {
				_, on, _ := strings.Cut(content, `on: "`)
				on, _, _ = strings.Cut(on, `"`)
				got = append(got, strings.TrimSpace(folder+" "+on))
			}
		}
		if d := cmp.Diff(want, strings.Join(got, ", ")); d != "" {
			t.Errorf("branch (-want +got):\n%s", d)
		}
	}
	expectPlan := func(name string) {
		t.Helper()
		o := r.Terraform("plan", "-no-color")
		text := devOverrides.ReplaceAllString(o.Stdout+o.Stderr, "")
		if at := diagnostics.FindStringIndex(text); at != nil { // the lines before it say how long each step took
			text = text[at[0]:]
		}
		acc.ExpectText(t, filepath.Join("testdata", "TestAccRequires", name), text)
	}
	const both = "large/redis-main, large/web-main redis-main, small/redis-main, small/web-main redis-main"

	place("redis on all", "web on all requires redis")
	r.Apply()
	r.ExpectEmptyPlan()
	expect(both)
	description := ""
	r.Output("description", &description)
	if !strings.Contains(description, "-->|requires|") {
		t.Errorf("the graph does not show the requirement:\n%s", description)
	}

	f.YAML = true // the annotation has the same requirement
	place("redis on all", "web on all requires redis")
	r.Apply()
	r.ExpectEmptyPlan()
	expect(both)
	f.YAML = false

	// The required target moves away, with each reaction.
	place("redis on large", "web on all requires redis")
	expectPlan("missing.txt")
	f.Guardrail = "warn"
	place("redis on large", "web on all requires redis")
	expectPlan("missing-warn.txt")
	f.Guardrail, f.OnAssignmentError = "error", "keep"
	place("redis on large", "web on all requires redis")
	r.Apply()
	r.ExpectEmptyPlan()
	expect("large/redis-main, large/web-main redis-main, small/web-main redis-main")
	r.expectFailing("small/web-main", "")
	var requires map[string][]string
	r.Output("requires", &requires)
	want := map[string][]string{"large/web-main": {"redis: redis-main"}, "small/web-main": {
		`redis: redis-main is not there. No scheduling policy places it there; the closest is "large". The cluster type is ` +
			`not selected: label "large" is missing and must be "yes".`}}
	if d := cmp.Diff(want, requires); d != "" {
		t.Errorf("kalypso_assignments (-want +got):\n%s", d)
	}

	// The required target is placed again.
	place("redis on all", "web on all requires redis")
	r.Apply()
	r.ExpectEmptyPlan()
	expect(both)
	r.expectFailing("", "")

	// The required workload is removed.
	f.OnAssignmentError = "fail"
	place("web on all requires redis")
	r.ExpectError([]string{"Required deployment targets are missing", `web-main on large, small requires workload "redis"`,
		`workload "redis" does not exist`}, "plan", "-no-color")

	// A cycle is an error, even with warn.
	f.Guardrail = "warn"
	place("redis on large requires web", "web on all requires redis")
	expectPlan("cycle.txt")
	expect(both)
}
