package versions_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/versions"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
)

// descriptor returns a DeploymentDescriptor of a workload's target in an environment.
func descriptor(workload, target, environment, version string) string {
	return fmt.Sprintf(`apiVersion: hub.kalypso.io/v1alpha1
kind: DeploymentDescriptor
metadata: {name: %s}
spec:
  workload: {name: %[1]s, application: {name: shop, workspace: {name: team}}}
  deploymentTarget: {name: %s, environment: %s}
  workloadVersion: {version: %q, build: "77", commit: abc, buildTime: "2026-01-31T13:00:00+01:00"}
`, workload, target, environment, version)
}

func deploymentYAML(label string, images ...string) string {
	var containers []string
	for i, image := range images {
		containers = append(containers, fmt.Sprintf("{name: c%d, image: %q}", i, image))
	}
	labels := ""
	if label != "" {
		labels = ", labels: {app.kubernetes.io/version: " + label + "}"
	}
	return fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web%s}\n"+
		"spec: {template: {spec: {containers: [%s]}}}\n", labels, strings.Join(containers, ", "))
}

// TestVersion: the version of the target hello-web in prod comes from its descriptor, or else from labels, or else from
// the tags of images.
func TestVersion(t *testing.T) {
	t.Parallel()
	whole := observation.Version{
		Version: "1.2.3", Workload: "hello", Application: "shop", Workspace: "team", Build: "77",
		BuiltAt: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC),
	}
	other := whole
	other.Workload, other.Version = "other", "9"
	ours := descriptor("hello", "web", "prod", "1.2.3")
	none := observation.Version{}
	for name, test := range map[string]struct {
		files []string
		want  observation.Version
	}{
		"no files":                 {nil, none},
		"descriptor of the target": {[]string{ours, deploymentYAML("4", "x:5")}, whole},
		"two descriptors, one of the environment": {[]string{descriptor("hello", "web", "stage", "2"), ours}, whole},
		"single descriptor with another name":     {[]string{descriptor("other", "x", "dev", "9")}, other},
		"two descriptors with other names": {[]string{descriptor("a", "b", "c", "1"), descriptor("d", "e",
			"f", "2")}, none},
		"two descriptors with different versions": {[]string{ours, descriptor("hello", "web", "prod", "2")}, none},
		"two descriptors with the same version":   {[]string{ours, "# again\n" + ours}, whole},
		"descriptor with a later API version":     {[]string{strings.Replace(ours, "v1alpha1", "v2", 1)}, whole},
		"descriptor with another API group": {[]string{strings.Replace(ours, "hub.kalypso.io", "hub.acme.io",
			1)}, none},
		"same label in two objects": {[]string{deploymentYAML("4.0", "x:5"), deploymentYAML("4.0"), deploymentYAML("")},
			observation.Version{Version: "4.0"}},
		"different labels, same tag of the images": {
			[]string{deploymentYAML("4.0", "x:5"), deploymentYAML("4.1", "reg:80/y:5@sha256:ab")},
			observation.Version{Version: "5"},
		},
		"images with different tags": {[]string{deploymentYAML("", "x:5", "y:6")}, none},
		"image without a tag":        {[]string{deploymentYAML("", "x:5", "reg:80/y")}, none},
		"broken files": {
			[]string{"a: [", "{{ if x }}", deploymentYAML("", "x:5")}, observation.Version{Version: "5"},
		},
		"version of two lines": {[]string{deploymentYAML(`"a\nb"`)}, observation.Version{Version: "a b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string][]byte{}
			for i, text := range test.files {
				files[fmt.Sprint(i, ".yaml")] = []byte(text)
			}
			m, err := versions.Parse(files)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, m.Version("hello-web", "prod")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestBombs: texts that expand or nest deeply take time only in proportion to their size.
func TestBombs(t *testing.T) {
	t.Parallel()
	aliases := "a0: &a0 {image: x:1}\n"
	for i := range 40 {
		aliases += fmt.Sprintf("a%d: &a%d [*a%d, *a%[3]d, *a%[3]d, *a%[3]d, *a%[3]d]\n", i+1, i+1, i)
	}
	for name, text := range map[string]string{
		"nested aliases":     "apiVersion: v1\nkind: List\n" + aliases + "items: *a40\n",
		"alias of itself":    "apiVersion: v1\nkind: List\nitems: &a [*a]\n",
		"nested lists":       strings.Repeat("[", 1<<20),
		"nested maps":        strings.Repeat("{a: ", 1<<20),
		"nested keys":        strings.Repeat("? ", 1<<20),
		"indented lists":     strings.Repeat("- ", 1<<20),
		"long line":          strings.Repeat("a", 16<<20),
		"too many documents": strings.Repeat("---\na: b\n", 1<<17),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := time.Now()
			m, err := versions.Parse(map[string][]byte{"x.yaml": []byte(text), "y.yaml": []byte(deploymentYAML("7"))})
			switch got := m.Version("a", "b").Version; {
			case name == "too many documents":
				if !errors.Is(err, versions.ErrDocuments) || got != "" {
					t.Errorf("got %q, %v", got, err)
				}
			case err != nil || got != "7":
				t.Errorf("got %q, %v", got, err)
			}
			took := time.Since(begun)
			t.Logf("%s", took.Round(time.Millisecond))
			if took > 30*time.Second {
				t.Errorf("reading took %s", took)
			}
		})
	}
}
