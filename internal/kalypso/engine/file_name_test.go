package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// TestFileName: a template may set the name of its file, in YAML by an annotation. It is an error if two files of a
// target have the same name.
func TestFileName(t *testing.T) {
	t.Parallel()
	const def = "namespace.yaml platform-config.yaml reconciler.yaml"
	for _, tt := range []struct {
		name          string
		flux, ns      string // the file names that the two templates set
		change        func(*fleet.Fleet)
		files, errors string
	}{
		{name: "no file names", files: def},
		{name: "a name for the reconciler only", flux: "zarf.yaml", files: "namespace.yaml platform-config.yaml zarf.yaml"},
		{name: "a name for both files", flux: "a", ns: "b.txt", files: "a b.txt platform-config.yaml"},
		{name: "a name that is a number in YAML", flux: "1.0", files: "1.0 namespace.yaml platform-config.yaml"},
		{name: "two files with exchanged names", flux: "namespace.yaml", ns: "reconciler.yaml", files: def},
		{name: "two files with the same name", flux: "a.yaml", ns: "a.yaml", errors: `both render the file "a.yaml"`},
		{name: "two names that differ only in case", flux: "a.yaml", ns: "A.yaml", errors: `both render the file "A.yaml"`},
		{name: "the default name of another file", flux: "namespace.yaml",
			errors: `The templates of reconciler and namespace_service both render`},
		{name: "the name of the built-in config's file", flux: "platform-config.yaml",
			errors: `of reconciler and config_type both render`},
		{name: "the name of the built-in secret's file", flux: "platform-secret.yaml",
			errors: `of reconciler and secret_type both render`},
		{name: "one template for two files", flux: "a.yaml", errors: `both render the file "a.yaml"`,
			change: func(f *fleet.Fleet) { f.ClusterTypes[0].ConfigType = "flux" }},
		{name: "a path", flux: "a/b.yaml", errors: `"a/b.yaml" is not the name of a file`},
		{name: "the parent folder", flux: "..", errors: "is not the name of a file"},
		{name: "a hidden file", flux: ".a", errors: "is not the name of a file"},
		{name: "a name that is too long", flux: strings.Repeat("a", 101), errors: "is not the name of a file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := fluxFleet("a")
			f.Duplicates = problem.Ignore
			f.Workloads[0].Targets = f.Workloads[0].Targets[:1]
			f.Templates[0].FileName, f.Templates[1].FileName = tt.flux, tt.ns
			if tt.change != nil {
				tt.change(f.Fleet)
			}
			result, problems := f.run(t.Context())
			if tt.errors != "" {
				if !problems.HasErrors() || !strings.Contains(problems.Error(), tt.errors) {
					t.Errorf("problems: %v", problems)
				}
				return
			}
			if problems.HasErrors() {
				t.Fatal(problems)
			}
			var files []string
			for file := range result.Tree.TargetFiles(0, 0) {
				files = append(files, file.Path)
			}
			if got := strings.Join(files, " "); got != tt.files || !slices.IsSorted(files) {
				t.Errorf("files: %s", got)
			}
			text, err := fleetyaml.Marshal(f.Templates[0])
			objects, _, ps := fleetyaml.Parse(t.Context(), problem.Origin{}, text)
			if err != nil || len(ps) > 0 || objects[0].(*fleet.Template).FileName != tt.flux { //nolint:forcetypeassert // it is
				t.Errorf("%v, %v: %s", err, ps, text)
			}
		})
	}
}
