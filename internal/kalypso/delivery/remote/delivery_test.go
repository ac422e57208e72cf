package remote_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet/fleetyaml"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/limit"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// branch is the branch "dev" of a repo, with a client for it.
type branch struct {
	testing.TB
	repo   string
	client *gitremote.Client
}

func newBranch(t *testing.T) *branch {
	t.Helper()
	client, err := gitremote.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &branch{t, gitserver.InitBare(t), client}
}

// build renders an environment. The cluster types have the named targets, and the files of each target contain the
// value.
func build(t testing.TB, environment, value string, targets map[string][]string) *tree.Tree {
	t.Helper()
	var text strings.Builder
	add := func(kind, name, rest string) {
		fmt.Fprintf(&text, "---\napiVersion: scheduler.kalypso.io/v1alpha1\nkind: %s\nmetadata: {name: %s, labels: {type: "+
			"%s}}\nspec: %s\n", kind, name, name, rest)
	}
	add("Template", "file", fmt.Sprintf(`{type: reconciler, manifests: [%q]}`, value))
	add("Template", "namespace", `{type: namespace, manifests: ["{{ .Namespace }}"]}`)
	add("Template", "none", `{type: config, manifests: [""]}`)
	for clusterType, names := range targets {
		add("ClusterType", clusterType, `{reconciler: file, namespaceService: namespace, configType: none}`)
		add("SchedulingPolicy", clusterType, fmt.Sprintf(`{
			deploymentTargetSelector: {labelSelector: {matchLabels: {on: %[1]s}}},
			clusterTypeSelector: {labelSelector: {matchLabels: {type: %[1]s}}}}`, clusterType))
		for _, name := range names {
			add("Workload", name,
				fmt.Sprintf(`{deploymentTargets: [{name: x, environment: %s, labels: {on: %s}}]}`, environment, clusterType))
		}
	}
	objects, _, ps := fleetyaml.Parse(t.Context(), problem.Origin{Attribute: "manifests", Key: "test"}, text.String())
	f := &fleet.Fleet{Environment: environment}
	f.Add(objects...)
	made, problems := engine.Run(t.Context(), f, engine.Options{})
	if err := errors.Join(ps.Err(), problems.Err()); err != nil {
		t.Fatal(err)
	}
	return made.Tree
}

// request is the desired rendering, with the state on which the plan is based.
type request struct {
	*delivery.Arguments
	Tree   *tree.Tree
	before *delivery.State
}

// decide returns the decision of the plan of an update.
func (o request) decide() delivery.Plan {
	arguments := *o.Arguments
	prior := &delivery.Prior{TreeHash: o.Tree.Hash.String()}
	if o.before != nil {
		prior.Commit = o.before.Base
	}
	return delivery.Decide(delivery.NewRendered(&arguments, o.Tree), prior, o.before)
}

// copied returns a request with its own copy of the arguments, which can be changed.
func (o request) copied() request {
	arguments := *o.Arguments
	o.Arguments = &arguments
	return o
}

// applied returns the tree that the apply leaves on the branch.
func (o request) applied() *delivery.NextTree { return o.decide().All().Next }

// overwrites reports whether the plan warns that the apply overwrites foreign changes.
func (o request) overwrites() bool {
	return len(o.decide().All().Drift) > 0
}

// request returns a request for the environment "dev" at the root of the branch.
func (b *branch) request(value string, targets map[string][]string, before *delivery.State) request {
	b.Helper()
	return request{&delivery.Arguments{
		Strategy:     destination.Push,
		Destination:  destination.Destination{Repo: b.repo, Branch: "dev", Path: "."},
		Environment:  "dev",
		Fleet:        &fleet.Fleet{},
		CreateBranch: true,
		Guardrails:   delivery.Guardrails{MaxRemoved: delivery.DefaultMaxRemoved},
		Author:       gitbranch.Author{Name: "A", Email: "a@acme.io", When: time.Unix(1700000000, 0)},
	}, build(b, "dev", value, targets), before}
}

// deliver delivers a request, and expects this number of commits.
func (b *branch) deliver(o request, commits int) *delivery.State {
	b.Helper()
	before := len(gitserver.Log(b, b.repo, "dev"))
	result, err := remote.Deliver(b.Context(), b.client, o.applied(), o.before, nil)
	if err != nil {
		b.Fatal(err)
	}
	if got := len(gitserver.Log(b, b.repo, "dev")) - before; got != commits {
		b.Errorf("%d commits, want %d", got, commits)
	}
	return result.State
}

func (b *branch) tryDeliver(o request) (*remote.Result, error) {
	return remote.Deliver(b.Context(), b.client, o.applied(), o.before, nil)
}

// remove removes the rendering of a state, as a destroy does.
func (b *branch) remove(s *delivery.State) error {
	author := gitbranch.Author{Name: "A", Email: "a@acme.io"}
	return remote.Remove(b.Context(), b.client, s, remote.RemovalCommit{Message: "Away", Author: author})
}

func (b *branch) observe(s *delivery.State) *delivery.State {
	b.Helper()
	now, err := remote.Observe(b.Context(), b.client, s)
	if err != nil {
		b.Fatal(err)
	}
	return now
}

// paths returns the paths of the files on the branch.
func (b *branch) paths() []string {
	b.Helper()
	return slices.Sorted(maps.Keys(gitserver.Modes(b, b.repo, "dev")))
}

var (
	usual = map[string][]string{"large": {"a", "b"}, "small": {"c"}}
	plain = func(content string) gitserver.File { return gitserver.File{Mode: "100644", Content: content} }
)

// TestDrift changes our folders or our record outside Terraform. Each such change is drift. The next apply restores
// them with one commit, which changes nothing else.
func TestDrift(t *testing.T) {
	t.Parallel()
	const record = ".kalypso/rendering.json"
	for name, edit := range map[string]map[string]gitserver.File{
		"changed file":                       {"large/a-x/reconciler.yaml": plain("theirs")},
		"changed mode":                       {"large/a-x/reconciler.yaml": {Mode: "100755", Content: "1"}},
		"added file":                         {"large/my folder of mine/x": plain("theirs")},
		"removed file":                       {"large/a-x/reconciler.yaml": {}},
		"removed folder":                     {"small": {}},
		"file instead of a folder":           {"small": plain("theirs")},
		"link instead of a folder":           {"small": {Mode: "120000", Content: "large"}},
		"all folders and the record removed": {"small": {}, "large": {}, ".kalypso": {}},
		"removed record":                     {".kalypso": {}},
		"invalid record":                     {record: plain("{")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBranch(t)
			delivered := b.deliver(b.request("1", usual, nil), 1)
			gitserver.Seed(t, b.repo, "dev", map[string]string{"other/x": "theirs", "README.md": "theirs"})
			delivered = b.observe(delivered)
			if delivered.Drifted() {
				t.Fatalf("a commit outside of our folders is drift: %v", delivered.Drift)
			}
			want := gitserver.Modes(t, b.repo, "dev")

			commit := gitserver.SeedFiles(t, b.repo, "dev", "Mine", edit)
			now := b.observe(delivered)
			if len(now.Drift) != 1 || now.Drift[0].Commit != commit || now.Drift[0].Author != "Somebody <somebody@acme.io>" ||
				len(now.Drift[0].Paths) == 0 {
				t.Fatalf("drift is %+v, want the commit %s", now.Drift, commit)
			}
			o := b.request("1", usual, now)
			if !o.overwrites() {
				t.Error("the plan does not say that it overwrites foreign changes")
			}
			o.Guardrails = delivery.Guardrails{MaxRemoved: "100%"}
			after := b.deliver(o, 1)
			got := gitserver.Modes(t, b.repo, "dev")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the branch (-delivered +now):\n%s", diff)
			}
			if b.observe(after).Drifted() {
				t.Error("the branch still has drift")
			}
			gitserver.Fsck(t, b.repo)
		})
	}
}

// TestUnknownRecord: people replace the record by one with another promoted commit or with other folders. An apply with
// on_drift = "overwrite" and a destroy both refuse this record, and change nothing. After people revert their commit,
// both succeed.
func TestUnknownRecord(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit map[string]gitserver.File
		says string
	}{
		"another promoted commit": {map[string]gitserver.File{".kalypso/rendering.json": plain(
			`{"version": 1, "environment": "dev", "cluster_types": ["large", "small"], "promoted_commit": "ungated"}`)},
			`it promotes commit "ungated"`},
		"another promoted commit in waves": {map[string]gitserver.File{".kalypso/rendering.json": plain(
			`{"version": 1, "environment": "dev", "cluster_types": ["large", "small"],
			"rollout": {"target_tree_hash": "x", "promoted_commit": "ungated", "stage": "all"}}`)},
			`it promotes commit "ungated"`},
		"missing folder": {map[string]gitserver.File{".kalypso/rendering.json": plain(
			`{"version": 1, "environment": "dev", "cluster_types": ["large"]}`)}, "it does not list small"},
		"folder of a team": {map[string]gitserver.File{".kalypso/rendering.json": plain(
			`{"version": 1, "environment": "dev", "cluster_types": ["large", "small", "team"]}`), "team/x": plain("theirs")},
			"it also lists team"},
		"removed folder": {map[string]gitserver.File{".kalypso/rendering.json": plain(
			`{"version": 1, "environment": "dev", "cluster_types": []}`), "small": {}}, "it does not list large, small"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBranch(t)
			delivered := b.deliver(b.request("1", usual, nil), 1)
			gitserver.SeedFiles(t, b.repo, "dev", "Mine", test.edit)
			want := gitserver.Modes(t, b.repo, "dev")
			now := b.observe(delivered)
			for _, value := range []string{"1", "2"} {
				o := b.request(value, usual, now)
				o.OnDrift = drift.Overwrite
				o.Guardrails = delivery.Guardrails{MaxRemoved: "100%"}
				_, applied := b.tryDeliver(o)
				for _, err := range []error{applied, b.remove(now)} {
					if !refuses(err, delivery.UnknownRecord) || !strings.Contains(err.Error(), test.says) {
						t.Errorf("the error is %v", err)
					}
				}
			}
			if diff := cmp.Diff(want, gitserver.Modes(t, b.repo, "dev")); diff != "" {
				t.Errorf("the branch changed (-before +now):\n%s", diff)
			}
			gitserver.Git(t, b.repo, "update-ref", "refs/heads/dev", "dev~1")
			after := b.deliver(b.request("2", usual, b.observe(now)), 1)
			if err := b.remove(after); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestNewerRecord: the branch contains a record of a newer version of the provider. Each operation returns an error
// that says so, and writes nothing, even if the arguments allow all changes.
func TestNewerRecord(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"record with the same fields": `{"version": 99, "environment": "dev", "cluster_types": ["large", "small"]}`,
		"record with other fields":    `{"version": 99, "environment": {"name": "dev"}, "cluster_types": {}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBranch(t)
			s := b.deliver(b.request("1", usual, nil), 1)
			head := gitserver.SeedFiles(t, b.repo, "dev", "Newer", map[string]gitserver.File{record.File: plain(text)})
			ask := func(value string, before *delivery.State) request {
				o := b.request(value, usual, before)
				o.Adopt, o.OnDrift, o.Guardrails = true, drift.Overwrite, delivery.Guardrails{MaxRemoved: "100%"}
				return o
			}
			deliver := func(o request) error {
				_, err := b.tryDeliver(o)
				return err
			}
			at := destination.Destination{Repo: b.repo, Branch: "dev", Path: "."}
			_, refreshed := remote.Observe(t.Context(), b.client, s)
			_, recovered := remote.Recover(t.Context(), b.client, &delivery.Prior{
				Strategy: destination.Push, Destination: at, Environment: "dev",
				TreeHash: s.Delivered.TreeHash().String(), Commit: s.Base,
			})
			_, imported := remote.Import(t.Context(), b.client, at, "dev")
			_, _, planned := remote.Check(t.Context(), b.client, ask("2", nil).applied(), nil)
			_, read := remote.Origins(t.Context(), b.client, at)
			moved := ask("2", s)
			moved.Destination.Path = "moved"
			for operation, err := range map[string]error{
				"refresh": refreshed, "refresh without private state": recovered, "import": imported,
				"plan of a create": planned, "create": deliver(ask("2", nil)), "update": deliver(ask("2", s)),
				"move": deliver(moved), "origins": read,
				"destroy": b.remove(s),
			} {
				if !errors.Is(err, record.ErrNewer) || !strings.Contains(err.Error(), "it has version 99") {
					t.Errorf("%s: the error is %v", operation, err)
				}
			}
			if now := gitserver.Rev(t, b.repo, "dev"); now != head {
				t.Errorf("the branch moved to %s", now)
			}
		})
	}
}

// TestOtherOriginsOrMessage: the same files with other origins and another message need no commit, whether there is a
// state or not. Another promoted commit needs one.
func TestOtherOriginsOrMessage(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	s := b.deliver(b.request("1", usual, nil), 1)
	for _, before := range []*delivery.State{nil, s} {
		o := b.request("1", usual, before)
		o.Origins, o.Message = []string{"https://acme.io/base@" + strings.Repeat("1", 40) + ":x"}, "Another"
		if now := b.deliver(o, 0); now.Base != s.Base || now.DeliveredRecord != s.DeliveredRecord {
			t.Errorf("the state changed from %+v to %+v", s, now)
		}
	}
	o := b.request("1", usual, s)
	o.Promotion.Commit = "v2"
	b.deliver(o, 1)
}

// TestRecordPathOccupied: people put something else at the path of the record. The next plan fails, since its refresh
// finds this, and so does an apply.
func TestRecordPathOccupied(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit   map[string]gitserver.File
		reason string
	}{
		"file": {map[string]gitserver.File{".kalypso": plain("theirs")},
			`".kalypso" (mode 0100644) exists but is not a directory`},
		"link": {map[string]gitserver.File{".kalypso": {Mode: "120000", Content: "large"}},
			`".kalypso" (mode 0120000) exists but is not a directory`},
		"folder": {map[string]gitserver.File{".kalypso/rendering.json/x": plain("theirs")},
			`".kalypso/rendering.json" (mode 0040000) exists but is not a file`},
		"submodule": {
			map[string]gitserver.File{".kalypso/rendering.json": {Mode: "160000", Content: strings.Repeat("1", 40)}},
			`".kalypso/rendering.json" (mode 0160000) exists but is not a file`,
		},
		"record of another environment": {
			map[string]gitserver.File{
				".kalypso/rendering.json": plain(`{"version": 1, "environment": "stage", "cluster_types": []}`),
			},
			"If the record is wrong, restore it from the branch's history",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBranch(t)
			s := b.deliver(b.request("1", usual, nil), 1)
			gitserver.SeedFiles(t, b.repo, "dev", "Away with the record", map[string]gitserver.File{".kalypso": {}})
			head := gitserver.SeedFiles(t, b.repo, "dev", "Mine", test.edit)
			o := b.request("1", usual, reread(t, b.observe(s)))
			decision := o.decide()
			_, err := b.tryDeliver(o)
			for when, err := range map[string]error{"plan": errors.Join(decision.All().Errors...), "apply": err} {
				if !refuses(err, delivery.Occupied) || !strings.Contains(err.Error(), test.reason) {
					t.Errorf("%s: the error is %v, want %q", when, err, test.reason)
				}
			}
			if now := gitserver.Rev(t, b.repo, "dev"); now != head {
				t.Errorf("the branch moved to %s", now)
			}
		})
	}
}

// refuses reports whether an error is a refusal of a kind, with these names if there are any.
func refuses(err error, kind delivery.RefusalKind, names ...string) bool {
	refusal, ok := errors.AsType[*delivery.Refusal](err)
	return ok && refusal.Kind == kind && (len(names) == 0 || slices.Equal(refusal.Names, names))
}

// TestRecordOfAnotherEnvironment: people replace the record by one of another environment. Then the path belongs to
// this environment, and an apply fails.
func TestRecordOfAnotherEnvironment(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	s := b.deliver(b.request("1", usual, nil), 1)
	commit := gitserver.Seed(t, b.repo, "dev",
		map[string]string{".kalypso/rendering.json": `{"version": 1, "environment": "stage", "cluster_types": ["large"]}`})
	for _, before := range []*delivery.State{nil, b.observe(s)} {
		if _, err := b.tryDeliver(b.request("2", usual, before)); !refuses(err, delivery.Occupied) {
			t.Errorf("the error is %v", err)
		}
	}
	if head := gitserver.Rev(t, b.repo, "dev"); head != commit {
		t.Errorf("the branch moved to %s", head)
	}
}

// TestTreeAlreadyOnBranch delivers a tree that the branch already contains. Either an apply was killed after its push,
// or people made a change on the branch and then in the fleet. No file is written, and no drift is reported.
func TestTreeAlreadyOnBranch(t *testing.T) {
	t.Parallel()
	more := map[string][]string{"large": {"a", "b", "d"}, "drone": {}, "small": {"c"}}
	b := newBranch(t)
	first := b.deliver(b.request("1", usual, nil), 1)
	b.deliver(b.request("2", more, first), 1)
	now := b.observe(first)
	if !now.Drifted() {
		t.Error("the changes since the first delivery are not found")
	}
	o := b.request("2", more, now)
	if o.overwrites() {
		t.Error("the plan reports its own push as drift")
	}
	if b.deliver(o, 0).Drifted() {
		t.Error("the branch still has drift")
	}
	if !b.request("3", more, now).overwrites() || !b.request("2", usual, now).overwrites() {
		t.Error("the plan of another tree does not report that it overwrites the push")
	}
	// People changed one folder as the fleet renders it now. Only the fleet changed another folder.
	second := b.deliver(b.request("2", more, b.observe(now)), 0)
	hotfix := build(t, "dev", "2", map[string][]string{"large": {"a"}, "drone": {}, "small": {"c"}})
	gitserver.SeedFiles(
		t,
		b.repo,
		"dev",
		"Away with b and d",
		map[string]gitserver.File{"large/b-x": {}, "large/d-x": {}},
	)
	o = b.request("2", map[string][]string{"large": {"a"}, "drone": {"e"}, "small": {"c"}}, b.observe(second))
	if o.overwrites() || hotfix.Folders[1].Hash != o.Tree.Folders[1].Hash {
		t.Error("the plan reports a hotfix as drift that the fleet contains now")
	}
	b.deliver(o, 1)
}

// TestRemove: a destroy removes the folders that the record lists. Without a record, it removes the folders that have
// not changed since the delivery.
func TestRemove(t *testing.T) {
	t.Parallel()
	theirs := map[string]string{"team/x": "theirs", "README.md": "theirs", "large.txt": "theirs"}
	for _, test := range []struct {
		name string
		edit map[string]gitserver.File
		left []string // paths that remain besides people's files
		said string   // a part of the error, in which case nothing is removed
	}{
		{name: "as delivered"},
		{name: "foreign files in our folders",
			edit: map[string]gitserver.File{"large/y": plain("theirs"), "small/c-x/namespace.yaml": {}}},
		{name: "removed record", edit: map[string]gitserver.File{".kalypso": {}, "large/y": plain("theirs")},
			left: []string{"large/README.md", "large/a-x/namespace.yaml", "large/a-x/reconciler.yaml",
				"large/b-x/namespace.yaml", "large/b-x/reconciler.yaml", "large/y"}},
		{name: "file instead of a folder", edit: map[string]gitserver.File{"small": plain("theirs")},
			left: []string{"small"}},
		{name: "record of another environment",
			edit: map[string]gitserver.File{".kalypso/rendering.json": plain(`{"version": 1, "environment": "stage"}`)},
			said: `environment "stage"`},
		{name: "invalid record", edit: map[string]gitserver.File{".kalypso/rendering.json": plain("{")},
			said: "can't be used"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newBranch(t)
			s := b.deliver(b.request("1", usual, nil), 1)
			gitserver.Seed(t, b.repo, "dev", theirs)
			gitserver.SeedFiles(t, b.repo, "dev", "Mine", test.edit)
			before := b.paths()
			err := b.remove(s)
			want := slices.Sorted(slices.Values(append(test.left, slices.Collect(maps.Keys(theirs))...)))
			if test.said != "" {
				if !refuses(err, delivery.Occupied) || !strings.Contains(err.Error(), test.said) {
					t.Errorf("the error is %v, want %q", err, test.said)
				}
				want = before
			} else if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, b.paths()); diff != "" {
				t.Errorf("the branch (-want +got):\n%s", diff)
			}
			// On a deleted branch, there is nothing to do.
			if test.said == "" {
				gitserver.Git(t, b.repo, "update-ref", "-d", "refs/heads/dev")
				if err := b.remove(s); err != nil {
					t.Errorf("on a deleted branch: %v", err)
				}
			}
		})
	}
}

// TestAdopt adopts folders with the names of our folders, and folders of the operator. Each target whose folder is
// removed with them counts for the guardrails.
func TestAdopt(t *testing.T) {
	t.Parallel()
	const readme = "This folder contains deployment targets scheduled on the cluster type"
	b := newBranch(t)
	gitserver.Seed(t, b.repo, "dev", map[string]string{
		"large/README.md": readme, "large/a-x/config.yaml": "stale", "large/old-x/reconciler.yaml": "",
		"legacy/README.md": readme, "legacy/old-x/reconciler.yaml": "old", "team/README.md": "theirs",
	})
	refused := func(o request) error {
		t.Helper()
		head := gitserver.Rev(t, b.repo, "dev")
		_, err := b.tryDeliver(o)
		if err == nil || gitserver.Rev(t, b.repo, "dev") != head {
			t.Errorf("the error is %v, and the head %s", err, gitserver.Rev(t, b.repo, "dev"))
		}
		return err
	}
	o := b.request("1", usual, nil)
	if err := refused(o); !refuses(err, delivery.NotOwned, "large") {
		t.Errorf("without adopt: %v", err)
	}
	o.Adopt = true
	if err := refused(o); !refuses(err, delivery.Guardrail, "large/old-x", "legacy/old-x") ||
		!strings.Contains(err.Error(), "removes 2 of 3 deployment target folders") {
		t.Errorf("with adopt: %v", err)
	}
	o.Guardrails.MaxRemoved = "2"
	found, effects, err := remote.Check(t.Context(), b.client, o.applied(), o.before)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(delivery.Adoption{Adopted: []string{"large", "legacy"}, Removed: []string{"legacy"}},
		found.Adoption); diff != "" {
		t.Errorf("adoption (-want +got):\n%s", diff)
	}
	told := []string{
		"large: 1 added, 1 removed, 1 changed", "  added: b-x", "  removed: old-x", "  changed: a-x",
		"  removes config.yaml (1 deployment target)",
		"legacy: 0 added, 1 removed, 0 changed (the folder is removed)", "  removed: old-x",
		"small: 1 added, 0 removed, 0 changed (a new folder)", "  added: c-x",
	}
	if diff := cmp.Diff(told, effects); diff != "" {
		t.Errorf("lines about the changes (-want +got):\n%s", diff)
	}
	s := b.deliver(o, 1)
	want := []string{
		".kalypso/rendering.json", "large/README.md", "large/a-x/namespace.yaml", "large/a-x/reconciler.yaml",
		"large/b-x/namespace.yaml", "large/b-x/reconciler.yaml",
		"small/README.md", "small/c-x/namespace.yaml", "small/c-x/reconciler.yaml", "team/README.md",
	}
	if diff := cmp.Diff(want, b.paths()); diff != "" {
		t.Errorf("the branch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"large", "small", "team"}, s.LastRead.Folders.Names()); diff != "" {
		t.Errorf("folders (-want +got):\n%s", diff)
	}
}

// TestRoundTrips: a delivery reads with three requests. One looks up the branch, one fetches the trees that differ, and
// one looks up the branch after the push.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	server, url := gitserver.Serve(t, b.repo, gitserver.WithFilter())
	at := func(value string, before *delivery.State) request {
		o := b.request(value, usual, before)
		o.Destination.Repo = url
		return o
	}
	s := reread(t, b.deliver(at("1", nil), 1))
	server.ResetLog()
	b.deliver(at("2", s), 1)
	if reads := server.Reads(); reads != 3 {
		t.Errorf("the branch was read with %d requests", reads)
	}
	gitserver.Fsck(t, b.repo)
}

// TestMove: a move delivers the whole tree to the new location and removes it from the previous location, unless the
// previous location is kept.
func TestMove(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	s := reread(t, b.deliver(b.request("1", usual, nil), 1))
	o := b.request("1", usual, s)
	o.Destination.Path = "deep/down"
	if _, err := b.tryDeliver(o); !refuses(err, delivery.Guardrail, "large/a-x", "large/b-x", "small/c-x") ||
		!strings.Contains(err.Error(), "Clusters that still sync from there") {
		t.Errorf("with the default guardrails: %v", err)
	}
	o.Guardrails = delivery.Guardrails{MaxRemoved: "3", AllowEmpty: true}
	moved := b.deliver(o, 1)
	if moved.Delivered.TreeHash() != o.Tree.Hash {
		t.Errorf("the tree is %s", moved.Delivered.TreeHash())
	}
	for _, path := range b.paths() {
		if !strings.HasPrefix(path, "deep/down/") {
			t.Errorf("%s was not removed", path)
		}
	}
	o = b.request("1", usual, reread(t, moved))
	o.KeepOld = true
	before := b.paths()
	o.Destination.Branch = "beside"
	if _, err := b.tryDeliver(o); err != nil || gitserver.Rev(t, b.repo, "beside") == "" {
		t.Errorf("move that keeps the previous location: %v", err)
	}
	if diff := cmp.Diff(before, b.paths()); diff != "" {
		t.Errorf("previous location that is kept (-before +after):\n%s", diff)
	}
	o = b.request("1", usual, reread(t, moved))
	o.Guardrails = delivery.Guardrails{MaxRemoved: "3", AllowEmpty: true}
	o.Destination = destination.Destination{Repo: gitserver.InitBare(t), Branch: "other", Path: "."}
	result, err := b.tryDeliver(o)
	if err != nil || result.State.Delivered.TreeHash() != o.Tree.Hash {
		t.Fatalf("%v, %v", result, err)
	}
	gitserver.Fsck(t, o.Destination.Repo)
	if modes := gitserver.Modes(t, o.Destination.Repo, "other"); modes["large/a-x/reconciler.yaml"] == "" ||
		modes["small/c-x/reconciler.yaml"] == "" {
		t.Errorf("the new branch contains %v", modes)
	}
}

// TestDeliverWaveWithoutState: without a state, the next wave follows from what the branch contains.
func TestDeliverWaveWithoutState(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	b.deliver(b.request("1", usual, nil), 1)
	o := b.request("2", usual, nil)
	o.Adopt = true
	o.Rollout = &rollout.Rollout{Stages: []rollout.Stage{{Name: "all", MaxConcurrency: &limit.Limit{Number: 1}}}}
	folder := func(name string) string { return gitserver.Git(t, b.repo, "rev-parse", "dev:"+name) }
	large, small := folder("large"), folder("small")
	if o.applied().Known > inventory.Unread {
		t.Error("the tree is known before the branch is read")
	}
	result, err := b.tryDeliver(o)
	if err != nil {
		t.Fatal(err)
	}
	if result.Applied.Known == inventory.Unread || result.Applied.Complete {
		t.Error("the applied tree is unknown or complete, although it is a wave")
	}
	if changed := []bool{folder("large") != large, folder("small") != small}; changed[0] == changed[1] {
		t.Errorf("the wave changed large: %t, small: %t", changed[0], changed[1])
	}
}

// reread encodes and decodes a state, as the next run does.
func reread(t *testing.T, s *delivery.State) *delivery.State {
	t.Helper()
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	next, err := delivery.DecodeState(text)
	if err != nil {
		t.Fatal(err)
	}
	return next
}
