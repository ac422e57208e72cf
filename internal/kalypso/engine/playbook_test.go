package engine_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// playbooks are templates of Ansible, as Kalypso's own sample has them: lists, which no cluster can apply.
const playbooks = `apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata:
  name: flux
spec:
  type: reconciler
  contentType: CONTENT
  manifests:
    - |
      ---
      - hosts: localhost
        tasks:
        - name: pull the playbooks of {{ .DeploymentTargetName }}
          cron: {name: "{{ .Namespace }}", job: "ansible-pull -C {{ .Manifests.branch }} site.yml"}
    - |
      - hosts: all
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata:
  name: ns
spec:
  type: namespace
  contentType: CONTENT
  manifests:
    - |
      - hosts: localhost
        tasks:
        - ansible.builtin.user: {name: "{{ .DeploymentTargetName }}"}
`

// TestPlaybooks renders files that contain no Kubernetes objects. With the content type text they pass the strictest
// guardrails without a warning, and have the names and bytes of YAML files. Without it they are invalid.
func TestPlaybooks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ contentType, want string }{
		{"text", ""}, {"yaml", "Rendered file is invalid"}, {`""`, "Rendered file is invalid"},
		{"toml", "Rendered file is invalid"},
	} {
		f := fluxFleet("x")
		f.Duplicates, f.Invalid, f.Templates = problem.Fail, problem.Fail, nil
		f.Workloads[0].Targets[1].Manifests["branch"] = "release: 1" // not plain
		text := strings.ReplaceAll(playbooks, "CONTENT", tt.contentType)
		objects, _, problems := fleetyaml.Parse(t.Context(), problem.Origin{}, text)
		for _, o := range objects {
			if template, ok := o.(*fleet.Template); ok {
				f.Templates = append(f.Templates, template)
			}
		}
		result, more := f.run(t.Context())
		problems = append(problems, more...)
		if tt.want != "" {
			if !problems.HasErrors() || !strings.Contains(problems.Error(), tt.want) &&
				!strings.Contains(problems.Error(), "does not render Kubernetes objects") {
				t.Errorf("%s: %v", tt.contentType, problems)
			}
			continue
		}
		if len(problems) > 0 {
			t.Fatalf("%s: %v", tt.contentType, problems)
		}
		var files []string
		for file := range result.Tree.TargetFiles(0, 0) {
			files = append(files, file.Path)
			if file.Path == "reconciler.yaml" && !strings.Contains(string(file.Content), "site.yml\"}\n---\n- hosts: all\n") {
				t.Errorf("the reconciler is %s", file.Content)
			}
		}
		if got := strings.Join(files, " "); got != "namespace.yaml platform-config.yaml reconciler.yaml" &&
			got != "namespace.yaml reconciler.yaml" {
			t.Errorf("files: %s", got)
		}
	}
}

// TestLiteralBraces: the escapes that the documentation of a template names render braces that no template reads.
func TestLiteralBraces(t *testing.T) {
	t.Parallel()
	f := fluxFleet("x")
	f.Templates[1].Manifests[0] += "  annotations:\n    t: \"\\x7b\\x7b .Namespace }}\"\n"
	result, problems := f.run(t.Context())
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	found := 0
	for file := range result.Tree.Files(0) {
		if !strings.Contains(string(file.Content), "annotations") {
			continue
		}
		var namespace struct {
			Metadata struct{ Annotations map[string]string }
		}
		if err := yaml.Unmarshal(file.Content, &namespace); err != nil {
			t.Fatal(err)
		}
		found++
		if namespace.Metadata.Annotations["t"] != "{{ .Namespace }}" {
			t.Errorf("%s contains\n%s", file.Path, file.Content)
		}
	}
	if found == 0 {
		t.Error("no file has the annotation")
	}
}
