package engine_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// teamFleet returns a fleet of one target with these manifests, and with this template as its reconciler.
func teamFleet(template, contentType string, manifests map[string]string) *fleet.Fleet {
	return &fleet.Fleet{
		Environment:  "dev",
		ClusterTypes: []*fleet.ClusterType{{Meta: fleet.Meta{Name: "large"}, Reconciler: "r", NamespaceService: "n"}},
		Templates: []*fleet.Template{
			{
				Meta:        fleet.Meta{Name: "r"},
				Type:        fleet.TemplateReconciler,
				ContentType: contentType,
				Manifests:   []string{template},
			},
			{Meta: fleet.Meta{Name: "n"}, Type: fleet.TemplateNamespace,
				Manifests: []string{"kind: Namespace\nmetadata: {name: {{ .Namespace }}}"}},
		},
		Configs: []*fleet.Config{{
			Meta: fleet.Meta{Name: "c", Labels: map[string]string{fleet.PlatformConfigLabel: "true"}},
			Data: map[string]string{"SECRET": "of-the-platform", "T": "{{ .ClusterType }}", "F": "{{ .Manifests.repo }}"},
		}},
		Policies: []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "all"}}},
		Workloads: []*fleet.Workload{{Meta: fleet.Meta{Name: "app"}, Targets: []fleet.Target{
			{Name: "test", Environment: "dev", Manifests: manifests},
		}}},
	}
}

// TestTeamTextKeepsTheFile renders texts of a team that have a meaning in YAML, with and without quotes in the
// template. A text that changes the structure of a document is an error of the target, which names the text. A text
// that does not is rendered.
func TestTeamTextKeepsTheFile(t *testing.T) {
	const (
		plain  = "kind: Kustomization\nmetadata:\n  name: x\n  namespace: flux-system\nspec:\n  path: {{ .Manifests.path }}\n"
		quoted = "kind: Kustomization\nmetadata:\n  name: x\n  namespace: flux-system\nspec:\n  path: {{ .Manifests.path | " +
			"quote }}\n"
		flow   = "{kind: Kustomization, spec: {path: {{ .Manifests.path }}}, metadata: {name: x, namespace: flux-system}}\n"
		first  = "kind: Kustomization\n{{ .Manifests.path }}: x\nspec: {}\n"
		twice  = "kind: {{ .Manifests.path }}{{ .Manifests.repo }}\n"
		again  = "kind: K\nspec:\n  path: {{ .Manifests.path | quote }}\n  t: {{ .ConfigData.T }}\n"
		inside = "kind: K\nspec: {{ \"{{\" }} printf \"%s\" \"{{ .Manifests.path }}\" {{ \"}}\" }}\n"
		named  = "kind: K\nmetadata: {name: {{ .Manifests.path }}}\n"
		list   = "kind: List\nitems:\n- kind: A\n  metadata: {name: {{ .Manifests.path }}}\n"
	)
	tests := []struct {
		name, template, contentType, path, repo string
		want                                    string // in the file, or in the error
		fails                                   bool
	}{
		{"plain text", plain, "", "./apps/a b", "", "path: ./apps/a b", false},
		{"a comment", plain, "", "x # y", "", "path: x # y", false},
		{"a number sign in quotes", quoted, "", "x # y", "", `path: "x # y"`, false},
		{"a colon", plain, "", "a: b", "", "but does with plain texts", true},
		{"a colon in quotes", quoted, "", "a: b", "", `path: "a: b"`, false},
		{"quotes in quotes", quoted, "", `a" b: "c`, "", `path: "a\" b: \"c"`, false},
		{"an alias", plain, "", "*x", "", "but does with plain texts", true},
		{"a list", plain, "", "[a", "", "but does with plain texts", true},
		{"another namespace", flow, "", "x}, metadata: {namespace: kube-system}, y: {a: b", "", "duplicate key", true},
		{"another kind in the spec", flow, "", "x, kind: Secret", "", `spec.kind "Secret"`, true},
		{"a namespace after the name", named, "", "x, namespace: kube-system", "", `metadata.namespace "kube-system"`, true},
		{"a kind in a list", list, "", "x}, kind: Secret, y: {a: b", "", "did not find expected key", true},
		{"another document", first, "", "--- #", "", "it renders 2 documents, but 1 with plain texts", true},
		{"a document's end", first, "", "... #", "", "but does with plain texts", true},
		{"no documents, with plain texts", "text {{ .Manifests.path }}", "", "a # b", "",
			"not even with plain texts: document 1 is not a map", true},
		{"letters beyond ASCII", "text {{ .Manifests.path }}", "", "ümläut 東京", "", "text ümläut 東京", false},
		{"a text that is not printed", "text {{ .Manifests.repo }}", "", "a # b: [", "x", "text x", false},
		{"a text in a shell script", "export A='{{ .Manifests.path }}'", "sh", "a # b: [", "", "export A='a # b: ['", false},
		{"two texts that make a template", twice, "", "{", "{ .ConfigData.SECRET }}",
			"contains a template that it does not contain with plain texts", true},
		{
			"two texts that make a template, in shell",
			"x={{ .Manifests.path }}{{ .Manifests.repo }}",
			"sh",
			"{",
			"{ .ConfigData.SECRET }}",
			"contains a template that it does not contain with plain texts",
			true,
		},
		{"a text next to a value that contains a template", again, "", "a } b", "", "t: large", false},
		{"a text inside a template of the platform that ends its quotes", inside, "", `" .ConfigData.SECRET "`, "",
			"contains a template that it does not contain with plain texts", true},
		{"a plain text inside a template of the platform", inside, "", "abc", "", "spec: abc", false},
		{
			"a text that the template in a config value prints",
			"kind: K\nspec:\n  a: {{ .ConfigData.F }}\n",
			"",
			"x",
			"a: [b",
			"but does with plain texts",
			true,
		},
		{
			"a text that only JSON quotes correctly",
			"kind: K\nspec: {{ (mustFromJson .Manifests.path).a }}",
			"",
			`{"a": 1}`,
			"",
			"it fails with plain texts",
			true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := teamFleet(tt.template, tt.contentType, map[string]string{"path": tt.path, "repo": tt.repo})
			made, problems := engine.Run(t.Context(), f, engine.Options{})
			err := problems.Err()
			if tt.fails {
				switch {
				case err == nil:
					t.Fatal("no error")
				case !strings.Contains(err.Error(), tt.want),
					!strings.Contains(err.Error(), "large / app-test"),
					!strings.Contains(err.Error(), "manifests["):
					t.Errorf("%v\ndoes not contain %q, the target and the texts", err, tt.want)
				case strings.Contains(err.Error(), "of-the-platform"):
					t.Errorf("%v contains a value of the platform", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var files strings.Builder
			for f := range made.Tree.Files(0) {
				files.Write(f.Content)
			}
			if !strings.Contains(files.String(), tt.want) {
				t.Errorf("%s\ndoes not contain %q", files.String(), tt.want)
			}
		})
	}
}
