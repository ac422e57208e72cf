package fleetyaml_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// requiring returns a Workload with this annotation. It has the target main in dev and prod, and the target edge in
// dev.
func requiring(annotation string) string {
	return fmt.Sprintf(`apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata:
  name: web
  annotations: {kalypso.io/requires: %q}
spec:
  deploymentTargets:
  - {name: main, environment: dev}
  - {name: main, environment: prod}
  - {name: edge, environment: dev}
`, annotation)
}

// TestRequiresYAML: the annotation is read, and written again. A key with an environment takes precedence over a key
// without. It is only written if the requirements differ between environments.
func TestRequiresYAML(t *testing.T) {
	redis := []fleet.Requirement{{Workload: "redis"}}
	auth := []fleet.Requirement{
		{Workload: "auth", DeploymentTarget: "eu"}, {MatchLabels: map[string]string{"provides": "ingress"}},
	}
	for _, tt := range []struct {
		name, annotation  string
		dev, prod, edge   []fleet.Requirement
		written, warnings string
	}{
		{name: "requirement by name", annotation: "main: [{workload: redis}]", dev: redis, prod: redis,
			written: "main:\n- workload: redis\n"},
		{name: "all fields", annotation: "edge: [{workload: auth, deploymentTarget: eu}, {matchLabels: {provides: ingress}}]",
			edge: auth, written: "edge:\n- deploymentTarget: eu\n  workload: auth\n- matchLabels:\n    provides: ingress\n"},
		{name: "different requirements in two environments",
			annotation: "{main: [{workload: redis}], dev/main: [{workload: " +
				"auth, deploymentTarget: eu}, {matchLabels: {provides: ingress}}]}", dev: auth, prod: redis,
			written: "dev/main:\n- deploymentTarget: eu\n  workload: auth\n- matchLabels:\n    provides: ingress\n" +
				"prod/main:\n- workload: redis\n"},
		{name: "no requirements in one environment", annotation: "{main: [{workload: redis}], prod/main: []}", dev: redis,
			written: "dev/main:\n- workload: redis\n"},
		{name: "a target that does not exist", annotation: "{mian: [{workload: redis}]}",
			warnings: "metadata.annotations[kalypso.io/requires].mian"},
		{name: "empty annotation", annotation: "{}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			objects, _, ps := fleetyaml.Parse(t.Context(), problem.Origin{}, requiring(tt.annotation))
			if len(objects) != 1 || ps.HasErrors() || (len(ps) == 0) != (tt.warnings == "") ||
				len(ps) > 0 && !strings.Contains(ps[0].Detail, tt.warnings) {
				t.Fatalf("%d objects, %v", len(objects), ps)
			}
			w, _ := objects[0].(*fleet.Workload)
			for i, want := range [][]fleet.Requirement{tt.dev, tt.prod, tt.edge} {
				if d := cmp.Diff(want, w.Targets[i].Requires); d != "" {
					t.Errorf("target %d (-want +got):\n%s", i, d)
				}
			}
			text, err := fleetyaml.Marshal(w)
			if err != nil {
				t.Fatal(err)
			}
			_, annotation, _ := strings.Cut(text, "kalypso.io/requires: |\n")
			annotation, _, _ = strings.Cut(annotation, "\n  name: web")
			annotation = strings.ReplaceAll("\n"+annotation, "\n      ", "\n")
			if got := strings.TrimPrefix(annotation+"\n", "\n"); strings.TrimSpace(got) != strings.TrimSpace(tt.written) {
				t.Errorf("the written annotation is %q, want %q", got, tt.written)
			}
			again, _, ps := fleetyaml.Parse(t.Context(), problem.Origin{}, text)
			if len(ps) > 0 {
				t.Fatal(ps)
			}
			if d := cmp.Diff(w, again[0]); d != "" {
				t.Errorf("read again (-first +again):\n%s", d)
			}
		})
	}
}

// TestRequiresProblems: each mistake in a requirement is an error at its path, and a fault of the team.
func TestRequiresProblems(t *testing.T) {
	many := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("{workload: w%d}", i))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	for _, tt := range []struct{ name, annotation, want string }{
		{"empty requirement", "edge: [{workload: redis}, {}]",
			`metadata.annotations[kalypso.io/requires][1] Empty requirement: Requirement 2 of deployment target "edge" is ` +
				`empty. Set workload or matchLabels, or remove it.`},
		{"target without a workload", "edge: [{deploymentTarget: eu}]",
			`metadata.annotations[kalypso.io/requires][0].workload Requirement without a workload: Requirement 1 of ` +
				`deployment target "edge" names the deployment target "eu", but no workload. Set workload too.`},
		{"invalid name", "edge: [{workload: Redis}]",
			`metadata.annotations[kalypso.io/requires][0].workload Invalid name in a requirement: Requirement 1 of deployment ` +
				`target "edge": "Redis" is not valid`},
		{"invalid label", "edge: [{matchLabels: {a: b c}}]",
			`metadata.annotations[kalypso.io/requires][0].matchLabels["a"] Invalid value of label "a"`},
		{"too many requirements", "edge: " + many(33),
			`metadata.annotations[kalypso.io/requires] Too many requirements: Deployment ` +
				`target "edge" has 33 requirements; at most 32 are allowed.`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			objects, _, ps := fleetyaml.Parse(t.Context(), problem.Origin{Key: "a"}, requiring(tt.annotation))
			if len(ps) > 0 {
				t.Fatal(ps)
			}
			f := &fleet.Fleet{Environment: "dev"}
			f.Add(objects...)
			ps = f.Validate(t.Context())
			if len(ps) != 1 {
				t.Fatal(ps)
			}
			p := ps[0]
			if got := fleet.YAMLPath(p) + " " + p.Summary + ": " + p.Detail; !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
			want := []problem.AffectedTarget{{Name: "web-edge"}}
			if d := cmp.Diff(want, p.Affects); d != "" || p.Fault != problem.TeamFault || p.Severity != problem.Error {
				t.Errorf("affected targets of %v (-want +got):\n%s", p, d)
			}
		})
	}
}

// TestTooManyDifferentRequirements: a Workload has a bounded number of different requirements.
func TestTooManyDifferentRequirements(t *testing.T) {
	for n, want := range map[int]bool{256: false, 257: true} {
		w := &fleet.Workload{Meta: fleet.Meta{Name: "web"}}
		for i := range n {
			w.Targets = append(w.Targets, fleet.Target{
				Name: fmt.Sprint("t", i), Environment: "dev",
				Requires: []fleet.Requirement{{Workload: fmt.Sprint("w", i)}, {Workload: "w0"}},
			})
		}
		ps := w.Validate()
		if got := len(ps) > 0; got != want || got && ps[0].Summary != "Too many requirements" {
			t.Errorf("%d different requirements: %v", n, ps)
		}
	}
}
