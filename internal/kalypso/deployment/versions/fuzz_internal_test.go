package versions

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
)

// manifestSeeds are files of teams.
var manifestSeeds = []string{
	"apiVersion: hub.kalypso.io/v1\nkind: DeploymentDescriptor\nspec: {workload: {name: a}, deploymentTarget: {name: b, " +
		"environment: dev}, workloadVersion: {version: \"1\\e[2J\", buildTime: 2026-01-01T00:00:00+14:00}}\n",
	"metadata: {labels: {app.kubernetes.io/version: 1}}\nspec: {containers: [{image: r:80/a:1@sha256:0}, {image: b}]}\n",
	"kind: List\nitems: [{kind: List, items: [{containers: [{image: a:1}]}]}, null, [], x]\n", "a: &a [*a]", "\xff", "? [",
	"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: k, namespace: f}\nspec: {path: " +
		"../../x, sourceRef: {kind: GitRepository, name: g}}\n---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: " +
		"GitRepository\nmetadata: {name: g, namespace: f}\nspec: {url: \"https://u:canary-0123456789@x/y?a=b\", " +
		"ref: {branch: m}}\n",
	"apiVersion: argoproj.io/v1\nkind: Application\nmetadata: {name: a}\nspec: {sources: [{chart: c, repoURL: oci://x}, " +
		"{path: /a//b/.., repoURL: 'ssh://git:canary-0123456789@x/y', targetRevision: HEAD}]}\n",
	"apiVersion: argoproj.io/v1\nkind: Application\nspec: {sourceHydrator: {drySource: {repoURL: a}, " +
		"syncSource: {path: b}}}\n",
	"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: &m {name: *m}\nspec: {chart: {spec: " +
		"{chart: c}}}\n",
}

// FuzzParse: the version of a target that files of teams state is the same the second time, and each of its texts is
// one short printable line.
func FuzzParse(f *testing.F) {
	for i, text := range manifestSeeds {
		f.Add([]byte(text), []byte(manifestSeeds[(i+1)%len(manifestSeeds)]))
	}
	f.Fuzz(func(t *testing.T, one, other []byte) {
		files := map[string][]byte{"a.yaml": one, "b.yaml": other}
		m, err := parse(files)
		if err != nil {
			return
		}
		again, _ := parse(files)
		if diff := cmp.Diff(m, again, cmp.AllowUnexported(Manifests{}, descriptor{})); diff != "" {
			t.Errorf("the second time:\n%s", diff)
		}
		versions := []observation.Version{m.Version("a-b", "dev"), {Version: m.label, Build: m.tag}}
		for _, d := range m.descriptors {
			versions = append(versions, d.version)
		}
		for _, v := range versions {
			for _, text := range []string{v.Version, v.Workload, v.Application, v.Workspace, v.Build} {
				if text != deployment.OneLine(text) && !strings.HasSuffix(text, "…") || len([]rune(text)) > 301 ||
					!utf8.ValidString(text) {
					t.Errorf("the text %q is shown", text)
				}
			}
		}
	})
}

// FuzzFind: the objects of Flux and Argo CD in files of teams are found in the same order again. The path of each is
// below the root of its repo, and its URL contains no password and no query.
func FuzzFind(f *testing.F) {
	for i, text := range manifestSeeds {
		f.Add([]byte(text), []byte(manifestSeeds[(i+1)%len(manifestSeeds)]))
	}
	f.Fuzz(func(t *testing.T, one, other []byte) {
		files := map[string][]byte{"a.yaml": one, "b.yaml": other}
		found := Find(files)
		if diff := cmp.Diff(found, Find(files)); diff != "" {
			t.Errorf("the second time:\n%s", diff)
		}
		sorted := slices.IsSortedFunc(found, func(a, b Object) int {
			return strings.Compare(a.Reference.String(), b.Reference.String())
		})
		if !sorted {
			t.Errorf("the objects are not sorted: %v", found)
		}
		for _, o := range found {
			chart := o.Reference.Kind != "Kustomization"
			if p := o.Place; !chart && p.Path != clean(p.Path) || strings.HasPrefix(p.Repo, "https://u:") {
				t.Errorf("%s is synced from %+v", o.Reference, p)
			}
			if again := withoutSecrets(o.Place.Repo); again != o.Place.Repo {
				t.Errorf("the URL %q still has a secret: %q", o.Place.Repo, again)
			}
		}
	})
}
