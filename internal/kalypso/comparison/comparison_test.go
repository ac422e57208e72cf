package comparison_test

import (
	"crypto/sha1" //nolint:gosec // of a test
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitobject"
)

// tree contains the files of one side of a comparison, by path: cluster type/target/name.
type tree map[string]string

// side returns the tree as the side of an environment, with a hash for each folder.
func (t tree) side(environment string) comparison.Side {
	s := comparison.Side{Environment: environment, Folders: map[string]map[string]gitobject.Hash{}}
	for _, path := range slices.Sorted(maps.Keys(t)) {
		parts := strings.Split(path, "/")
		if s.Folders[parts[0]] == nil {
			s.Folders[parts[0]] = map[string]gitobject.Hash{}
		}
		before := s.Folders[parts[0]][parts[1]]
		s.Folders[parts[0]][parts[1]] = sha1.Sum([]byte(before.String() + parts[2] + t[path])) //nolint:gosec // of a test
	}
	return s
}

func (t tree) file(clusterType, target, name string) []byte {
	if text, there := t[clusterType+"/"+target+"/"+name]; there {
		return []byte(text)
	}
	return nil
}

// compare compares two sides, and describes the differences.
func compare(left, right tree, o comparison.Options) (lines []string) {
	c, pairs := comparison.New(left.side("stage"), right.side("prod"), o)
	for _, f := range pairs {
		names := map[string]bool{}
		for path := range left {
			names[path[strings.LastIndex(path, "/")+1:]] = true
		}
		for path := range right {
			names[path[strings.LastIndex(path, "/")+1:]] = true
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			was, is := left.file(f.ClusterType, f.Target, name), right.file(f.RightClusterType, f.Target, name)
			if was != nil || is != nil {
				c.Add(f, name, was, is)
			}
		}
	}
	c.Finish()
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, name := range c.Targets.Left {
		add("target %s: left", name)
	}
	for _, name := range c.Targets.Right {
		add("target %s: right", name)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Placements)) {
		add("placement %s: %v %v", name, c.Placements[name].Left, c.Placements[name].Right)
	}
	text := func(v *string) string {
		if v == nil {
			return "none"
		}
		return fmt.Sprintf("%q", *v)
	}
	for _, d := range c.Configs {
		add("config %s: %s %s in %v", d.Key, text(d.Values.Left), text(d.Values.Right), d.Folders)
	}
	for _, d := range c.Files {
		add("file %s in %v", d.Name, d.Folders)
	}
	if c.Equal() != (len(lines) == 0) {
		add("equal is %t", c.Equal())
	}
	return lines
}

func configMap(namespace string, data ...string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: platform-config\n" +
		"  namespace: " + namespace + "\ndata:\n  " + strings.Join(data, "\n  ") + "\n"
}

// TestCompare compares two sides that differ in targets, placements, values or files.
func TestCompare(t *testing.T) {
	const config = "large/app/platform-config.yaml"
	token := "gh" + "p_" + strings.Repeat("aB3", 12)
	for name, tt := range map[string]struct {
		left, right tree
		options     comparison.Options
		want        []string
	}{
		"equal": {left: tree{"large/app/a.yaml": "a"}, right: tree{"large/app/a.yaml": "a"}},
		"files that differ only by the namespace": {
			left:  tree{"large/app/a.yaml": "ns: stage-large-app\n", config: configMap("stage-large-app", "A: x")},
			right: tree{"large/app/a.yaml": "ns: prod-large-app\n", config: configMap("prod-large-app", "A: x")}},
		"a name within a longer word": {
			left:  tree{"large/app/a.yaml": "ns: stage-large-app1\n"},
			right: tree{"large/app/a.yaml": "ns: prod-large-app1\n"},
			want:  []string{"file a.yaml in [large/app]"}},
		"targets on one side only": {left: tree{"large/a/f": "", "large/b/f": "", "small/b/f": ""},
			right: tree{"large/b/f": "", "small/b/f": "", "small/c/f": ""},
			want:  []string{"target a: left", "target c: right"}},
		"other cluster types": {left: tree{"large/a/f": "", "medium/a/f": ""}, right: tree{"large/a/f": "", "small/a/f": ""},
			want: []string{"placement a: [medium] [small]"}},
		"values": {
			left: tree{config: configMap("stage-large-app", "A: x", "B: same", `C: "1"`),
				"small/app/platform-config.yaml": configMap("stage-small-app", "A: x")},
			right: tree{config: configMap("prod-large-app", "A: y", "B: same", "D: 2"),
				"small/app/platform-config.yaml": configMap("prod-small-app", "A: y")},
			want: []string{`config A: "x" "y" in [large/app small/app]`, `config C: "1" none in [large/app]`,
				`config D: none "2" in [large/app]`}},
		"ignored keys": {
			left:    tree{config: configMap("stage-large-app", "A: x", "B.C: x", "D: x")},
			right:   tree{config: configMap("prod-large-app", "A: y", "B.C: y", "D: y")},
			options: comparison.Options{Ignore: []string{"*.A", "app.B*", "other.D"}},
			want:    []string{`config D: "x" "y" in [large/app]`}},
		"only ignored keys": {
			left:    tree{config: configMap("stage-large-app", "A: x")},
			right:   tree{config: configMap("prod-large-app", "A: y")},
			options: comparison.Options{Ignore: []string{"*"}}},
		"a value that looks like a secret": {
			left:  tree{config: configMap("stage-large-app", "TOKEN: "+token)},
			right: tree{config: configMap("prod-large-app", "TOKEN: other")},
			want:  []string{`config TOKEN: "(hidden)" "other" in [large/app]`}},
		"values with the namespace": {
			left:  tree{config: configMap("stage-large-app", "A: stage-large-app", "B: stage-large-app:1")},
			right: tree{config: configMap("prod-large-app", "A: prod-large-app", "B: prod-large-app:2")},
			want:  []string{`config B: "stage-large-app:1" "prod-large-app:2" in [large/app]`}},
		"a config that differs in more than values": {
			left:  tree{config: configMap("stage-large-app", "A: x")},
			right: tree{config: strings.Replace(configMap("prod-large-app", "A: y"), "name: platform", "name: other", 1)},
			want:  []string{`config A: "x" "y" in [large/app]`, "file platform-config.yaml in [large/app]"}},
		"a config with another format but equal values": {
			left:  tree{config: configMap("stage-large-app", "A: x")},
			right: tree{config: configMap("prod-large-app", `A: "x" # a comment`)},
			want:  []string{"file platform-config.yaml in [large/app]"}},
		"a config that is no YAML": {
			left:  tree{config: configMap("stage-large-app", "A: x")},
			right: tree{config: "{"},
			want:  []string{`config A: "x" none in [large/app]`, "file platform-config.yaml in [large/app]"}},
		"aliases": {
			left:  tree{config: configMap("stage-large-app", "A: x", "B: &b x", "C: *b")},
			right: tree{config: configMap("prod-large-app", "A: x", "B: &b y", "C: *b")},
			want:  []string{`config B: "x" "y" in [large/app]`}},
		"a shell file": {
			left:  tree{"large/app/platform-config.sh": "#!/bin/sh\nexport A=x\nexport B=\"z\"\n"},
			right: tree{"large/app/platform-config.sh": "#!/bin/sh\nexport A=y\nexport B=\"z\"\n"},
			want:  []string{`config A: "x" "y" in [large/app]`}},
		"a file on each side only, and an empty file": {
			left:  tree{"large/app/a.yaml": "a", "large/app/empty.yaml": ""},
			right: tree{"large/app/b.yaml": "b"},
			want:  []string{"file a.yaml in [large/app]", "file b.yaml in [large/app]", "file empty.yaml in [large/app]"}},
		"equal contents of different files": {
			left: tree{"large/app/b.sh": "", "large/app/c.sh": "export A=x\n", "large/app/d.txt": "export A=x\n"},
			right: tree{"large/app/a.sh": "export A=y\n", "large/app/b.sh": "export A=y\n", "large/app/c.sh": "export A=y\n",
				"large/app/d.txt": "export A=y\n"},
			want: []string{`config A: none "y" in [large/app]`, `config A: "x" "y" in [large/app]`,
				"file a.sh in [large/app]", "file d.txt in [large/app]"}},
		"other names of cluster types": {
			left:    tree{"stage-large/app/a.yaml": "ns: stage-stage-large-app, on: stage-large"},
			right:   tree{"prod-large/app/a.yaml": "ns: prod-prod-large-app, on: prod-large"},
			options: comparison.Options{Match: map[string]string{"prod-large": "stage-large"}}},
		"other names of cluster types without a match": {
			left:  tree{"stage-large/app/a.yaml": ""},
			right: tree{"prod-large/app/a.yaml": ""},
			want:  []string{"placement app: [stage-large] [prod-large]"}},
		"swapped names of cluster types": {
			left:    tree{"a/app/f": "1", "b/app/f": "2"},
			right:   tree{"a/app/f": "2", "b/app/f": "1"},
			options: comparison.Options{Match: map[string]string{"a": "b", "b": "a"}}},
		"the character that stands for a name": {
			left:  tree{"large/app/a.yaml": "stage-large-app"},
			right: tree{"large/app/a.yaml": "\ue000"},
			want:  []string{"file a.yaml in [large/app]"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, compare(tt.left, tt.right, tt.options)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSymmetry: swapping the sides of a random comparison swaps its differences, and no side differs from itself.
func TestSymmetry(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() tree {
		all := tree{}
		for range r.IntN(8) {
			at := fmt.Sprintf("t%d/app%d/", r.IntN(3), r.IntN(3))
			all[at+"platform-config.yaml"] = configMap("same", fmt.Sprintf("K%d: v%d", r.IntN(2), r.IntN(3)))
			all[at+fmt.Sprint("f", r.IntN(2))] = fmt.Sprint(r.IntN(3))
		}
		return all
	}
	swap := strings.NewReplacer("left", "right", "right", "left")
	for range 300 {
		a, b := random(), random()
		if found := compare(a, a, comparison.Options{}); len(found) > 0 {
			t.Fatalf("%v differs from itself: %q", a, found)
		}
		there, back := compare(a, b, comparison.Options{}), compare(b, a, comparison.Options{})
		if len(there) != len(back) {
			t.Fatalf("%v\n%v: %q, and swapped %q", a, b, there, back)
		}
		for _, line := range there {
			if strings.HasPrefix(line, "target") && !slices.Contains(back, swap.Replace(line)) ||
				strings.HasPrefix(line, "file") && !slices.Contains(back, line) {
				t.Fatalf("%v\n%v: %q, and swapped %q", a, b, there, back)
			}
		}
	}
}

// TestOptions: options that contradict each other or name unknown cluster types are errors.
func TestOptions(t *testing.T) {
	side := func(types ...string) comparison.Side {
		all := tree{}
		for _, name := range types {
			all[name+"/app/f"] = ""
		}
		return all.side("dev")
	}
	left, right := side("a", "b"), side("a", "c")
	for name, tt := range map[string]struct {
		options comparison.Options
		want    []string
	}{
		"valid": {comparison.Options{
			Ignore: []string{"*.A", "app.B.C", "*.*"}, Match: map[string]string{"c": "b"},
		}, nil},
		"key without a target": {comparison.Options{Ignore: []string{"NAMESPACE"}}, []string{"Invalid key"}},
		"matched twice": {comparison.Options{Match: map[string]string{"a": "b", "c": "b"}},
			[]string{"Cluster type matched twice"}},
		"matched by the option and by name": {comparison.Options{Match: map[string]string{"c": "a"}},
			[]string{"Cluster type matched twice"}},
		"cluster type not on the left": {comparison.Options{Match: map[string]string{"c": "x"}},
			[]string{"Unknown cluster type"}},
		"cluster type not on the right": {comparison.Options{Match: map[string]string{"x": "b"}},
			[]string{"Unknown cluster type"}},
	} {
		var got []string
		for _, p := range append(tt.options.Validate(), tt.options.Check(left, right)...) {
			got = append(got, p.Summary)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestHistory: the first-parent history of the control plane gives the number of commits between the two promoted
// commits.
func TestHistory(t *testing.T) {
	commits := []string{"e", "d", "c", "b", "a"} // newest first
	for _, tt := range []struct {
		left, right string
		want        *int
	}{{"d", "b", new(2)}, {"b", "d", new(-2)}, {"c", "c", new(0)}, {"c", "x", nil}, {"", "c", nil}} {
		c, _ := comparison.New(comparison.Side{PromotedCommit: tt.left}, comparison.Side{PromotedCommit: tt.right},
			comparison.Options{})
		c.SetHistory(commits)
		if diff := cmp.Diff(tt.want, c.Between); diff != "" {
			t.Errorf("%s and %s (-want +got):\n%s", tt.left, tt.right, diff)
		}
	}
}
