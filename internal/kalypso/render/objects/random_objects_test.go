package objects_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/objects"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs/kustomize"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
)

// TestObjectsEqualKustomize checks 3,000 random files whose fields have values of all types, with control characters,
// long keys, lists in lists, and objects after objects. A cluster must get all objects of an accepted file as they are
// written. Of a refused file, it must not get all.
func TestObjectsEqualKustomize(t *testing.T) {
	t.Parallel()
	files, individually := 3000, 250
	if testing.Short() {
		files, individually = 300, 10
	}
	var v objects.Validator
	var read, refusedFiles []string
	var refusals []*objects.Invalid
	for i := range files {
		text := hardFile(rand.New(rand.NewPCG(uint64(i), 5)), i) //nolint:gosec // a test
		if found := v.Check("a.yaml", []byte(text)); found != nil {
			refusedFiles, refusals = append(refusedFiles, text), append(refusals, found)
			continue
		}
		read = append(read, text)
	}
	if len(read) < files/4 || len(refusedFiles) < files/4 {
		t.Errorf("%d files are read, %d are refused", len(read), len(refusedFiles))
	}
	const folder = 250
	for first := 0; first < len(read); first += folder {
		mustBuild(t, read[first:min(len(read), first+folder)])
	}
	for i := range refusedFiles {
		if i%(max(1, len(refusedFiles)/individually)) == 0 && !lost(t, refusedFiles[i], refusals[i]) {
			t.Errorf("kustomize loses nothing: %+v\n%s", refusals[i], refusedFiles[i])
		}
	}
}

// mustBuild fails the test if a cluster does not get all objects of a folder with these files. Then it builds each half
// of them on its own.
func mustBuild(t *testing.T, texts []string) {
	t.Helper()
	files, want := map[string]string{}, 0
	for i, text := range texts {
		files[fmt.Sprintf("%04d.yaml", i)] = text
		want += len(objects.Scan(nil, []byte(text)))
	}
	built, failed := kustomize.Build(t, files)
	for _, o := range built {
		if !accepted(o) {
			failed = fmt.Sprintf("no cluster accepts %v", o)
		}
	}
	switch {
	case failed == "" && len(built) == want:
	case len(texts) == 1:
		t.Errorf("%d of %d objects, %s: %s", len(built), want, failed, texts[0])
	default:
		mustBuild(t, texts[:len(texts)/2])
		mustBuild(t, texts[len(texts)/2:])
	}
}

// hardFile returns a file with one to three objects. Their names contain i.
func hardFile(r *rand.Rand, i int) string {
	var b strings.Builder
	for n := range 1 + r.IntN(3) {
		o := hardObject(r, fmt.Sprintf("n%d-%d", i, n))
		switch {
		case r.IntN(4) == 0:
			o = "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(o), "\n", "\n  ") + "\n"
		case r.IntN(12) == 0:
			o = "kind: AList\nitems:\n- kind: List\n  items:\n  - " + strings.ReplaceAll(strings.TrimSpace(o), "\n", "\n    ") +
				"\n"
		case r.IntN(30) == 0:
			o = "apiVersion: v1\nkind: List\n"
		}
		if n > 0 && r.IntN(12) > 0 {
			b.WriteString("---\n")
		}
		b.WriteString(o)
	}
	return b.String()
}

// hardObject returns an object in block or in flow style, of which one field in about 20 has a value that no cluster
// accepts.
func hardObject(r *rand.Rand, name string) string {
	of := func(usual string) string {
		if r.IntN(24) > 0 {
			return usual
		}
		return hardValue(r)
	}
	labels := fmt.Sprintf("{%s: %s}", hardKey(r), of("b"))
	annotations := fmt.Sprintf("{c: %s}", of(`"d"`))
	data := fmt.Sprintf("{%s: %s}", hardKey(r), []string{"a", hardText(r), "5", "null"}[r.IntN(4)])
	if r.IntN(3) == 0 {
		return fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: %s, namespace: %s, labels: %s, annotations: %s}, "+
			"data: %s}\n", of("v1"), of("A"), of(name), of("x"), of(labels), of(annotations), data)
	}
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  namespace: %s\n  labels: %s\n"+
		"  annotations: %s\n  finalizers: %s\n  generation: %s\ndata: %s\n",
		of("v1"), of("A"), of(name), of("x"), of(labels), of(annotations), of("[]"), of("1"), data)
}

// hardValue returns a value of any type on one line.
func hardValue(r *rand.Rand) string {
	return []string{
		"1e3", "012", "0x1F", "-5", ".5", "1_000", "true", "False", "yes", "null", "~", "2001-01-01", "2001-12-14t21:59:43Z",
		"[]", "[a]", "{}", "{a: b}", `"1e3"`, "'true'", "!!str 5", `!!int "5"`, "30s", "10.0.0.0", "1:30", ".inf", "b-" +
			strconv.Itoa(r.IntN(1e6)), hardText(r),
	}[r.IntN(27)]
}

// hardText returns a text with a rare character, in quotes.
func hardText(r *rand.Rand) string {
	return `"x\u` + []string{
		"007f", "0080", "0085", "0092", "009f", "00a0", "00ad", "2028", "d7ff", "e000", "feff", "fffd", "fffe", "ffff",
		"0001",
		"000a",
	}[r.IntN(16)] + `y"`
}

// hardKey returns a key, also a long one or one of another type.
func hardKey(r *rand.Rand) string {
	if r.IntN(16) > 0 {
		return word(r)
	}
	return []string{
		"? " + strings.Repeat("k", 1000+r.IntN(60)), strings.Repeat("k", 1000), "5", "true", "yes", `"5"`, hardText(r), "30s",
	}[r.IntN(8)]
}

// TestDuplicatesEqualKustomize checks in random folders that two objects are the same to us if they are to kustomize.
// To kustomize, two API versions of one object are two objects, but not to a cluster: the folders have one version of
// each kind.
func TestDuplicatesEqualKustomize(t *testing.T) {
	t.Parallel()
	folders, duplicates := 25, 0
	if !testing.Short() {
		folders = 300
	}
	kinds := []string{
		"rbac.authorization.k8s.io/v1 ClusterRole", "rbac.authorization.k8s.io/v1 Role", "v1 Namespace", "v1 ConfigMap",
		"storage.k8s.io/v1 StorageClass", "acme.io/v1 ClusterRole", "apps/v1 Deployment", "acme.io/v1 Namespace",
		"apiextensions.k8s.io/v1 CustomResourceDefinition", "v1 PersistentVolume",
	}
	for i := range folders {
		r := rand.New(rand.NewPCG(uint64(i), 6)) //nolint:gosec // a test
		files, found := map[string]string{}, []objects.Object(nil)
		for n := range 3 {
			var b strings.Builder
			for range 1 + r.IntN(2) {
				apiVersion, kind, _ := strings.Cut(kinds[r.IntN(len(kinds))], " ")
				o := fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: %s, namespace: %s}}", apiVersion, kind,
					[]string{"a", "b"}[r.IntN(2)], []string{"", "default", "x", "y"}[r.IntN(4)])
				switch r.IntN(3) {
				case 0:
					o = "kind: List\nitems: [" + o + "]"
				case 1:
					o = "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata:\n  " +
						strings.NewReplacer("{", "", "}", "", ", ", "\n  ").Replace(o[strings.Index(o, "name: "):])
				}
				b.WriteString("---\n" + o + "\n")
			}
			files[fmt.Sprintf("%d.yaml", n)] = b.String()
			found = objects.Scan(found, []byte(b.String()))
		}
		same := false
		for n := range found {
			for k := range n {
				same = same || found[n].Same(&found[k])
				if found[n].Same(&found[k]) != (found[n].Hash() == found[k].Hash()) {
					t.Errorf("%s and %s: their hashes differ", &found[n], &found[k])
				}
			}
		}
		_, failed := kustomize.Build(t, files)
		if (failed != "") != same {
			t.Errorf("same: %v; kustomize: %q of %v", same, failed, files)
		}
		if same {
			duplicates++
		}
	}
	slow.Skip(t)
	if duplicates < 30 || duplicates > folders-30 {
		t.Errorf("%d of %d folders have duplicates", duplicates, folders)
	}
}
