package describe_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest/owners"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

var update = flag.Bool("update", false, "write the golden texts")

const marker = "<!-- the marker -->"

func commit(digit string) string { return strings.Repeat(digit, 40) }

func text(s string) *string { return &s }

var links = githost.Links{
	Commit: func(repo, commit string) string {
		if strings.HasPrefix(repo, "https://") {
			return repo + "/commit/" + commit
		}
		return ""
	},
	Compare: func(repo, from, to string) string {
		if strings.HasPrefix(repo, "https://") {
			return repo + "/compare/" + from + "..." + to
		}
		return ""
	},
}

func changed() describe.RenderingChange {
	return describe.RenderingChange{
		Environment: "dev", At: destination.Destination{Branch: "dev", Path: "clusters"},
		Before: commit("e"), After: commit("f"),
		ClusterTypes: []inventory.ClusterType{
			{Name: "same", Unchanged: []string{"hello-one"}},
			{
				Name:      "drone",
				Added:     []string{"hello-three"},
				Removed:   []string{"hello-two"},
				Changed:   []string{"hello-one"},
				Unchanged: []string{"stays"},
			},
			{Name: "old", Kind: inventory.Removed, Removed: []string{"hello-one"}},
			{Name: "new", Kind: inventory.Added, Added: []string{"a|b"}},
			{Name: "large", Added: []string{"hello-two"}},
		},
		Policies: func(clusterType, target string) []string {
			return map[string][]string{
				"drone hello-one": {"edge", "west"}, "drone hello-three": {"edge"}, "large hello-one": {"all"},
				"large hello-two": {`cloud "1"`},
			}[clusterType+" "+target]
		},
		Configs: []describe.ConfigChange{
			{Name: "west", Targets: 3, ClusterTypes: []string{"large", "drone"}, LabelsChanged: true, Keys: []describe.ConfigKey{
				{
					Name: "b|c",
					Old:  text("canary-old"),
					New:  text("canary`new`"),
				},
				{Name: "A", Kind: inventory.Removed, Old: text("canary\n" + marker + "\n")},
				{Name: "D", New: text("canary of which the old one is not known")},
				{Name: "E"},
			}},
			{
				Name:         "new",
				Kind:         inventory.Added,
				Targets:      1,
				ClusterTypes: []string{"drone"},
				Keys:         []describe.ConfigKey{{Name: "REGION", Kind: inventory.Added, New: text("canary-new")}},
			},
			{Name: "gone", Kind: inventory.Removed, Keys: []describe.ConfigKey{{Name: "REGION", Kind: inventory.Removed}}},
			{Name: "idle", Keys: []describe.ConfigKey{{Name: "REGION"}}},
		},
		Secrets: []describe.ConfigChange{
			{Name: "west", Targets: 1, ClusterTypes: []string{"large"}, Keys: []describe.ConfigKey{{
				Name: "PASSWORD", Old: text(`store "vault", key "canary"`), New: text(`store "azure", key "canary"`),
			}}},
			{Name: "idle", LabelsChanged: true},
		},
		Orphans: []describe.Orphan{
			{Target: "hello-one", From: []string{"old"}, Reason: `policy "edge" now selects edge "tru" (did you mean "true"?).`},
		},
		Owners: []owners.Reached{
			{Owner: owners.Owner{Workspace: "team|a", Reviewers: []string{"acme/leads"}},
				Folders: []string{"drone/hello-one", "new/a|b"}},
			{Owner: owners.Owner{ClusterTypes: []string{"large", "new"}, Reviewers: []string{"octocat", "acme/sre"}},
				Folders: []string{"large/hello-two"}},
		},
		Promoted: describe.PromotionChange{Repo: "https://github.com/acme/control-plane", From: commit("a"), To: commit("b")},
		Sources: []describe.SourceChange{
			{
				Repo:          "https://github.com/acme/hello",
				From:          commit("1"),
				To:            commit("2"),
				Paths:         []string{"deploy/a.yaml", "deploy/b.yaml#b"},
				Registrations: []string{"a", "b"},
			},
			{Repo: "git@git.acme.io:acme/other.git", From: commit("3"), To: commit("4")},
			{Repo: "https://github.com/acme/added", To: commit("5")},
			{Repo: "https://github.com/acme/left", From: commit("6")},
		},
		Links: links, Marker: marker, MaxLength: 65536,
	}
}

// TestGolden compares whole descriptions with the files in testdata.
func TestGolden(t *testing.T) {
	hidden := hide(changed())
	added := []inventory.ClusterType{
		{
			Name:  "drone",
			Kind:  inventory.Added,
			Added: []string{"hello-one", "hello-three"},
		},
		{Name: "large", Kind: inventory.Added, Added: []string{"hello-one", "hello-two"}},
		{
			Name:  "new",
			Kind:  inventory.Added,
			Added: []string{"a|b"},
		},
		{Name: "same", Kind: inventory.Added, Added: []string{"hello-one"}},
	}
	created := describe.RenderingChange{
		Environment:  "dev",
		At:           destination.Destination{Branch: "dev", Path: "."},
		After:        commit("f"),
		ClusterTypes: added,
		Promoted:     describe.PromotionChange{To: "v1.2.3"},
		Marker:       marker,
	}
	removed := describe.RenderingChange{
		Environment: "dev",
		At:          destination.Destination{Branch: "dev"},
		Removal:     true,
		Before:      commit("e"),
		Marker:      marker,
		ClusterTypes: []inventory.ClusterType{
			{
				Name:    "drone",
				Kind:    inventory.Removed,
				Removed: []string{"hello-one", "hello-two"},
			},
			{Name: "large", Kind: inventory.Removed, Removed: []string{"hello-one"}},
			{
				Name:    "old",
				Kind:    inventory.Removed,
				Removed: []string{"hello-one"},
			},
			{Name: "same", Kind: inventory.Removed, Removed: []string{"hello-one"}},
		},
	}
	renamed := describe.RenderingChange{
		Environment: "dev", At: destination.Destination{Branch: "dev"}, Before: commit("e"), After: commit("f"),
		Marker: marker,
		ClusterTypes: []inventory.ClusterType{
			{Name: "large", Added: []string{"store-web"}, Removed: []string{"shop-web"}, Unchanged: []string{"a"}},
			{Name: "small", Added: []string{"store-web"}, Removed: []string{"b", "shop-web"}},
			{Name: "tiny", Removed: []string{"b"}},
		},
		Renamed: []describe.TargetRename{{Old: "shop-web", New: "store-web",
			Namespaces: []string{"dev-large-shop-web", "dev-small-shop-web"}}},
	}
	short := hide(changed())
	short.MaxLength = 900
	for name, c := range map[string]describe.RenderingChange{
		"changed": hidden, "values": changed(), "created": created, "removed": removed, "renamed": renamed, "short": short,
		"nothing": {
			Environment: "dev", At: destination.Destination{Branch: "dev"},
			ClusterTypes: []inventory.ClusterType{{Name: "same"}},
			Marker:       marker,
		},
		"moved": {
			Environment: "stage", At: destination.Destination{Branch: "stage"}, ReplacedEnvironment: "dev", Marker: marker,
			MovedFrom: destination.Destination{Repo: "https://me:canary@git.acme.io/gitops", Branch: "dev", Path: "clusters"},
		},
		"computed": {Environment: "dev", ClusterTypes: added, Marker: marker},
		"uncompared": {
			Environment: "dev", At: destination.Destination{Branch: "dev"}, ClusterTypes: changed().ClusterTypes,
			NotCompared: []string{"configuration", "sources"}, Marker: marker,
		},
	} {
		file := filepath.Join("testdata", name+".md")
		got := describe.Markdown(c)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// hide removes the old and new values of configs and secrets.
func hide(c describe.RenderingChange) describe.RenderingChange {
	for _, changed := range slices.Concat(c.Configs, c.Secrets) {
		for n := range changed.Keys {
			changed.Keys[n].Old, changed.Keys[n].New = nil, nil
		}
	}
	return c
}

// TestValues: values are shown if they are passed, and a value that contains the marker is not taken for it.
func TestValues(t *testing.T) {
	got := describe.Markdown(changed())
	if n := strings.Count(got, "canary"); n != 7 {
		t.Errorf("%d values are shown, want 7:\n%s", n, got)
	}
	lines := strings.Split(strings.TrimRight(got, "\n"), "\n")
	if n := len(
		slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return l != marker }),
	); n != 1 ||
		lines[len(lines)-1] != marker {
		t.Errorf("the marker occurs %d times:\n%s", n, got)
	}
}

// TestUnprintable: control characters in names and texts of teams are shown escaped, so that they have no effect in a
// reader's terminal or browser.
func TestUnprintable(t *testing.T) {
	const evil = "\x1b[2J\u202e\u200b\x00"
	const shown = `\x1b[2J\u202e\u200b\x00`
	c := describe.RenderingChange{
		Environment: "env" + evil, At: destination.Destination{Branch: "dev" + evil, Path: "path" + evil},
		ClusterTypes: []inventory.ClusterType{{Name: "type" + evil, Added: []string{"target" + evil}}},
		Policies:     func(string, string) []string { return []string{"policy" + evil} },
		Configs: []describe.ConfigChange{{
			Name: "config" + evil, Targets: 1, ClusterTypes: []string{"on" + evil},
			Keys: []describe.ConfigKey{{Name: "key" + evil, Old: text("old" + evil), New: text("new" + evil)}},
		}},
		Sources: []describe.SourceChange{{
			Repo: "repo" + evil, From: commit("1"), To: commit("2"),
			Paths: []string{"file" + evil}, Registrations: []string{"of" + evil},
		}},
	}
	got := describe.Markdown(c)
	for _, name := range strings.Fields("env dev path type target policy config on key old new repo file of") {
		if !strings.Contains(got, "`"+name+shown+"`") {
			t.Errorf("%q is not shown escaped", name)
		}
	}
	for _, name := range []string{"type", "target"} {
		if graph := strings.ReplaceAll(name+shown, `\`, "#92;"); !strings.Contains(got, `"`+graph+`"`) {
			t.Errorf("the graph does not contain %q", graph)
		}
	}
	if t.Failed() || strings.ContainsAny(got, evil[:1]+"\u202e\u200b\x00") {
		t.Errorf("got %q", got)
	}
}

func TestRepoNames(t *testing.T) {
	for url, want := range map[string]string{
		"https://me:canary@git.acme.io/acme/a": "`https://git.acme.io/acme/a`",
		"https://canary@git.acme.io/acme/a":    "`https://git.acme.io/acme/a`",
		"https://git.acme.io/acme/a@b":         "`https://git.acme.io/acme/a@b`",
		"ssh://git:canary@git.acme.io:22/a":    "`ssh://git.acme.io:22/a`",
		"ssh://git@git.acme.io/a":              "`ssh://git@git.acme.io/a`",
		"git@git.acme.io:acme/a":               "`git@git.acme.io:acme/a`",
		"https://me:canary@git.acme.io":        "`https://git.acme.io/`",
	} {
		if got := describe.Markdown(
			describe.RenderingChange{Sources: []describe.SourceChange{{Repo: url, To: commit("1")}}},
		); !strings.Contains(got, "- "+want+": ") ||
			strings.Contains(got, "canary") {
			t.Errorf("%s is shown as\n%s", url, got)
		}
	}
}

// TestNothingPlaced: an added or removed cluster type is listed even if no target is placed on it. An unchanged cluster
// type is not listed.
func TestNothingPlaced(t *testing.T) {
	got := describe.Markdown(describe.RenderingChange{ClusterTypes: []inventory.ClusterType{
		{Name: "comes", Kind: inventory.Added}, {Name: "goes", Kind: inventory.Removed}, {Name: "stays"},
	}})
	for text, said := range map[string]bool{
		"on 2 cluster types.": true, "`comes` (new)": true, "`goes` (gone)": true, "`stays`": false,
	} {
		if strings.Contains(got, text) != said {
			t.Errorf("the description contains %q: %t\n%s", text, !said, got)
		}
	}
}

// TestOrder: the description does not depend on the order of the input.
func TestOrder(t *testing.T) {
	want := describe.Markdown(changed())
	for range 20 {
		c := changed()
		slices.Reverse(c.ClusterTypes)
		slices.Reverse(c.Configs)
		slices.Reverse(c.Secrets)
		slices.Reverse(c.Configs[len(c.Configs)-1].Keys)
		slices.Reverse(c.Configs[len(c.Configs)-1].ClusterTypes)
		slices.Reverse(c.Sources)
		if diff := cmp.Diff(want, describe.Markdown(c)); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestLimit: the description does not exceed the limit, whatever the number of changes, and it contains this number.
func TestLimit(t *testing.T) {
	for _, size := range []struct{ clusterTypes, targets int }{{1, 10000}, {100, 100}, {10000, 1}, {3000, 3}} {
		c := changed()
		c.ClusterTypes, c.Configs = make([]inventory.ClusterType, size.clusterTypes), nil
		c.Policies = func(_, target string) []string { return []string{"policy-" + target[len(target)-1:]} }
		total := size.clusterTypes * size.targets
		for i := range total {
			ct, target := fmt.Sprintf(
				"cluster-type-%d-ü😀",
				i%size.clusterTypes,
			), fmt.Sprintf(
				"deployment-target-%d",
				i/size.clusterTypes,
			)
			to := &c.ClusterTypes[i%size.clusterTypes]
			to.Name, to.Kind, to.Added = ct, inventory.Added, append(to.Added, target)
			c.Configs = append(
				c.Configs,
				describe.ConfigChange{
					Name:         target,
					Targets:      1,
					ClusterTypes: []string{ct},
					Keys:         []describe.ConfigKey{{Name: "K", New: text(strings.Repeat("😀", 200))}},
				},
			)
			c.Sources = append(
				c.Sources,
				describe.SourceChange{Repo: "https://github.com/acme/" + target, From: commit("1"), To: commit("2")},
			)
		}
		got := describe.Markdown(c)
		if n := len(utf16.Encode([]rune(got))); n > c.MaxLength || n < 2000 {
			t.Errorf("%v: %d characters", size, n)
		}
		placed := fmt.Sprintf(
			"- `policy-0` places %d targets on %d cluster types\n",
			total/min(10, size.targets),
			size.clusterTypes,
		)
		if size.clusterTypes == 1 {
			placed = "- `policy-0` places 1000 targets on `cluster-type-0-ü😀`\n"
		}
		for _, said := range []string{fmt.Sprintf("%d added", total), "more", marker, placed} {
			if !strings.Contains(got, said) {
				t.Errorf("%v: the description does not contain %q:\n%s", size, said, got[:1000])
			}
		}
	}
}

// TestSourceChanges: objects that moved from one commit to another are listed with their repo. A repo may be read at
// several commits.
func TestSourceChanges(t *testing.T) {
	a, b := "git@git.acme.io:acme/a.git", "https://github.com/acme/b"
	before := []string{
		a + "@" + commit("1") + ":x.yaml",
		a + "@" + commit("1") + ":y.yaml#y",
		a + "@" + commit("2") + ":z.yaml",
		b + "@" + commit("9") + ":w.yaml",
		"fleet/local.yaml",
	}
	after := []string{
		a + "@" + commit("3") + ":y.yaml#y",
		a + "@" + commit("3") + ":x.yaml",
		a + "@" + commit("2") + ":z.yaml",
		b + "@" + commit("8") + ":v.yaml",
		"fleet/other.yaml",
	}
	want := []describe.SourceChange{
		{Repo: a, From: commit("1"), To: commit("3"), Paths: []string{"x.yaml", "y.yaml#y"}},
		{Repo: b, To: commit("8"), Paths: []string{"v.yaml"}},
		{Repo: b, From: commit("9"), Paths: []string{"w.yaml"}},
	}
	moves := func(before, after []string, was, is origin.Sources) []describe.SourceChange {
		return describe.SourceChanges(was.Resolve(before), is.Resolve(after))
	}
	for range 20 { // in case the order depends on a map
		if diff := cmp.Diff(want, moves(before, after, nil, nil)); diff != "" {
			t.Fatal(diff)
		}
	}
	if got := moves(before, before, nil, nil); got != nil {
		t.Errorf("changes of the same origins: %v", got)
	}

	// If origins name branches, their commits come from the locations that were read. A file on another branch is
	// still the same file.
	from, to := origin.Sources{b + "@main:.": commit("1"), b + "@main:in": commit("2"), a + "@x:.": commit("5")},
		origin.Sources{
			b + "@main:.":  commit("1"),
			b + "@main:in": commit("3"),
			b + "@dev:.":   commit("4"),
			b + "@dev~s:.": commit("6"),
			a + "@y:.":     commit("5"),
		}
	was := []string{
		b + "@main:a.yaml",
		b + "@main:in/x.yaml#x",
		b + "@main:moved.yaml",
		b + "@main:more.yaml",
		a + "@x:a.yaml",
		b + "@none:z",
	}
	is := []string{
		b + "@main:a.yaml",
		b + "@main:in/x.yaml#x",
		b + "@dev:moved.yaml",
		b + "@dev:more.yaml",
		b + "@dev~s:more.yaml",
		a + "@y:a.yaml",
	}
	want = []describe.SourceChange{
		{Repo: b, To: commit("4"), Paths: []string{"more.yaml"}}, // read at one commit before, and at two now
		{Repo: b, To: commit("6"), Paths: []string{"more.yaml"}},
		{Repo: b, From: commit("1"), Paths: []string{"more.yaml"}},
		{Repo: b, From: commit("1"), To: commit("4"), Paths: []string{"moved.yaml"}},
		{Repo: b, From: commit("2"), To: commit("3"), Paths: []string{"in/x.yaml#x"}},
	}
	if diff := cmp.Diff(want, moves(was, is, from, to)); diff != "" {
		t.Errorf("changes of origins with branches (-want +got):\n%s", diff)
	}
}

// TestFailingTargets: targets that fail to render are listed, or counted if the list would be too long.
func TestFailingTargets(t *testing.T) {
	c := changed()
	c.Kept, c.LeftOut = []string{"large / shop`web"}, []string{"large / new", "small / new"}
	got := describe.Markdown(c)
	for _, want := range []string{
		"### Fails to render\n\n- ``large / shop`web``: kept as it is on the branch\n- `large / new`: left out\n",
		"- `small / new`: left out\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the description does not contain %q:\n%s", want, got)
		}
	}
	for range 500 {
		c.LeftOut = append(c.LeftOut, "large / "+strings.Repeat("x", 50))
	}
	c.MaxLength = 2000
	if got := describe.Markdown(c); !strings.Contains(got, "1 kept, 502 left out.") &&
		!strings.Contains(got, "more deployment targets") {
		t.Errorf("the targets that are not listed are not counted:\n%s", got)
	}
}
