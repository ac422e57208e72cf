package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// printing returns a fleet of two cluster types and three deployment targets whose config template is the text.
func printing(text string) *fleet.Fleet {
	f := &fleet.Fleet{
		Environment: "dev",
		Policies:    []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "all"}}},
		Templates: []*fleet.Template{
			{Meta: fleet.Meta{Name: "files"}, Type: fleet.TemplateReconciler},
			{Meta: fleet.Meta{Name: "config"}, Type: fleet.TemplateConfig, Manifests: []string{text}},
		},
		Configs: []*fleet.Config{{
			Meta: fleet.Meta{Name: "c", Labels: map[string]string{fleet.PlatformConfigLabel: "true"}},
			Data: map[string]string{"J": `{"a": 1}`, "L": "[a, b]", "S": "text"},
		}},
	}
	for _, name := range []string{"east", "west"} {
		f.ClusterTypes = append(f.ClusterTypes, &fleet.ClusterType{
			Meta: fleet.Meta{Name: name}, Reconciler: "files", NamespaceService: "files", ConfigType: "config",
		})
	}
	w := &fleet.Workload{Meta: fleet.Meta{Name: "app"}}
	for i := range 3 {
		w.Targets = append(w.Targets, fleet.Target{
			Name: fmt.Sprint(i), Environment: "dev", Manifests: map[string]string{"path": fmt.Sprint("./", i)},
		})
	}
	f.Workloads = []*fleet.Workload{w}
	return f
}

// TestPrintedInGoForm checks that a template warns once of a value that it prints in Go's form for all assignments, and
// that the bytes stay.
func TestPrintedInGoForm(t *testing.T) {
	built, problems := build(t.Context(), printing(
		`{{ .ConfigData.J | quote }} {{ .ConfigData.S | quote }} {{ range $k, $v := .ConfigData }}{{ print $v }}{{ end }}`))
	var found problem.Problems
	for _, p := range problems {
		if strings.Contains(p.Summary, "Go's form") {
			found = append(found, p)
		}
	}
	if len(found) != 1 || found.HasErrors() || found[0].Name != "config" {
		t.Fatalf("problems: %v", problems)
	}
	if want := problem.IndentedList([]string{".ConfigData.J", ".ConfigData.L"}, problem.MaxListed); !strings.Contains(
		found[0].Detail, ":\n"+want+"\n") || !strings.Contains(found[0].Detail, "toJson, toYaml or stringify") {
		t.Errorf("the warning says %s", found[0].Detail)
	}
	for f := range built.TargetFiles(0, 0) {
		if want := `"map[a:1]" "text" map[a:1][a b]text`; f.Path == "platform-config.yaml" && string(f.Content) != want {
			t.Errorf("the file contains %s, want %s", f.Content, want)
		}
	}
}

// TestPrintedMissingValue checks that the error of a missing value in a function names the action, the template, the
// line, the key and the assignments.
func TestPrintedMissingValue(t *testing.T) {
	_, problems := build(t.Context(), printing("a: 1\npath: {{ .Manifests.pth | quote }}\n"))
	err := fmt.Sprint(problems.Err())
	for _, want := range []string{
		`manifest 1 of template "config"`,
		"line 2: {{ .Manifests.pth | quote }} prints a missing or null value, .Manifests.pth",
		"Affected assignments (6)", "east / app-0",
	} {
		if !strings.Contains(strings.ToLower(err), strings.ToLower(want)) {
			t.Errorf("%s\ndoes not contain %s", err, want)
		}
	}
}
