package engine_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

var update = flag.Bool("update", false, "write the expected problems to testdata")

// brokenFleet is the base fleet with one mistake of each kind, as far as they can occur together.
const brokenFleet = base + `
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: broken}
spec: {type: reconciler, manifests: ["ok", "a\n{{ if }}"]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: missing}
spec: {type: reconcile, manifests: ["a\nb: {{ .Labels.edge }}"]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: small}
spec: {reconciler: missing, namespaceService: gone, configType: r}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: Big_One, labels: {"-": x, ok: "not ok"}}
spec: {reconciler: r}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: ../escape}
spec: {reconciler: r, namespaceService: "n"}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: with.dot}
spec: {reconciler: r, namespaceService: "n"}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: a-name-so-long-that-with-the-others-it-is-over-the-limit}
spec: {reconciler: r, namespaceService: "n"}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata: {name: odd}
spec:
  deploymentTargetSelector:
    labelSelector: {matchExpressions: [{key: a, operator: Near, values: [b]}, {key: a, operator: In}]}
  clusterTypeSelector: {labelSelector: {matchLabels: {a: "b c"}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: values, labels: {platform-config: "true"}}
data: {PORT: "none", "a key": x, EXTRA: "1"}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ConfigSchema
metadata: {name: strict}
spec: {schema: '{"properties": {"PORT": {"type": "integer"}}, "required": ["HOST"]}'}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ConfigSchema
metadata: {name: outside}
spec: {schema: '{"$ref": "file:///etc/passwd"}'}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: app-te}
spec:
  configSchemas: ['{"type": "strange"}']
  deploymentTargets:
  - {name: st, environment: dev}
  - {name: st, environment: dev}
  - {name: st, environment: stage, configSchemas: ['broken, but of another environment']}
  - {name: none}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: app-test}
spec: {deploymentTargets: [{name: x, environment: stage}]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: other}
spec: {deploymentTargets: [{name: ../../etc, environment: stage}, {name: x, environment: dev}]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: other-x}
spec: {deploymentTargets: [{name: "y", environment: dev}]}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: other}
spec: {deploymentTargets: [{name: x-y, environment: dev}]}
`

// TestProblems checks that a run reports all problems of a fleet at once, each with its object and origin. Their order
// must not depend on the order of the input.
func TestProblems(t *testing.T) {
	const golden = "testdata/problems.txt"
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 20 {
		f := read(t, "dev", brokenFleet)
		if n > 0 {
			shuffle(f, r)
		}
		built, problems := build(t.Context(), f)
		if built != nil {
			t.Fatal("a broken fleet has a tree")
		}
		var got strings.Builder
		for _, p := range problems {
			if p.Severity == problem.Warning {
				got.WriteString("warning: ")
			}
			got.WriteString(p.Error() + "\n\n")
		}
		if *update && n == 0 {
			if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); d != "" {
			t.Fatalf("problems in order %d of the input (-want +got):\n%s", n, d)
		}
	}
}

// TestProblemOfManyAssignments checks that a fault of many assignments is one problem, which lists the first of them.
func TestProblemOfManyAssignments(t *testing.T) {
	f := read(t, "dev", base)
	f.Templates[0].Manifests = []string{"{{ .Labels.none }}"}
	for i := range 150 {
		f.Workloads[0].Targets = append(
			f.Workloads[0].Targets,
			fleet.Target{Name: fmt.Sprintf("t%03d", i), Environment: "dev"},
		)
	}
	_, problems := build(t.Context(), f)
	if len(problems) != 1 {
		t.Fatalf("%d problems: %v", len(problems), problems)
	}
	detail := problems[0].Detail
	for _, want := range []string{"Affected assignments (151)", "\n  large / app-t000\n", "and 51 more"} {
		if !strings.Contains(detail, want) {
			t.Errorf("%q does not contain %q", detail, want)
		}
	}
}
