package delivery_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// kept is the state as the next run finds it.
func kept(t *testing.T, s *delivery.State) *delivery.State {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var next delivery.State
	if err := json.Unmarshal(text, &next); err != nil {
		t.Fatal(err)
	}
	return &next
}

// keptOfMany is the state as the next run finds it where the fleet is large: with the beginnings of hashes alone.
func keptOfMany(t *testing.T, s *delivery.State) *delivery.State {
	t.Helper()
	next := kept(t, s)
	for _, f := range []delivery.Footprint{next.Delivered, next.Seen} {
		for name, folder := range f {
			folder.Targets = folder.Targets.Cut(5)
			f[name] = folder
		}
	}
	return next
}

// What was rendered before need not be rendered again, wherever the branch has got to meanwhile, and is delivered all the
// same where a place lacks it.
func TestRendered(t *testing.T) {
	t.Run("of few targets", func(t *testing.T) { testRendered(t, kept) })
	t.Run("of many targets", func(t *testing.T) { testRendered(t, keptOfMany) })
}

func testRendered(t *testing.T, kept func(*testing.T, *delivery.State) *delivery.State) {
	t.Parallel()
	b := newBranch(t)
	s := kept(t, b.deliver(b.order("1", usual, nil), 1))
	if known := s.Rendered(); len(known) != len(usual) {
		t.Fatalf("%d folders are known", len(known))
	}
	whole := build(t, "dev", "1", usual)
	for _, folder := range whole.Folders {
		if diff := cmp.Diff(folder, s.Rendered()[folder.Digest]); diff != "" {
			t.Errorf("folder %s is not known as it is", folder.ClusterType)
		}
	}
	if diff := cmp.Diff(delivery.FootprintOf(whole), delivery.FootprintOf(rebuild(t, "dev", "1", usual, s))); diff != "" {
		t.Errorf("another footprint (-from nothing +incrementally):\n%s", diff)
	}
	// The branch holds something else.
	gitserver.SeedFiles(t, b.repo, "dev", "A hotfix", map[string]gitserver.File{"large/a-x/reconciler.yaml": plain("theirs"), "small": {}})
	drifted := kept(t, b.observe(s))
	if diff := cmp.Diff(s.Rendered(), drifted.Rendered()); diff != "" {
		t.Errorf("the branch changed what we rendered:\n%s", diff)
	}
	s = kept(t, b.deliver(b.order("1", usual, drifted), 1))
	// The tree moves to where nothing of it is.
	o := b.order("1", usual, s)
	o.Place.Path = "deep/down"
	s = kept(t, b.deliver(o, 1))
	o = b.order("1", usual, s)
	o.Place = delivery.Place{Repo: gitserver.InitBare(t), Branch: "other", Path: "."}
	moved, err := delivery.Deliver(t.Context(), b.client, o, func(string, int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	if hash := moved.State.Delivered.TreeHash(); hash != whole.Hash {
		t.Errorf("the tree is %s", hash)
	}
	gitserver.Fsck(t, o.Place.Repo)
	if modes := gitserver.Modes(t, o.Place.Repo, "other"); modes["large/a-x/reconciler.yaml"] == "" || modes["small/c-x/reconciler.yaml"] == "" {
		t.Errorf("on the new branch are %v", modes)
	}
}

// A change is delivered with one look-up of the branch and one fetch, whether the trees of the cluster types are known or not:
// what they hold comes with them.
func TestRenderedRoundTrips(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]func(*testing.T, *delivery.State) *delivery.State{"of few targets": kept, "of many targets": keptOfMany} {
		b := newBranch(t)
		server, url := gitserver.Serve(t, b.repo, gitserver.WithFilter())
		order := func(value string, before *delivery.State) *delivery.Order {
			o := b.order(value, usual, before)
			o.Place.Repo = url
			return o
		}
		s := kept(t, b.deliver(order("1", nil), 1))
		server.Forget()
		b.deliver(order("2", s), 1)
		if reads := server.Reads(); reads != 3 { // the reference, the trees, and after the push the reference again
			t.Errorf("%s: the branch was read with %d requests", name, reads)
		}
		gitserver.Fsck(t, b.repo)
	}
}

// Nothing is taken over from another build of the program, nor from a branch.
func TestRenderedByOthers(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	s := b.deliver(b.order("1", usual, nil), 1)
	imported, _, err := delivery.Import(t.Context(), b.client, s.Place, "dev")
	if err != nil {
		t.Fatal(err)
	}
	other, later := *s, *s
	other.Build, later.Engine = "another", s.Engine+1
	for name, state := range map[string]*delivery.State{"nothing": nil, "a branch": imported, "another build": &other, "another engine": &later} {
		if known := state.Rendered(); len(known) > 0 {
			t.Errorf("%d folders are known of %s", len(known), name)
		}
	}
	// Until the next run that may write.
	for name, state := range map[string]*delivery.State{"a branch": imported, "another build": &other} {
		if diff := cmp.Diff(s.Rendered(), state.Renewed(build(t, "dev", "1", usual)).Rendered()); diff != "" {
			t.Errorf("renewed after %s (-want +got):\n%s", name, diff)
		}
		if known := state.Renewed(build(t, "dev", "2", usual)).Rendered(); len(known) > 0 {
			t.Errorf("after %s, %d folders are known that were not delivered", name, len(known))
		}
	}
	computed := kept(t, delivery.Computed(b.order("1", usual, nil)))
	if diff := cmp.Diff(s.Rendered(), computed.Rendered()); diff != "" {
		t.Errorf("where nothing is delivered (-want +got):\n%s", diff)
	}
}
