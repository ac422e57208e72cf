package fleetyaml_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// goWords match the words of Go's libraries in errors about YAML and JSON.
var goWords = regexp.MustCompile(`unmarshal|\bGo (struct|value)|json:|yaml:|!!\w|\w\.\w+(YAML|Spec)\b|struct|` +
	`interface|float64|\[\]|reflect`)

// A value of the wrong type, anywhere in an object of any kind, is reported in the words of YAML, with the field and
// its line. It never shows Go's types.
func TestWrongTypesInWordsOfYAML(t *testing.T) {
	const head = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: "
	documents := map[string]string{
		"ClusterType": "metadata: {name: large, labels: {a: b}, annotations: {x: y}}\nspec:\n  reconciler: flux\n" +
			"  namespaceService: default\n  configType: configmap\n",
		"Template": "metadata: {name: flux}\nspec:\n  type: reconciler\n  manifests:\n  - name: a\n    template: |\n" +
			"      a: b\n    contentType: yaml\n",
		"ConfigSchema": "metadata: {name: s}\nspec:\n  clusterTypes: [large]\n  schema: {type: object}\n",
		"SchedulingPolicy": "metadata: {name: p}\nspec:\n  deploymentTargetSelector:\n    workspace: shop\n" +
			"    labelSelector:\n      matchLabels: {a: b}\n  clusterTypeSelector:\n    labelSelector:\n" +
			"      matchLabels: {a: b}\n",
		"Workload": "metadata: {name: web}\nspec:\n  deploymentTargets:\n  - name: t\n    environment: dev\n" +
			"    labels: {a: b}\n    manifests: {repo: https://a.io/b, branch: dev, path: x}\n",
		"WorkloadRegistration": "metadata: {name: w}\nspec:\n  workload: {repo: https://a.io/b, branch: main, path: x}\n" +
			"  workspace: shop\n",
		"BaseRepo": "metadata: {name: b}\nspec: {repo: https://a.io/b, branch: main, path: ., commit: a}\n",
	}
	tried, reported := 0, 0
	for kind, rest := range documents {
		text := head + kind + "\n" + rest
		var root yaml.Node
		if err := yaml.Unmarshal([]byte(text), &root); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		var nodes []*yaml.Node
		collect(&root, &nodes)
		for _, n := range nodes {
			was := *n
			for _, other := range []string{"{k: v}", "[a, b]", "text", "12", "1.5", "true", "[[1]]", "[{k: v}]", "{k: {}}"} {
				var replaced yaml.Node
				if err := yaml.Unmarshal([]byte(other), &replaced); err != nil {
					t.Fatal(err)
				}
				*n = *replaced.Content[0]
				broken, err := yaml.Marshal(&root)
				*n = was
				if err != nil {
					continue
				}
				_, _, ps := fleetyaml.Parse(t.Context(), problem.Origin{Key: "fleet.yaml"}, string(broken))
				tried++
				for _, p := range ps {
					if p.Summary == "Invalid YAML" {
						reported++
					}
					said := p.Detail
					if found := goWords.FindString(said); found != "" {
						t.Errorf("%s, %q in place of line %d: %q in %s", kind, other, was.Line, found, said)
					}
					if p.Summary == "Invalid YAML" && !strings.Contains(said, "line ") {
						t.Errorf("%s, %q in place of line %d: no line in %s", kind, other, was.Line, said)
					}
				}
			}
		}
	}
	if tried < 500 || reported < 200 {
		t.Errorf("%d documents, %d broken", tried, reported)
	}
}

// Errors about YAML that JSON can't contain, and about the YAML of annotations, are in the words of YAML too.
func TestUnreadableInWordsOfYAML(t *testing.T) {
	const head = "# a\n---\napiVersion: scheduler.kalypso.io/v1alpha1\nkind: %s\nmetadata:\n  name: x\n"
	annotated := func(kind, name, value string) string {
		return fmt.Sprintf(head, kind) + "  annotations:\n    kalypso.io/" + name + ": " + value + "\nspec: {}\n"
	}
	workload := fmt.Sprintf(head, "Workload")
	for text, want := range map[string]string{
		workload + "spec:\n  [a]: b\n":            "line 8: a key is a list, and must be a string",
		workload + "spec:\n  {{ a }}: b\n":        "line 8: a key is a map, and must be a string",
		workload + "spec:\n  ? [a]\n  : b\n":      "line 8: a key is a list, and must be a string",
		workload + "spec:\n  ~: b\n":              "line 8: a key is null, and must be a string",
		workload + "spec:\n  x:\n  - .nan\n":      "line 9: .nan is no number that Kubernetes can read",
		workload + "spec:\n  x: -.INF\n":          "line 8: -.INF is no number that Kubernetes can read",
		workload + "spec:\n  a: b: c\n":           "line 8: mapping values are not allowed",
		workload + "spec: {deploymentTargets: x}": "line 7: spec.deploymentTargets: expected a list, got a string",
		annotated("SchedulingPolicy", "placement", `"{numberOfClusterTypes: [1]}"`): "numberOfClusterTypes: expected a " +
			"whole number, got a list",
		annotated("SchedulingPolicy", "placement", `"{names: {[a]: b}}"`): "line 1: a key is a list",
		annotated("ClusterType", "properties", `"{cpu: .inf}"`):           "line 1: .inf is no number",
		annotated("ClusterType", "taints", `"- key: [}"`):                 "kalypso.io/taints: did not find expected node",
		annotated("Workload", "requires", `"- {a: [b]}"`):                 "kalypso.io/requires: expected a map, got a list",
		fmt.Sprintf(head, "Template") + "spec: {manifests: [1, [2]]}":     "manifests: expected strings or objects, got 1",
	} {
		_, _, ps := fleetyaml.Parse(t.Context(), problem.Origin{Key: "fleet.yaml"}, text)
		if len(ps) != 1 || !strings.Contains(ps[0].Detail, want) || goWords.MatchString(ps[0].Detail) {
			t.Errorf("%q: %v, want %q", text, ps, want)
		}
	}
}

// collect collects the values of a document.
func collect(n *yaml.Node, all *[]*yaml.Node) {
	for i, child := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			*all = append(*all, child)
			collect(child, all)
		}
	}
}
