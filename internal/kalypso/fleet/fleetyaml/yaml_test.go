package fleetyaml_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

const kalypso = "apiVersion: scheduler.kalypso.io/v1alpha1\n"

// TestParse checks the objects that are found in texts of several documents, with their documents and lines, and the
// number of skipped objects.
func TestParse(t *testing.T) {
	object := kalypso + "kind: ClusterType\nmetadata: {name: %s}\nspec: {reconciler: r, namespaceService: s}\n"
	named := func(name string) string { return fmt.Sprintf(object, name) }
	tests := []struct {
		name, text string
		want       []string // kind, name, document and line
		skipped    int
	}{
		{"empty text", "", nil, 0},
		{"only comments", "# a\n---\n# b\n---\n\n", nil, 0},
		{"one document", named("a"), []string{"ClusterType a 1 1"}, 0},
		{
			"several documents",
			named("a") + "---\n" + named("b") + "--- # the third\n" + named("c"),
			[]string{"ClusterType a 1 1", "ClusterType b 2 5", "ClusterType c 3 10"},
			0,
		},
		{"empty documents before and after an object", "---\n---\n# x\n---\n" + named("a") + "---\n---\n",
			[]string{"ClusterType a 1 4"}, 0},
		{
			"CRLF",
			strings.ReplaceAll(named("a")+"---\n"+named("b"), "\n", "\r\n"),
			[]string{"ClusterType a 1 1", "ClusterType b 2 5"},
			0,
		},
		{
			"byte order marks",
			"\ufeff---\n" + named("a") + "---\n\ufeff" + named("b"),
			[]string{"ClusterType a 1 1", "ClusterType b 2 6"},
			0,
		},
		{
			"directive and document end",
			"%YAML 1.1\n---\n" + named("a") + "...\n" + named("b") + "... # end\n---\n" + named("c"),
			[]string{"ClusterType a 1 2", "ClusterType b 2 8", "ClusterType c 3 13"},
			0,
		},
		{
			"JSON",
			`{"apiVersion": "scheduler.kalypso.io/v1alpha1", "kind": "ClusterType", "metadata": {"name": "a"}}`,
			[]string{"ClusterType a 1 1"},
			0,
		},
		{
			"document that begins on its marker's line",
			"--- {apiVersion: scheduler.kalypso.io/v1alpha1, kind: ClusterType, " +
				"metadata: {name: a}}\n",
			[]string{"ClusterType a 1 1"},
			0,
		},
		{
			"a line of text that begins with dashes",
			kalypso + "kind: Template\nmetadata: {name: a}\nspec:\n  type: config\n " +
				" manifests:\n  - |\n    a\n    ---\n    b\n",
			[]string{"Template a 1 1"},
			0,
		},
		{"List", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: scheduler.kalypso.io/v1alpha1, kind: Workload, " +
			"metadata: {name: a}}\n- {apiVersion: v1, kind: Secret}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n",
			[]string{"Workload a 1 1", "ConfigMap c 1 1"}, 1},
		{
			"other kinds",
			"apiVersion: v1\nkind: Secret\n---\n" + kalypso + "kind: Environment\n---\n" + kalypso + "kind: ConfigMap\n---\n" +
				"apiVersion: example.com/v1\nkind: Workload\n---\nfoo: bar\n---\nkind: 3\n---\n~\n",
			nil,
			7,
		},
		{"anchors and merge keys", kalypso + "kind: Workload\nmetadata: {name: a, labels: &l {x: v}}\nspec:\n  " +
			"deploymentTargets:\n  - {name: t, environment: dev, labels: {<<: *l, z: w}}\n", []string{"Workload a 1 1"}, 0},
		{
			"other versions of the group",
			"apiVersion: scheduler.kalypso.io/v1beta1\nkind: Template\nmetadata: {name: a}\n",
			[]string{"Template a 1 1"},
			0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			objects, skipped, problems := fleetyaml.Parse(t.Context(), problem.Origin{Attribute: "manifests", Key: "f.yaml"},
				tt.text)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			var got []string
			for _, o := range objects {
				m := o.Metadata()
				got = append(got, fmt.Sprint(o.Kind(), " ", m.Name, " ", m.Origin.Document, " ", m.Origin.Line))
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("objects (-want +got):\n%s", d)
			}
			if skipped != tt.skipped {
				t.Errorf("%d skipped, want %d", skipped, tt.skipped)
			}
		})
	}
}

// TestParseFails checks that each broken document is reported, with its number, line and field.
func TestParseFails(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"all broken documents", "a: [\n---\nok: 1\n---\n\n\tb: 1\n",
			[]string{"Document 1 (line 1) can't be read: line 1: did not find expected node content",
				"Document 3 (line 4) can't be read: line 6: found character that cannot start any token"}},
		{"a duplicate key", "# c\na: 1\na: 2\n", []string{`line 3: key "a" already set in map`}},
		{"unknown anchor", "a: *b\n", []string{"unknown anchor 'b' referenced"}},
		{
			"a document that is no object",
			"- a\n---\ntext\n---\n3\n",
			[]string{"it is a list, not an object", "it is a string, not an object", "it is a number, not an object"},
		},
		{"label that is no text", "a: b\n---\n" + kalypso + "kind: ClusterType\nmetadata:\n  name: a\n  labels:\n    x: " +
			"v\n    edge: true\n",
			[]string{`ClusterType "a": line 9: metadata.labels.edge: expected a string, got a bool; quote it to make it a ` +
				`string`}},
		{"label of a target that is no text", kalypso + "kind: Workload\nmetadata: {name: a}\nspec:\n  " +
			"deploymentTargets:\n  - name: b\n    labels: {zone: '1'}\n  - name: c\n    labels:\n      zone: 1\n",
			[]string{"line 10: spec.deploymentTargets.labels.zone: expected a string, got a number"}},
		{
			"map for a list",
			kalypso + "kind: Workload\nmetadata: {name: a}\nspec:\n  deploymentTargets:\n    name: b\n",
			[]string{"line 6: spec.deploymentTargets: expected a list, got a map"},
		},
		{"string for a map", kalypso + "kind: Workload\nmetadata: {name: a}\nspec: b\n",
			[]string{"line 4: spec: expected a map, got a string"}},
		{"config value that is no text", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  " +
			"metadata: {name: c}\n  data:\n    A: '1'\n    B: 8080\n", []string{`ConfigMap "c": line 9: data.B: expected a ` +
			`string, got a number`}},
		{"name that is no text by YAML 1.1, in the second object of a List",
			"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  " +
				"kind: Service\n  metadata: {name: ok}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: no\n",
			[]string{"line 10: metadata.name: expected a string, got a bool"}},
		{"manifest that is neither text nor object", kalypso + "kind: Template\nmetadata: {name: a}\nspec: {manifests: " +
			"[3]}\n", []string{`Template "a": manifests: expected strings or objects, got 3`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			objects, _, problems := fleetyaml.Parse(
				t.Context(),
				problem.Origin{Attribute: "manifests", Key: "f.yaml"},
				tt.text,
			)
			if len(objects) > 0 {
				t.Errorf("objects were found: %v", objects)
			}
			if len(problems) != len(tt.want) {
				t.Fatalf("%d problems, want %d: %v", len(problems), len(tt.want), problems)
			}
			for i, p := range problems {
				if !errors.Is(p, fleetyaml.ErrYAML) || p.Origin.Key != "f.yaml" || p.Origin.Line == 0 {
					t.Errorf("%#v is not an ErrYAML with its origin", p)
				}
				if !strings.Contains(p.Detail, tt.want[i]) {
					t.Errorf("%q\ndoes not contain %q", p.Detail, tt.want[i])
				}
			}
		})
	}
}

// TestParseUnknownFields checks that each field that a kind does not have causes a warning, since a selector with a
// misspelled field could select everything. The names of fields are case-sensitive, as for the API server. Fields that
// clusters add to an object cause no warning.
func TestParseUnknownFields(t *testing.T) {
	const selector = "clusterTypeSelector: {labelSelector: {%s: {a: b}}}"
	tests := []struct {
		name, kind, text string
		want             string // the fields that the warning lists; empty if there must be no warning
	}{
		{"no unknown fields", "SchedulingPolicy",
			"metadata: {name: a}\nspec: {" + fmt.Sprintf(selector, "matchLabels") + "}\n", ""},
		{
			"fields that clusters add",
			"ClusterType",
			"metadata: {name: a, namespace: n, uid: x, generation: 2, creationTimestamp: " +
				"null, annotations: {a: b}, managedFields: [{manager: m}], ownerReferences: [{kind: K}], finalizers: [f], " +
				"resourceVersion: '1'}\nstatus: {conditions: []}\n",
			"",
		},
		{"nested fields", "SchedulingPolicy", "metadata: {name: a}\nspec: {" + fmt.Sprintf(selector, "matchLabel") + "}\n",
			"spec.clusterTypeSelector.labelSelector.matchLabel"},
		{"several fields", "Workload", "metadata: {name: a, label: {x: v}}\nspec:\n  deploymentTargets:\n" +
			"  - {name: t, env: dev}\n  - {name: u, env: dev, path: x}\n  targets: []\nextra: 1\n",
			"extra metadata.label spec.deploymentTargets[0].env spec.deploymentTargets[1].env " +
				"spec.deploymentTargets[1].path spec.targets"},
		{
			"a field in upper case",
			"ClusterType",
			"metadata: {name: a}\nspec: {RECONCILER: r, namespaceService: s}\n",
			"spec.RECONCILER",
		},
		{
			"a field twice, in different cases",
			"ClusterType",
			"metadata: {name: a}\nspec: {configType: right, configtype: wrong}\n",
			"spec.configtype",
		},
		{"metadata and spec with a capital", "ClusterType",
			"Metadata: {name: b}\nmetadata: {name: a, Labels: {x: v}}\nSpec: {reconciler: r}\n",
			"Metadata Spec metadata.Labels"},
		{"a field of a selector with a capital", "SchedulingPolicy",
			"metadata: {name: a}\nspec: {" + fmt.Sprintf(selector, "MatchLabels") + "}\n",
			"spec.clusterTypeSelector.labelSelector.MatchLabels"},
		{"fields of a ConfigMap", "ConfigMap",
			"metadata: {name: a}\nbinaryData: {}\nimmutable: true\nData: {A: b}\nspec: {}\n",
			"Data spec"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := kalypso + "kind: " + tt.kind + "\n" + tt.text
			if tt.kind == "ConfigMap" {
				text = "apiVersion: v1\nkind: ConfigMap\n" + tt.text
			}
			objects, _, problems := fleetyaml.Parse(t.Context(), problem.Origin{Attribute: "manifests", Key: "f.yaml"}, text)
			if len(objects) != 1 || problems.HasErrors() {
				t.Fatalf("%d objects, problems %v", len(objects), problems)
			}
			got := ""
			for _, p := range problems {
				if p.Summary != "Unknown fields" || p.Name != "a" || p.Origin.Line != 1 {
					t.Errorf("%+v", p)
				}
				for line := range strings.Lines(p.Detail) {
					if field, ok := strings.CutPrefix(line, "  "); ok {
						got = strings.TrimSpace(got + " " + field)
					}
				}
			}
			if got != tt.want {
				t.Errorf("unknown fields %q, want %q", got, tt.want)
			}
			switch o := objects[0].(type) {
			case *fleet.ClusterType:
				if o.Reconciler != "" || o.ConfigType != "" && o.ConfigType != "right" || len(o.Labels) > 0 {
					t.Errorf("misspelled fields were read: %+v", o)
				}
			case *fleet.Config:
				if len(o.Data) > 0 {
					t.Errorf("misspelled fields were read: %+v", o)
				}
			}
		})
	}
}

// TestParseUnknownKind checks that a misspelled kind in Kalypso's group causes a warning, since the plan would remove
// its objects. Kinds that only the operator reads, and kinds of other groups, cause none.
func TestParseUnknownKind(t *testing.T) {
	objects, skipped, problems := fleetyaml.Parse(t.Context(), problem.Origin{Attribute: "manifests", Key: "f.yaml"},
		"apiVersion: apps/v1\nkind: ClusterTyp\n---\n"+kalypso+"kind: Environment\n---\n"+kalypso+"kind: ClusterTyp\n")
	if len(objects) != 0 || skipped != 3 || len(problems) != 1 || problems.HasErrors() {
		t.Fatalf("%d objects, %d skipped, problems %v", len(objects), skipped, problems)
	}
	want := `Kalypso has no kind "ClusterTyp", so document 3 (line 6) is skipped. Check the spelling.`
	if problems[0].Detail != want {
		t.Errorf("%q, want %q", problems[0].Detail, want)
	}
}

// TestParseFieldsInOtherCase checks that a document of Kalypso causes a warning if its fields kind or apiVersion are
// written in another case.
func TestParseFieldsInOtherCase(t *testing.T) {
	objects, skipped, problems := fleetyaml.Parse(t.Context(), problem.Origin{Attribute: "manifests", Key: "f.yaml"},
		"Kind: Secret\napiVersion: v1\n---\nKind: ClusterType\n"+kalypso+
			"---\nkind: Workload\nAPIVersion: scheduler.kalypso.io/v1alpha1\n")
	if len(objects) != 0 || skipped != 3 || len(problems) != 2 || problems.HasErrors() {
		t.Fatalf("%d objects, %d skipped, problems %v", len(objects), skipped, problems)
	}
	for i, at := range []string{"Document 2 (line 3)", "Document 3 (line 6)"} {
		want := at + " is skipped: the fields apiVersion and kind must be written in exactly this case. " +
			"Correct the case to make it a " + []string{"ClusterType", "Workload"}[i] + "."
		if problems[i].Detail != want {
			t.Errorf("%q, want %q", problems[i].Detail, want)
		}
	}
}

// TestAddSkipsForeignConfigMaps checks which ConfigMaps are part of a fleet.
func TestAddSkipsForeignConfigMaps(t *testing.T) {
	f := &fleet.Fleet{}
	for name, labels := range map[string]map[string]string{
		"platform": {"platform-config": "true"}, "no": {"platform-config": "false"}, "other": nil, "azure-app-config-1": nil,
		"label-unknown": {"platform-config": unknown.Text}, "labels-unknown": {unknown.Text: unknown.Text},
		unknown.Text: nil,
	} {
		f.Add(&fleet.Config{Meta: fleet.Meta{Name: name, Labels: labels}})
	}
	f.Sort()
	var got []string
	for _, c := range f.Configs {
		got = append(got, c.Name)
	}
	if d := cmp.Diff(
		[]string{unknown.Text, "azure-app-config-1", "label-unknown", "labels-unknown", "platform"},
		got,
	); d != "" {
		t.Errorf("configs (-want +got):\n%s", d)
	}
}
