package describe_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
)

// renderLines renders a fleet with review.detail = "lines", so that a description shows changed lines.
func renderLines(t *testing.T, f *fleet.Fleet, before *delivery.State) *delivery.NextTree {
	t.Helper()
	a := &delivery.Arguments{Strategy: destination.None, Environment: f.Environment, Fleet: f}
	a.Review = delivery.Review{Detail: delivery.DetailLines}
	r, ps := delivery.Render(t.Context(), a, nil, before, func(string, int, int) {})
	if err := ps.Err(); err != nil {
		t.Fatal(err)
	}
	return delivery.NewNextTree(r, nil, before)
}

// storedState returns the state after a rendering, as the next run decodes it.
func storedState(t *testing.T, n *delivery.NextTree) *delivery.State {
	t.Helper()
	data, err := delivery.ComputedState(n).Encode()
	if err != nil {
		t.Fatal(err)
	}
	s, err := delivery.DecodeState(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	reconcilerText = "kind: Kustomization\nname: {{ .DeploymentTargetName }}\nnamespace: flux-system\n" +
		"path: ./{{ .ClusterType }}/{{ .DeploymentTargetName }}\ntargetNamespace: {{ .Namespace }}\n"
	fixed         = "k1: 1\nk2: 1\nk3: 1\nk4: 1\nk5: 1\nk6: 1\nk7: 1\n"
	namespaceText = fixed + "kind: Namespace\nname: {{ .Namespace }}\nown: {{ index .Labels \"own\" }}\n" + fixed +
		"of: {{ .DeploymentTargetName }}\nend: 1\n"
)

// linesFleet returns a random fleet of up to three cluster types and some deployment targets. Texts in its files are
// also names in the fleet, such as "large" and "app".
func linesFleet(random *rand.Rand) *fleet.Fleet {
	pick := func(texts ...string) string { return texts[random.IntN(len(texts))] }
	f := &fleet.Fleet{Environment: "dev", Policies: []*fleet.SchedulingPolicy{{Meta: fleet.Meta{Name: "all"}}},
		Templates: []*fleet.Template{
			{Meta: fleet.Meta{Name: "r"}, Type: fleet.TemplateReconciler, Manifests: []string{
				reconcilerText + pick("", "prune: true\n", "of: {{ .ClusterType }}\nprune: false\n"),
			}},
			{Meta: fleet.Meta{Name: "n"}, Type: fleet.TemplateNamespace, Manifests: []string{
				pick("", "# a large app\n") + namespaceText + pick("", "last: {{ .ClusterType }}", "more: 1\nlast: 2\n"),
			}},
		}}
	for _, name := range []string{"large", "small", "a"} {
		if random.IntN(8) > 0 {
			f.ClusterTypes = append(f.ClusterTypes, &fleet.ClusterType{
				Meta: fleet.Meta{Name: name}, Reconciler: "r", NamespaceService: "n",
			})
		}
	}
	for _, name := range []string{"app", "large", "web", "shop"} {
		if random.IntN(4) > 0 {
			f.Workloads = append(f.Workloads, &fleet.Workload{Meta: fleet.Meta{Name: name}, Targets: []fleet.Target{
				{Name: pick("a", "test"), Environment: "dev", Labels: map[string]string{"own": pick("app", "web")}},
			}})
		}
	}
	// Keys that all folders have stand between the keys of single cluster types and workloads. So the lines around a
	// change are the same in all folders.
	for _, c := range []struct{ name, label, value, keys, stay string }{
		{"all", "purpose", "", "ABC", "DI"}, {"app", fleet.WorkloadLabel, "app", "EFG", ""},
		{"large", fleet.ClusterTypeLabel, "large", "JKL", ""},
	} {
		data := map[string]string{}
		for _, key := range c.keys {
			if random.IntN(3) > 0 {
				data[string(key)] = pick("1", "2", "large", "app", "`x`", "- a\n- b\n- c\n")
			}
		}
		for _, key := range c.stay {
			for i := range 8 {
				data[fmt.Sprint(string(key), i)] = "stays"
			}
		}
		labels := map[string]string{fleet.PlatformConfigLabel: "true"}
		if c.value != "" {
			labels[c.label] = c.value
		}
		f.Configs = append(f.Configs, &fleet.Config{Meta: fleet.Meta{Name: c.name, Labels: labels}, Data: data})
	}
	return f
}

// filesOf returns the files of a tree by path.
func filesOf(n *delivery.NextTree) map[string]string {
	files := map[string]string{}
	for i, folder := range n.Rendered.Tree.Folders {
		for j, target := range folder.Targets {
			for f := range n.Rendered.Tree.TargetFiles(i, j) {
				files[folder.ClusterType+"/"+target.Name+"/"+f.Path] = string(f.Content)
			}
		}
	}
	return files
}

var shownGroup = regexp.MustCompile("(?s)\n#### `([^`]+)`( \\(new\\)| \\(gone\\))? in (\\d+) folders?" +
	"(, the same, renamed)?\n\n(`[^\n]*`)\n\n(?:(```+)diff\n(.*?)(?:```+)\n)?")

// TestDescribeLines: after random changes, the files can be rebuilt from the description. Git applies the diff of each
// shown group to all folders that the group names. If a group says that its files are the same, renamed, the names of
// each folder replace the names of the first folder.
func TestDescribeLines(t *testing.T) {
	t.Parallel()
	renamed, shared := 0, 0
	for seed := range seeds.Of(t, 30, 1000) {
		random := rand.New(rand.NewPCG(seed, 62))
		first := renderLines(t, linesFleet(random), nil)
		before := storedState(t, first)
		second := renderLines(t, linesFleet(random), before)
		second.Args.Review.Max = 1 << 20
		text := describe.Rendering(t.Context(), second, before)
		if strings.Contains(text, "more change") || strings.Contains(text, "not known here") {
			t.Fatalf("seed %d: not all is shown:\n%s", seed, text)
		}
		dir := t.TempDir()
		for path, content := range filesOf(first) {
			file := filepath.Join(dir, path)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var patch strings.Builder
		for _, g := range shownGroup.FindAllStringSubmatch(text, -1) {
			folders := strings.Split(strings.ReplaceAll(g[5], "`", ""), ", ")
			if fmt.Sprint(len(folders)) != g[3] {
				t.Errorf("seed %d: %s folders, but %q", seed, g[3], folders)
			}
			if g[4] != "" {
				renamed++
			} else if len(folders) > 1 {
				shared++
			}
			for _, folder := range folders {
				patch.WriteString(filePatch(folder+"/"+g[1], g[2], inFolder(g[7], folders[0], folder, g[4] != "")))
			}
		}
		apply := exec.CommandContext(t.Context(), "git", "apply", "-")
		apply.Dir, apply.Stdin = dir, strings.NewReader(patch.String())
		if out, err := apply.CombinedOutput(); err != nil && patch.Len() > 0 {
			t.Fatalf("seed %d: %v: %s\n%s\n%s", seed, err, out, text, patch.String())
		}
		got := map[string]string{}
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error {
			if content, err := os.ReadFile(path); err == nil {
				name, _ := filepath.Rel(dir, path)
				got[filepath.ToSlash(name)] = string(content)
			}
			return nil
		})
		if diff := cmp.Diff(filesOf(second), got); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s\n%s", seed, diff, text)
		}
	}
	if !seeds.Single() && (renamed < 20 || shared < 20) {
		t.Errorf("only %d groups are renamed, and only %d have several folders", renamed, shared)
	}
}

// filePatch returns the patch of one file, as git apply reads it.
func filePatch(path, note, hunks string) string {
	header := fmt.Sprintf("diff --git a/%[1]s b/%[1]s\n", path)
	from, to := "a/"+path, "b/"+path
	switch note {
	case " (new)":
		header, from = header+"new file mode 100644\n", "/dev/null"
	case " (gone)":
		header, to = header+"deleted file mode 100644\n", "/dev/null"
	}
	if hunks == "" {
		return header
	}
	return header + "--- " + from + "\n+++ " + to + "\n" + hunks
}

// around matches an unchanged line that contains names, because the template prints them.
var around = regexp.MustCompile(`^ (?:name|path|targetNamespace|of|last|  namespace): `)

// inFolder returns the hunks of the first folder with the names of another folder. Names in changed lines are replaced
// only if the group is renamed.
func inFolder(hunks, first, other string, renamed bool) string {
	names := func(folder string) (all [3]string) {
		clusterType, target, _ := strings.Cut(folder, "/")
		return [3]string{"dev-" + clusterType + "-" + target, clusterType, target}
	}
	from, to := names(first), names(other)
	order := []int{0, 1, 2}
	slices.SortStableFunc(order, func(i, j int) int { return len(from[j]) - len(from[i]) })
	var alternatives []string
	for _, i := range order {
		alternatives = append(alternatives, regexp.QuoteMeta(from[i]))
	}
	words := regexp.MustCompile(`\b(?:` + strings.Join(alternatives, "|") + `)\b`)
	var b strings.Builder
	for line := range strings.Lines(hunks) {
		if around.MatchString(line) || renamed && strings.ContainsAny(line[:1], "+-") {
			line = line[:1] + words.ReplaceAllStringFunc(line[1:], func(name string) string {
				return to[slices.Index(from[:], name)]
			})
		}
		b.WriteString(line)
	}
	return b.String()
}

// valuesFleet returns a fleet of n deployment targets on one cluster type, with the data of a config.
func valuesFleet(n int, data map[string]string) *fleet.Fleet {
	f := linesFleet(rand.New(rand.NewPCG(1, 1)))
	f.ClusterTypes = []*fleet.ClusterType{{Meta: fleet.Meta{Name: "large"}, Reconciler: "r", NamespaceService: "n"}}
	f.Workloads, f.Configs = nil, []*fleet.Config{{
		Meta: fleet.Meta{Name: "all", Labels: map[string]string{fleet.PlatformConfigLabel: "true"}}, Data: data,
	}}
	for i := range n {
		f.Workloads = append(f.Workloads, &fleet.Workload{Meta: fleet.Meta{Name: fmt.Sprintf("app-%03d", i)},
			Targets: []fleet.Target{{Name: "test", Environment: "dev", Labels: map[string]string{"own": fmt.Sprint(i)}}}})
	}
	return f
}

// TestDescribeLinesSecrets: neither the description nor the stored fleet contains secrets, whether they change or are
// in lines beside a change.
func TestDescribeLinesSecrets(t *testing.T) {
	t.Parallel()
	token := func(letters string) string { return "gh" + "p_" + strings.Repeat(letters, 12) }
	key := "-----BEGIN PRIVATE" + " KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE" + " KEY-----\n"
	describe := func(before, after map[string]string, edit func(*fleet.Fleet)) string {
		t.Helper()
		s := storedState(t, renderLines(t, valuesFleet(3, before), nil))
		f := valuesFleet(3, after)
		if edit != nil { // changes a template, which is stored as it is
			edit(f)
		}
		now := renderLines(t, f, s)
		text := describe.Rendering(t.Context(), now, s)
		kept := string(s.Inputs.StoredFleet) + string(delivery.ComputedState(now).Inputs.StoredFleet)
		for _, secret := range []string{token("aB3"), token("cD4"), "MIIEvQ", "hunter2"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s is shown:\n%s", secret, text)
			}
			if strings.Contains(kept, secret) && edit == nil {
				t.Errorf("%s is stored", secret)
			}
		}
		return text
	}
	for name, test := range map[string]struct {
		before, after map[string]string
		edit          func(*fleet.Fleet)
		says          []string
	}{
		"change beside secrets": {map[string]string{"A": "1", "TOKEN": token("aB3"), "KEY": key},
			map[string]string{"A": "2", "TOKEN": token("aB3"), "KEY": key}, nil,
			[]string{"in 3 folders\n", "-  A: \"1\"\n+  A: \"2\"\n", "   KEY: (secret)\n"}},
		"change of a secret": {map[string]string{"A": "1", "TOKEN": token("aB3")},
			map[string]string{"A": "2", "TOKEN": token("cD4")},
			nil, []string{"-  TOKEN: (secret)\n+  A: \"2\"\n+  TOKEN: (secret, changed)\n"}},
		"template with a password": {map[string]string{"A": "1"}, map[string]string{"A": "1"},
			func(f *fleet.Fleet) {
				f.Templates[0].Manifests[0] += "url: https://me:" + "hunter2@acme.io\ncleartext: 1\n"
			}, []string{"+url: (secret)\n+cleartext: 1\n"}},
		"template with a key": {map[string]string{"A": "1"}, map[string]string{"A": "1"},
			func(f *fleet.Fleet) { f.Templates[1].Manifests[0] += key },
			[]string{"so its lines are not shown"}},
	} {
		text := describe(test.before, test.after, test.edit)
		for _, want := range test.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the description does not contain %q:\n%s", name, want, text)
			}
		}
	}
}

// TestDescribeLinesLimit: if a description exceeds the host's limit, whole groups are left out from its end, and their
// number is shown.
func TestDescribeLinesLimit(t *testing.T) {
	t.Parallel()
	const n = 100
	s := storedState(t, renderLines(t, valuesFleet(n, map[string]string{"A": "1", "LONG": strings.Repeat("x", 300)}), nil))
	f := valuesFleet(n, map[string]string{"A": "2", "LONG": strings.Repeat("y", 300)})
	for i, w := range f.Workloads {
		w.Targets[0].Labels["own"] = fmt.Sprint("changed-", i)
	}
	now := renderLines(t, f, s)
	for limit, want := range map[int]struct{ groups, more, folders int }{
		1000: {0, 101, 100}, 4000: {10, 91, 91}, 16384: {74, 27, 27},
	} {
		now.Args.Review.Max = limit
		text := describe.Rendering(t.Context(), now, s)
		groups := strings.Split(text, "\n#### ")[1:]
		more := fmt.Sprintf("… and %d more changes in %d folders.\n", want.more, want.folders)
		if len(text) > limit || len(groups) != want.groups || !strings.Contains(text, more) {
			t.Errorf("limit %d: %d characters, %d groups:\n%s", limit, len(text), len(groups), text)
		}
		if len(groups) > 0 && !strings.Contains(groups[0], "`platform-config.yaml` in 100 folders") {
			t.Errorf("the change of all folders is not first:\n%s", groups[0])
		}
	}
}

// TestDescribeLinesUnknownFiles: a description says for which folders the files before the change are not known. These
// are folders that people changed, and all folders if the state does not contain the fleet.
func TestDescribeLinesUnknownFiles(t *testing.T) {
	t.Parallel()
	s := storedState(t, renderLines(t, valuesFleet(2, map[string]string{"A": "1"}), nil))
	now := renderLines(t, valuesFleet(3, map[string]string{"A": "2"}), s)
	s.LastRead.Folders["large"].Targets[0].Hash[0]++
	const changed = "`platform-config.yaml` in 1 folder\n"
	const one = "The files before this change are not known here for 1 folder, such as `large/app-000-test`.\n"
	if text := describe.Rendering(t.Context(), now, s); !strings.Contains(text, one) || !strings.Contains(text, changed) {
		t.Errorf("description of a folder that people changed:\n%s", text)
	}
	s.Inputs.StoredFleet = nil
	const all = "not known here for 2 folders, such as `large/app-000-test`.\n"
	const added = "`platform-config.yaml` (new) in 1 folder\n"
	if text := describe.Rendering(t.Context(), now, s); !strings.Contains(text, all) || !strings.Contains(text, added) ||
		strings.Contains(text, changed) {
		t.Errorf("description without the fleet:\n%s", text)
	}
}
