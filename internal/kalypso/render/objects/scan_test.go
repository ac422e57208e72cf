package objects_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/objects"
)

// lines returns a line of text for each object.
func lines(found []objects.Object) (all []string) {
	for _, o := range found {
		all = append(all, fmt.Sprintf("%d: %s %s %s/%s", o.Document, o.APIVersion, o.Kind, o.Namespace, o.Name))
	}
	return all
}

func TestScan(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"an empty text", "", nil},
		{"comments", "# one\n---\n# two\n", nil},
		{"an object", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: b\ndata: {}\n",
			[]string{"1: v1 ConfigMap b/a"}},
		{"quotes, comments and Windows' line ends",
			"---\r\napiVersion: \"apps/v1\" # yes\r\nkind: 'Deployment'\r\n\r\nmetadata: # of it\r\n    name: a # b\r\n",
			[]string{"1: apps/v1 Deployment /a"}},
		{"metadata first, and labels with the names of fields",
			"metadata:\n  labels:\n    name: x\n    namespace: y\n  finalizers:\n  - name: z\n  name: a\nkind: " +
				"K\napiVersion: g/v1\n",
			[]string{"1: g/v1 K /a"}},
		{"texts that look like objects",
			"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  f: |\n    ---\n    kind: Secret\n    metadata:\n" +
				"      name: b\n",
			[]string{"1: v1 ConfigMap /a"}},
		{"several documents", "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n---\n---\n# nothing\n--- # next\napiVersion: " +
			"v1\nkind: B\n" +
			"metadata:\n  name: b", []string{"1: v1 A /a", "2: v1 B /b"}},
		{"lines of dashes",
			"apiVersion: v1\nkind: A\nmetadata:\n  name: a\n  namespace: b\nspec:\n- -----\n-----: c\n- - - d\n" +
				"----\n---\n\n---\tx\n", []string{"1: v1 A b/a", "2:   /"}},
		{"lines that look like separators", "apiVersion: v1\nkind: A\nmetadata:\n  name: a\nspec:\n---b: 1\n" +
			"c: |\n  ---\n  d\n---\n" +
			"apiVersion: v1\nkind: B\nmetadata:\n  name: b\nspec: {}\n---\n", []string{"1: v1 A /a", "2: v1 B /b"}},
		{"JSON", `{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a", "namespace": "n"}}`, []string{"1: v1 A n/a"}},
		{"a document in flow style and one in block style",
			"apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\napiVersion: v1\nkind: B\nmetadata:\n  name: b\n",
			[]string{"1: v1 A /a", "2: v1 B /b"}},
		{"content on the separator", "--- {apiVersion: v1, kind: A, metadata: {name: a}}\n--- {apiVersion: v1, kind: B}\n",
			[]string{"1: v1 A /a", "2: v1 B /"}},
		{"anchors and folded texts", "apiVersion: &v v1\nkind: >-\n  A\nmetadata:\n  namespace: *v\n  name: a\n",
			[]string{"1: v1 A v1/a"}},
		{"a merge key", "x: &x\n  namespace: n\napiVersion: v1\nkind: A\nmetadata:\n  <<: *x\n  name: a\n",
			[]string{"1: v1 A n/a"}},
		{"a text in quotes over two lines",
			"apiVersion: v1\nkind: A\nmetadata:\n  annotations:\n    a: \"x\n  namespace: y\"\n  name: a\n",
			[]string{"1: v1 A /a"}},
		{"a list", "apiVersion: v1\nkind: ConfigMapList\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n" +
			"    name: a\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: b\n",
			[]string{"1: v1 ConfigMap /a", "1: v1 ConfigMap /b"}},
		{"an object without apiVersion, kind and metadata", "name: a\nnamespace: b\n", []string{"1:   /"}},
		{"no YAML", "a: b\n- c\n", []string{"1:   /"}},
		{"a scalar", "no object\n---\napiVersion: v1\nkind: A\nmetadata:\n  name: a\n",
			[]string{"1:   /", "2: v1 A /a"}},
		{"a list at the top", "- a\n- b\n", []string{"1:   /"}},
		{"a key twice", "apiVersion: v1\nkind: A\nkind: B\nmetadata:\n  name: a\n",
			[]string{"1:   /"}},
		{"a name that begins a list", "apiVersion: v1\nkind: A\nmetadata:\n  name: -\n", []string{"1:   /"}},
		{"an open quote", "apiVersion: v1\nkind: \"A\nmetadata:\n  name: a\n",
			[]string{"1:   /"}},
		{"a Namespace with a namespace, in any order of keys",
			"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n  namespace: b\n---\n" +
				"metadata:\n  namespace: b\n  name: a\nkind: Namespace\napiVersion: v1\n---\n" +
				"{apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: b}}\n",
			[]string{"1: v1 Namespace /a", "2: v1 Namespace /a", "3: v1 Namespace /a"}},
		{"cluster-scoped kinds with a namespace",
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: a\n  namespace: b\n---\n" +
				"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: a, namespace: b}}\n---\n" +
				"apiVersion: acme.io/v1\nkind: ClusterRole\nmetadata:\n  name: a\n  namespace: b\n",
			[]string{"1: rbac.authorization.k8s.io/v1 ClusterRole /a", "2: storage.k8s.io/v1 StorageClass /a",
				"3: acme.io/v1 ClusterRole b/a"}},
		{"lists in lists", "apiVersion: v1\nkind: List\nitems:\n- kind: BList\n  items:\n  - {apiVersion: v1, kind: B, " +
			"metadata: {name: b}}\n  - c\n- {apiVersion: v1, kind: ANodeList, metadata: {name: d}}\n- kind: CList\n  items:\n" +
			"---\napiVersion: v1\nkind: List\nitems: []\n---\napiVersion: v1\nkind: E\nmetadata:\n  name: e\n",
			[]string{"1: v1 B /b", "1:   /", "1: v1 ANodeList /d", "3: v1 E /e"}},
		{"a list that contains itself", "x: &x\n  kind: List\n  items: [*x]\nkind: List\nitems: [*x]\n", []string{"1:   /"}},
		{"a namespace that is null", "apiVersion: v1\nkind: A\nmetadata:\n  name: a\n  namespace:\n", []string{"1: v1 A /a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, lines(objects.Scan(nil, []byte(tt.text)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestScanEqualsParse builds documents of random lines. The scanner must find the same objects in them as the YAML
// parser.
func TestScanEqualsParse(t *testing.T) {
	top := []string{
		"apiVersion: v1\n", "apiVersion: \"g.io/v1\"\n", "kind: A\n", "kind: 'B' # b\n", "kind: Namespace\n",
		"kind: |\n  C\n", "# comment\n",
		"\n",
		"spec:\n  a: b\n", "spec:\n- a\n- b: c\n", "data: {a: b}\n", "data: [a,\n b]\n", "text: \"a\n  b\"\n",
		"text: |\n  ---\n  kind: X\n", "metadata: {name: z}\n", "metadata: {}\n", "metadata:\n", "x: 'it''s'\n", "---\n",
		"--- # b\n",
		"? y\n", "\"kind\": Q\n", "kind: \"null\"\n", "kind: \"DList\"\n", "apiVersion: \"\"\n",
	}
	below := []string{
		"  name: a\n", "  namespace: b # c\n", "  name: \"q\"\n", "  labels:\n    name: c\n", "  annotations: {a: b}\n",
		"  annotations:\n    a: \"b\n      c\"\n", "  # comment\n", "\n", "  finalizers:\n  - a\n", "  name: !!str t\n",
		"  n: don't\n", "  name: \"r s\"\n", "  namespace: \"t\" # u\n", "  name: \"v\n    w\"\n",
		"  labels:\n    a: 'b \"c\"\n  name: d\n  x: e'\n", "  labels:\n    a: \"b 'c'\n  name: d\n  x: e\"\n",
		"  labels:\n    a: \"\n  name: d\n  x: e\"\n",
	}
	regular := 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test
		var b strings.Builder
		for range r.IntN(6) {
			b.WriteString(top[r.IntN(len(top))])
			if r.IntN(3) == 0 {
				b.WriteString("metadata:\n")
				for range 1 + r.IntN(4) {
					b.WriteString(below[r.IntN(len(below))])
				}
			}
		}
		want, broken := objects.Parse(b.String())
		if broken { // the scanner need not notice faults below other keys
			continue
		}
		regular++
		if diff := cmp.Diff(want, lines(objects.Scan(nil, []byte(b.String())))); diff != "" {
			t.Fatalf("seed %d:\n%s\n%s", seed, b.String(), diff)
		}
	}
	if regular < 4_000 {
		t.Errorf("only %d texts are valid YAML", regular)
	}
}

func TestStray(t *testing.T) {
	const own = "dev-large-shop"
	for _, tt := range []struct {
		name, text string
		anywhere   bool
		why        string
	}{
		{"an object in its namespace", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: " + own, false,
			""},
		{"an object without a namespace, as for the cluster", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a", false,
			""},
		{"no YAML", "a: b: c", false, ""},
		{"no name", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  namespace: b", false, ""},
		{"another namespace", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: b", false,
			"ConfigMap b/a is not in dev-large-shop"},
		{"an object of a reconciler in another namespace",
			"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: b", true,
			""},
		{"an object of a reconciler without a namespace",
			"apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: a", true,
			"GitRepository.source.toolkit.fluxcd.io a has no namespace"},
		{"kustomize's own file", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization", false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := objects.Scan(nil, []byte(tt.text))
			if len(found) != 1 {
				t.Fatalf("found %d objects", len(found))
			}
			if why := found[0].Stray(own, tt.anywhere); why != tt.why {
				t.Errorf("%q; want %q", why, tt.why)
			}
		})
	}
}

func TestServedVersion(t *testing.T) {
	for version, want := range map[string]string{
		"source.toolkit.fluxcd.io/v1beta2":       "source.toolkit.fluxcd.io/v1",
		"source.toolkit.fluxcd.io/v1alpha1":      "source.toolkit.fluxcd.io/v1",
		"kustomize.toolkit.fluxcd.io/v1beta2":    "kustomize.toolkit.fluxcd.io/v1",
		"helm.toolkit.fluxcd.io/v2beta2":         "helm.toolkit.fluxcd.io/v2",
		"source.toolkit.fluxcd.io/v1":            "",
		"source.toolkit.fluxcd.io/v2":            "",
		"notification.toolkit.fluxcd.io/v1beta3": "",
		"argoproj.io/v1alpha1":                   "",
		"v1":                                     "",
		"":                                       "",
	} {
		if got := (&objects.Object{APIVersion: []byte(version)}).ServedVersion(); got != want {
			t.Errorf("%s: %q, want %q", version, got, want)
		}
	}
}

// BenchmarkScan scans a file as templates for Flux usually render it.
func BenchmarkScan(b *testing.B) {
	text := []byte("apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: shop\n  " +
		"namespace: flux-system\n" +
		"spec:\n  interval: 30s\n  url: https://github.com/acme/shop\n  ref:\n    branch: dev\n---\n" +
		"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n" +
		"metadata:\n  name: shop\n  namespace: flux-system\n" +
		"spec:\n  interval: 30s\n  targetNamespace: dev-large-shop\n  sourceRef:\n    kind: GitRepository\n    name: shop\n")
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var found []objects.Object
	for b.Loop() {
		found = objects.Scan(found[:0], text)
	}
}
