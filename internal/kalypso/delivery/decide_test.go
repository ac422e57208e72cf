package delivery

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/strategy"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// The tables below specify what happens to a rendering. A row changes one part of the usual case, in which nothing has
// to be done: the environment "dev" on the branch "dev" is rendered and delivered, and the branch has not changed
// since.

// situation is what a decision follows from.
type situation struct {
	desired *desired
	prior   *Prior
	state   *State
	branch  *BranchState // as it is read now
	old     *BranchState // the same branch at the path that is left
	adopted []string
}

// desired is a rendering as rows change it: its arguments, and what its fleet renders to.
type desired struct {
	Arguments
	Tree   *tree.Tree
	failed problem.Problems
}

// rendered returns what is desired now. Later changes do not reach it.
func (d *desired) rendered() *Rendered {
	arguments := d.Arguments
	r := NewRendered(&arguments, d.Tree)
	r.failed = d.failed
	return r
}

// decide decides from the situation. Deciding twice is the same.
func (s *situation) decide(t *testing.T) *Decision {
	t.Helper()
	r := s.desired.rendered()
	decision, again := Decide(r, s.prior, s.state), Decide(r, s.prior, s.state)
	all := cmp.Exporter(func(reflect.Type) bool { return true })
	if diff := cmp.Diff(decision, again, all, cmp.Comparer(sameErrors), cmp.Comparer(sameTree)); diff != "" {
		t.Errorf("decided twice (-first +second):\n%s", diff)
	}
	return decision
}

func sameErrors(a, b error) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Error() == b.Error()
}

func sameTree(a, b *tree.Tree) bool { return a == b }

// applied returns the tree that an apply leaves.
func (s *situation) applied() *AppliedTree {
	return Decide(s.desired.rendered(), s.prior, s.state).Applied
}

const delivered = "large/a=1 large/b=1 small/c=1"

// free lets everything go.
var free = Guardrails{MaxRemoved: "100%", AllowEmpty: true}

var usualDestination = record.Destination{Repo: "https://acme.io/gitops", Branch: "dev", Path: "."}

// rendered is a tree of "cluster type/deployment target=content"; a target with the content "-" is empty.
func rendered(entries string) *tree.Tree {
	folders := map[string][]tree.TargetFolder{}
	for _, entry := range strings.Fields(entries) {
		at, content, _ := strings.Cut(entry, "=")
		name, target, ok := strings.Cut(at, "/")
		folders[name] = slices.Clip(folders[name])
		if ok {
			folders[name] = append(
				folders[name],
				tree.TargetFolder{Name: target, Hash: sha1.Sum([]byte(content)), Empty: content == "-"},
			)
		}
	}
	t := &tree.Tree{}
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		t.Folders = append(
			t.Folders,
			tree.Folder{ClusterType: name, Hash: sha1.Sum(fmt.Append(nil, folders[name])), Targets: folders[name]},
		)
	}
	t.Hash = InventoryOf(t).TreeHash()
	return t
}

func existing(entries string) Inventory { return InventoryOf(rendered(entries)) }

// containing is a branch that contains a rendering with its record.
func containing(entries string) *BranchState {
	inventory := existing(entries)
	written := record.New("dev", inventory.Names(), "", nil, nil)
	return &BranchState{Head: "head", Folders: inventory, Record: &written, RecordHash: written.Hash()}
}

func usualState(entries string) *State {
	s := NewState(usualDestination, "dev")
	s.Seen = *containing(entries)
	s.Delivered, s.DeliveredRecord, s.Base = s.Seen.Folders, s.Seen.RecordHash, "head"
	return &s
}

func usualSituation() *situation {
	return &situation{
		desired: &desired{Tree: rendered(delivered), Arguments: Arguments{
			Strategy: strategy.Push, Destination: usualDestination, Environment: "dev", Fleet: &fleet.Fleet{},
			Guardrails: Guardrails{MaxRemoved: DefaultLimit},
		}},
		prior:  &Prior{TreeHash: rendered(delivered).Hash.String(), Commit: "commit", Delivered: true},
		state:  usualState(delivered),
		branch: containing(delivered),
	}
}

// edited has others change the branch that the state has seen.
func (s *State) edited(entries string) {
	s.Seen.Folders = existing(entries)
	s.Drift = []drift.Commit{{Commit: "theirs"}}
}

// reverted has the last delivery put back on the branch by others: the branch contains what was delivered before it.
func (s *situation) reverted(last string) {
	before := deliveryOf(s.state)
	s.state = usualState(last)
	s.state.Past = []Delivery{before}
	s.state.Seen, s.state.Drift = *containing(delivered), []drift.Commit{{Commit: "revert"}}
}

// proposed has the tree proposed by the pull request 7, while the destination contains what was delivered.
func (s *situation) proposed(entries string) *Proposal {
	s.desired.Strategy, s.desired.Tree = strategy.PullRequest, rendered(entries)
	s.prior.TreeHash = s.desired.Tree.Hash.String()
	head := usualState(entries)
	head.Destination.Branch = "deployment/dev"
	s.state.Proposal = &Proposal{Head: head, Pushed: "head", Number: 7, State: hosting.Open}
	return s.state.Proposal
}

// moved has the branch "old" hold what was delivered before a move.
func (s *situation) moved() *OldLocation {
	left := usualState(delivered)
	left.Destination.Branch = "old"
	old := &OldLocation{State: left}
	s.state.OldLocations = append(s.state.OldLocations, old)
	return old
}

// text describes the decision on a situation, with the changes if they are known.
func (d *Decision) text(on *situation) string {
	parts := []string{map[Action]string{Keep: "keep", Undecided: "undecided", Write: "write",
		RemoveOld: "remove old"}[d.Action]}
	add := func(say bool, format string, args ...any) {
		if say {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	if d.Comparable {
		add(true, "changes %v", Changes(foundFolders(on.state), d.Applied.Inventory()))
	}
	add(d.Comparable && !d.Describable, "not describable yet")
	add(len(d.Adoption.Adopted) > 0, "adopts %v", d.Adoption.Adopted)
	for _, m := range d.Moves {
		add(true, "moves %s", m.Target)
	}
	for _, old := range d.OldRemoved {
		add(true, "removes %s", old.Branch)
	}
	for _, old := range d.OldKept {
		add(true, "closes the removal of %s", old.Branch)
	}
	for _, old := range d.OldKeptForNow {
		add(true, "keeps %s for now", old.Branch)
	}
	for _, s := range d.Drift {
		add(true, "overwrites others on %s", s.Destination.Branch)
	}
	add(d.ClosedPullRequest != 0, "pull request %d was abandoned", d.ClosedPullRequest)
	add(d.LeftTree != nil, "leaves the tree")
	add(d.LeftPullRequest != 0, "leaves pull request %d", d.LeftPullRequest)
	add(d.Replaced != "", "replaces %s", d.Replaced)
	add(d.Unreadable, "recovers the state")
	add(d.Check, "reads the branch")
	for _, err := range d.Errors {
		add(true, "refuses: %s", kindOf(err))
	}
	return strings.Join(parts, ", ")
}

// kindOf describes an error by its type, and an ownership error by its subject.
func kindOf(err error) string {
	var ownership *OwnershipError
	var moved *MovedError
	var guardrail *GuardrailError
	var exists *ExistsError
	switch {
	case errors.As(err, &exists):
		return fmt.Sprintf("exists %v", exists.Changes)
	case errors.As(err, &ownership) && len(ownership.Folders) > 0:
		return fmt.Sprintf("not ours %v", ownership.Folders)
	case errors.As(err, &ownership):
		for _, word := range []string{"not a directory", "not a file", "leaves this rendering", "another rendering",
			"of environment", "can't be used", "not directories", "people pushed", "not this rendering's"} {
			if strings.Contains(ownership.Reason, word) {
				return word
			}
		}
	case errors.As(err, &moved):
		return fmt.Sprintf("moved %v", moved.Folders)
	case errors.As(err, &guardrail) && len(guardrail.Removed) == 0:
		return "empty"
	case errors.As(err, &guardrail):
		return fmt.Sprintf("removes %v", guardrail.Removed)
	}
	return err.Error()
}

// TestDecide: the actions of an apply, by the configuration and the state of the last run.
func TestDecide(t *testing.T) {
	const unknown = unknown.Text
	for _, test := range []struct {
		rule string
		with func(*situation)
		want string
	}{
		{"nothing changes", func(*situation) {}, "keep"},
		{"other origins and another message of the same bytes cause no commit", func(s *situation) {
			s.desired.Origins, s.desired.Message = []string{"repo@main:x"}, "Another"
		}, "keep"},

		// A create.
		{"a create reads the branch for errors", func(s *situation) { s.prior, s.state = nil, nil },
			"write, reads the branch"},
		{"a create whose place is not known yet contacts nothing", func(s *situation) {
			s.prior, s.state, s.desired.Incomplete = nil, nil, true
		}, "write"},
		{"a create that only computes contacts nothing", func(s *situation) {
			s.prior, s.state, s.desired.Strategy = nil, nil, strategy.None
		}, "write"},

		{"a create of an empty tree is refused", func(s *situation) {
			s.prior, s.state, s.desired.Tree = nil, nil, rendered("large small/a=-")
		}, "write, reads the branch, refuses: empty"},
		{"it may be allowed", func(s *situation) {
			s.prior, s.state, s.desired.Tree, s.desired.Guardrails.AllowEmpty = nil, nil, rendered("large"), true
		}, "write, reads the branch"},
		{"it is not where that is only computed", func(s *situation) {
			s.prior, s.state, s.desired.Tree, s.desired.Strategy = nil, nil, rendered("large"), strategy.None
		}, "write"},

		// Changes.
		{"another tree is written", func(s *situation) { s.desired.Tree = rendered("large/a=2 large/b=1 small/c=1") },
			"write, changes map[large:+0 -0 ~1]"},
		{"another promoted commit is written", func(s *situation) { s.desired.Promotion.Commit = "v2" },
			"write, changes map[]"},
		{"another environment is written, and takes all of the one before away",
			func(s *situation) { s.desired.Environment = "stage" },
			"write, changes map[], replaces dev, refuses: removes [large/a large/b small/c]"},
		{"another place is written, and read for errors", func(s *situation) {
			s.desired.Destination.Path, s.desired.Guardrails = "clusters", free
		}, "write, changes map[], reads the branch"},
		{"another way to write the same place is none",
			func(s *situation) { s.desired.Destination.Repo = "https://ACME.io:443/gitops.git" }, "keep"},
		{"what was never delivered is", func(s *situation) { s.prior.Commit = ""; s.state = nil }, "write, reads the branch"},
		{"a pull request whose private state can't be read looks at the branch", func(s *situation) {
			s.desired.Strategy, s.state = strategy.PullRequest, nil
		}, "write, recovers the state, reads the branch"},

		// Unknown values.
		{"a strategy that is not known decides nothing", func(s *situation) { s.desired.Strategy = unknown }, "undecided"},
		{"assignments that are not known decide nothing", func(s *situation) { s.desired.Tree = nil }, "undecided"},
		{"another promoted commit is written whatever the assignments are", func(s *situation) {
			s.desired.Tree, s.desired.Promotion.Commit = nil, "v2"
		}, "write"},
		{"a file that is not known decides nothing", func(s *situation) { s.desired.Tree.Unknown = true }, "undecided"},
		{"a branch that is not known decides nothing", func(s *situation) {
			s.desired.Destination.Branch, s.desired.Incomplete = unknown, true
		}, "undecided"},
		{"a promoted commit that is not known decides nothing", func(s *situation) { s.desired.Promotion.Commit = unknown },
			"undecided"},
		{"an environment that is not known is no other one", func(s *situation) { s.desired.Environment = unknown }, "keep"},
		{"guardrails judge targets whose files are not known", func(s *situation) {
			s.desired.Tree = rendered("large/a=1")
			s.desired.Tree.Unknown = true
		}, "undecided, refuses: removes [large/b small/c]"},
		{"what is not known to be allowed is not judged", func(s *situation) {
			s.desired.Tree, s.desired.Incomplete = rendered("large/a=1"), true
		}, "write, changes map[large:+0 -1 ~0 small:+0 -1 ~0]"},

		// Guardrails and ownership, as far as the last read shows.
		{"guardrails stop what takes too much away", func(s *situation) { s.desired.Tree = rendered("large/a=1") },
			"write, changes map[large:+0 -1 ~0 small:+0 -1 ~0], refuses: removes [large/b small/c]"},
		{"guardrails judge a move too: the place that is left loses all", func(s *situation) {
			s.desired.Destination.Branch = "live"
		}, "write, changes map[], reads the branch, refuses: removes [large/a large/b small/c]"},
		{"also within a branch", func(s *situation) {
			s.desired.Destination.Path = "clusters"
		}, "write, changes map[], reads the branch, refuses: removes [large/a large/b small/c]"},
		{"a move that leaves all where it was takes nothing away", func(s *situation) {
			s.desired.Destination.Branch, s.desired.KeepOld = "live", true
			s.desired.Guardrails = Guardrails{}
		}, "write, changes map[], reads the branch"},
		{"a place that contains nothing is left", func(s *situation) {
			s.proposed("large/a=2")
			s.state.Delivered, s.state.Seen.Folders, s.state.Seen.Record = Inventory{}, Inventory{}, nil
			s.desired.Destination.Branch = "live"
		}, "write, changes map[large:+1 -0 ~0], reads the branch"},
		{"a folder of others is not written", func(s *situation) {
			s.desired.Tree = rendered(delivered + " team/d=1")
			s.state.Seen.Folders = existing(delivered + " team/x=1")
		}, "write, changes map[team:+1 -0 ~0], refuses: not ours [team]"},
		{"a folder of others is adopted", func(s *situation) {
			s.desired.Tree, s.desired.Adopt = rendered(delivered+" team/d=1"), true
			s.state.Seen.Folders = existing(delivered + " team")
		}, "write, changes map[team:+1 -0 ~0], adopts [team]"},
		{"a file stands in the way of a folder", func(s *situation) {
			s.desired.Tree, s.state.Seen.Files = rendered(delivered+" team/d=1"), []string{"team"}
		}, "write, changes map[team:+1 -0 ~0], refuses: not directories"},
		{"what is on the branch of others stops nothing that needs it not", func(s *situation) {
			s.state.Seen.Folders, s.state.Seen.Files = existing(delivered+" team/x=1"), []string{"README.md"}
		}, "keep"},

		// Drift.
		{"changes of others are overwritten", func(s *situation) { s.state.edited("large/a=9 large/b=1 small/c=1") },
			"write, changes map[large:+0 -0 ~1], overwrites others on dev"},
		{"changes of others that came into the fleet are not", func(s *situation) {
			s.state.edited("large/a=2 large/b=1 small/c=1")
			s.desired.Tree = rendered("large/a=2 large/b=1 small/c=1")
		}, "write, changes map[]"},
		{"a record that others changed is overwritten", func(s *situation) {
			s.state.Seen.RecordHash, s.state.Drift = "theirs", []drift.Commit{{}}
		}, "write, changes map[], overwrites others on dev"},
		{"an apply that was killed after its push overwrites nothing", func(s *situation) {
			s.desired.Tree = rendered("large/a=2 new/d=1")
			s.state.Seen, s.state.Drift = *containing("large/a=2 new/d=1"), []drift.Commit{{}}
		}, "write, changes map[]"},
		{"a move overwrites what others changed at the old place", func(s *situation) {
			s.state.edited("large/a=9 large/b=1 small/c=1")
			s.desired.Destination.Path, s.desired.Guardrails = "clusters", free
		}, "write, changes map[large:+0 -0 ~1], overwrites others on dev, reads the branch"},
		{"a move that leaves all where it was overwrites nothing there", func(s *situation) {
			s.state.edited("large/a=9 large/b=1 small/c=1")
			s.desired.Destination.Path, s.desired.KeepOld = "clusters", true
		}, "write, changes map[large:+0 -0 ~1], reads the branch"},
		{"people reverted the last delivery, and the fleet renders the one before again", func(s *situation) {
			s.reverted("large/a=2 large/b=1 small/c=1")
		}, "keep"},
		{"people reverted the last delivery, and rejected its commit", func(s *situation) {
			s.reverted("large/a=2 large/b=1 small/c=1")
			s.state.PromotedCommit, s.desired.Rejected = "bad", []string{"bad"}
			s.desired.Tree = rendered("large/a=3 large/b=1 small/c=1")
		}, "write, changes map[large:+0 -0 ~1]"},
		{"people reverted the last delivery, and the fleet still renders it", func(s *situation) {
			s.reverted("large/a=2 large/b=1 small/c=1")
			s.desired.Tree = rendered("large/a=2 large/b=1 small/c=1")
		}, "write, changes map[large:+0 -0 ~1], overwrites others on dev"},
		{"what is to be written over drift is not known yet", func(s *situation) {
			s.state.edited("large/a=9 large/b=1 small/c=1")
			s.desired.Tree = nil
		}, "write, overwrites others on dev"},

		{"what stands where the record was is not overwritten", func(s *situation) {
			s.state.Seen.RecordObstacle, s.state.Seen.RecordHash = `".kalypso" exists but is not a directory`, ""
			s.state.Seen.Record, s.state.Drift = nil, []drift.Commit{{}}
		}, "write, changes map[], overwrites others on dev, refuses: not a directory"},
		{"nor is the record of another environment", func(s *situation) {
			written := record.New("stage", []string{"large", "small"}, "", nil, nil)
			s.state.Seen.Record, s.state.Seen.RecordHash, s.state.Drift = &written, written.Hash(), []drift.Commit{{}}
		}, "write, changes map[], overwrites others on dev, refuses: of environment"},

		// Old locations on other branches.
		{"a push removes an old location that is left over", func(s *situation) { s.moved() }, "write, changes map[]"},
		{"on_move keeps it", func(s *situation) { s.moved(); s.desired.KeepOld = true }, "keep"},
		{"by pull request, it is removed once the destination contains the tree", func(s *situation) {
			s.moved()
			s.desired.Strategy = strategy.PullRequest
		}, "remove old, removes old"},
		{"and stays until then", func(s *situation) {
			s.moved()
			s.desired.Strategy, s.desired.Tree = strategy.PullRequest, rendered("large/a=2 large/b=1 small/c=1")
		}, "write, changes map[large:+0 -0 ~1], keeps old for now"},
		{"its pull request waits for people", func(s *situation) {
			s.moved().Number = 3
			s.desired.Strategy = strategy.PullRequest
		}, "keep"},
		{"one that people closed stays closed", func(s *situation) {
			old := s.moved()
			old.Number, old.Closed, s.desired.Strategy = 3, true, strategy.PullRequest
		}, "keep"},
		{"unless reopen asks for another", func(s *situation) {
			old := s.moved()
			old.Number, old.Closed, s.desired.Strategy, s.desired.PullRequest.Reopen = 3, true, strategy.PullRequest, true
			s.prior.PullRequest.Reopen = true
		}, "remove old, removes old"},
		{"on_move closes it", func(s *situation) {
			s.moved().Number = 3
			s.desired.Strategy, s.desired.KeepOld = strategy.PullRequest, true
		}, "remove old, closes the removal of old"},
		{"while on_move is not known, nothing is decided about it", func(s *situation) {
			s.moved()
			s.desired.Strategy, s.desired.Incomplete = strategy.PullRequest, true
		}, "undecided, keeps old for now"},

		{"a target that leaves a cluster type and joins another moves", func(s *situation) {
			s.desired.Tree = rendered("large/b=1 small/a=1 small/c=1")
			s.prior.Placed = map[string][]string{"a": {"large"}, "b": {"large"}, "c": {"small"}}
		}, "write, changes map[large:+0 -1 ~0 small:+1 -0 ~0], moves a"},

		// Decisions of placement.
		{"decisions that are dropped are written", func(s *situation) {
			s.state.Decisions = placement.Decisions{"p": {Targets: map[string][]string{"a": {"large"}}}}
		}, "write, changes map[]"},

		// Contents of a description.
		{"a change is described once the commits of its sources are known", func(s *situation) {
			s.desired.Tree = rendered("large/a=2 large/b=1 small/c=1")
			s.desired.Sources = map[string]string{"https://acme.io/app@main:.": unknown}
		}, "write, changes map[large:+0 -0 ~1], not describable yet"},

		// A private state of another version.
		{"a state that can't be read is recovered from the branch", func(s *situation) { s.state = nil },
			"write, recovers the state, reads the branch"},
		{"so is one of another engine", func(s *situation) { s.state.Engine++ },
			"write, recovers the state, reads the branch"},
		{"nothing is recovered where nothing is delivered from now on", func(s *situation) {
			s.state, s.desired.Strategy = nil, strategy.None
		}, "write"},

		// Only computed.
		{"what is only computed writes nothing", func(s *situation) {
			s.desired.Strategy, s.prior.Commit = strategy.None, ""
			s.state = Computed(newAppliedTree(s.desired.rendered(), s.prior, s.state))
		}, "keep"},
		{"another tree that is only computed changes the state", func(s *situation) {
			s.desired.Strategy, s.prior.Commit = strategy.None, ""
			s.state = Computed(newAppliedTree(s.desired.rendered(), s.prior, s.state))
			s.desired.Tree = rendered("large/a=1")
		}, "write, changes map[large:+0 -1 ~0 small:+0 -1 ~0]"},
		{"another environment of the same tree, only computed, changes nothing that is kept", func(s *situation) {
			s.desired.Strategy, s.prior.Commit = strategy.None, ""
			s.state = Computed(newAppliedTree(s.desired.rendered(), s.prior, s.state))
			s.desired.Environment = "stage"
		}, "keep"},
		{"a delivered tree stays where it is", func(s *situation) { s.desired.Strategy = strategy.None },
			"write, changes map[], leaves the tree"},
		{"an open pull request stays too", func(s *situation) {
			s.proposed("large/a=2")
			s.desired.Strategy, s.prior.Commit = strategy.None, ""
		}, "write, changes map[large:+0 -1 ~1 small:+0 -1 ~0], leaves pull request 7"},

		// Pull requests: the rows of the guide, "What a plan finds".
		{"open, and its branch contains the tree",
			func(s *situation) { s.proposed("large/a=2 large/b=1 small/c=1") }, "keep"},
		{"open, and people pushed to its branch what changes the tree", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1").Head.edited("large/a=9 large/b=1 small/c=1")
		}, "write, changes map[large:+0 -0 ~1], overwrites others on deployment/dev"},
		{"open, and others changed the rendering's folders on the target branch", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1")
			s.state.edited("large/a=9 large/b=1 small/c=1")
		}, "write, changes map[large:+0 -0 ~1], overwrites others on dev"},
		{"open, and its branch is gone", func(s *situation) { s.proposed("large/a=2 large/b=1 small/c=1").Lost = true },
			"write, changes map[large:+0 -0 ~1]"},
		{"open, and another rendering's promoted commit came first", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1").Stale = true
		}, "write, changes map[large:+0 -0 ~1]"},
		{"merged", func(s *situation) { s.desired.Strategy = strategy.PullRequest }, "keep"},
		{"merged, and the branch changed later", func(s *situation) {
			s.desired.Strategy = strategy.PullRequest
			s.state.edited("large/a=9 large/b=1 small/c=1")
		}, "write, changes map[large:+0 -0 ~1], overwrites others on dev"},
		{"closed without being merged", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1").State = hosting.Closed
		}, "keep, pull request 7 was abandoned"},
		{"closed, and the next different tree", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1").State = hosting.Closed
			s.desired.Tree = rendered("large/a=3 large/b=1 small/c=1")
		}, "write, changes map[large:+0 -0 ~1], pull request 7 was abandoned"},
		{"closed, and reopen", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1").State = hosting.Closed
			s.desired.PullRequest.Reopen = true
		}, "write, changes map[large:+0 -0 ~1], pull request 7 was abandoned"},

		// More of pull requests.
		{"what was never delivered is proposed", func(s *situation) {
			s.desired.Strategy, s.prior.Commit = strategy.PullRequest, ""
		}, "write, changes map[]"},
		{"the settings of an open pull request changed", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1")
			s.desired.PullRequest.Labels = []string{"platform"}
		}, "write, changes map[large:+0 -0 ~1]"},
		{"the settings of one that was merged are none of its business", func(s *situation) {
			s.desired.Strategy, s.desired.PullRequest.Draft = strategy.PullRequest, true
		}, "keep"},
		{"people pushed beside our folders, and there is something to write", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1").OtherCommits = []drift.Commit{{Commit: "note"}}
			s.desired.Tree = rendered("large/a=3 large/b=1 small/c=1")
		}, "write, changes map[large:+0 -0 ~1], overwrites others on deployment/dev"},
		{"people pushed beside our folders, and there is not", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1").OtherCommits = []drift.Commit{{Commit: "note"}}
		}, "keep"},
		{"from pull requests to pushes, with one open", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1")
			s.desired.Strategy, s.prior.Commit = strategy.Push, ""
		}, "write, changes map[large:+0 -0 ~1]"},
		{"another environment, proposed already, is no other one", func(s *situation) {
			s.proposed(delivered).Head.Environment = "stage"
			s.desired.Environment = "stage"
		}, "keep"},
		{"what a proposal adopts is compared with", func(s *situation) {
			s.proposed(delivered + " team/d=2").Adopted = existing("team/d=1")
			s.desired.Tree = rendered(delivered + " team/d=3")
			s.desired.Adopt, s.state.Seen.Folders = true, existing(delivered+" team/d=1")
		}, "write, changes map[team:+0 -0 ~1], adopts [team]"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s := usualSituation()
			test.with(s)
			if diff := cmp.Diff(test.want, s.decide(t).text(s)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestChange: the change of an apply, by the branch that it reads.
func TestChange(t *testing.T) {
	for _, test := range []struct {
		rule string
		with func(*situation)
		want string
	}{
		{"the branch contains what is desired", func(*situation) {}, "nothing"},
		{"it does so for an apply that has lost the state", func(s *situation) { s.state = nil }, "nothing"},
		{"other origins alone are no reason for a commit", func(s *situation) { s.desired.Origins = []string{"repo@main:x"} },
			"nothing"},
		{"another promoted commit is", func(s *situation) { s.desired.Promotion.Commit = "v2" }, "write"},
		{"another tree is", func(s *situation) { s.desired.Tree = rendered("large/a=2 large/b=1 small/c=1") }, "write"},
		{"a branch that lacks the record gets one", func(s *situation) {
			s.state, s.branch.Record, s.branch.RecordHash, s.branch.Folders = nil, nil, "", Inventory{}
		}, "write"},
		{"what is not rendered any more goes", func(s *situation) { s.desired.Tree = rendered("large/a=1 large/b=1") },
			"write, remove small"},
		{"what others put in place of a folder of ours goes", func(s *situation) {
			delete(s.branch.Folders, "small")
			s.branch.Files = []string{"small"}
			s.state.Seen = *s.branch
		}, "write, remove small"},
		{"folders and files of others stay", func(s *situation) {
			s.desired.Tree = rendered("large/a=2 large/b=1 small/c=1")
			s.branch.Folders["team"], s.branch.Files = InventoryFolder{}, []string{"README.md"}
		}, "write"},

		// The owner of the destination.
		{"a file above the path", func(s *situation) { s.branch.Obstacle = `"a" exists but is not a directory` },
			"refuses: not a directory"},
		{"a file in place of the record's folder", func(s *situation) {
			s.branch.RecordObstacle = `".kalypso" exists but is not a directory`
		}, "refuses: not a directory"},
		{"a folder in place of the record", func(s *situation) {
			s.branch.RecordObstacle = `".kalypso/rendering.json" exists but is not a file`
		}, "refuses: not a file"},
		{"a folder in place of the promoted commit's file", func(s *situation) {
			s.branch.PromotedCommitObstacle, s.desired.Promotion.Commit = "it exists but is not a file", "v2"
		}, "refuses: not a file"},
		{"a folder in place of a promoted commit's file that is not written", func(s *situation) {
			s.branch.PromotedCommitObstacle = "it exists but is not a file"
		}, "nothing"},
		{"another rendering below the path", func(s *situation) { s.branch.OtherRenderings = []string{"team"} },
			"refuses: another rendering"},
		{"another rendering above the path", func(s *situation) {
			s.desired.Destination.Path, s.branch.OtherRenderings, s.state = "a/b", []string{"a"}, nil
		}, "refuses: another rendering"},
		{"another rendering beside the path", func(s *situation) {
			s.desired.Destination.Path, s.branch.OtherRenderings, s.state = "a/b", []string{"a/c"}, nil
		}, "nothing"},
		{"the path that is left is no other rendering", func(s *situation) {
			s.desired.Destination.Path, s.old = "clusters", containing(delivered)
			s.branch = &BranchState{Head: "head", OtherRenderings: []string{"."}}
			s.desired.Guardrails = free
		}, "write, remove .kalypso/rendering.json, remove large, remove small"},
		{"the path that is left and kept is another rendering", func(s *situation) {
			s.desired.Destination.Path, s.old = "clusters", containing(delivered)
			s.branch = &BranchState{Head: "head", OtherRenderings: []string{"."}}
			s.desired.KeepOld = true
		}, "refuses: leaves this rendering"},
		{"a path beside it is not", func(s *situation) {
			s.state.Destination.Path, s.desired.Destination.Path, s.desired.KeepOld = "old", "new", true
			s.branch, s.old = &BranchState{Head: "head"}, containing(delivered)
		}, "write"},
		{"the path that is left may not go", func(s *situation) {
			s.desired.Destination.Path, s.branch, s.old = "clusters", &BranchState{Head: "head"}, containing(delivered)
		}, "refuses: removes [large/a large/b small/c]"},
		{"the record of another environment", func(s *situation) { s.branch.Record.Environment = "stage" },
			"refuses: of environment"},
		{"the record of another environment, for an apply that has no state", func(s *situation) {
			s.state, s.branch.Record.Environment = nil, "stage"
		}, "refuses: of environment"},
		{"the record of the environment before", func(s *situation) {
			s.desired.Environment, s.desired.Guardrails = "stage", free
		}, "write"},
		{"a record that can't be used, for an apply that has no state", func(s *situation) {
			s.state, s.branch.Record, s.branch.RecordError = nil, nil, "it is of a later version"
		}, "refuses: can't be used"},
		{"a record that others broke is written anew", func(s *situation) {
			s.branch.Record, s.branch.RecordError, s.branch.RecordHash = nil, "it is not JSON", "theirs"
			s.state.Seen = *s.branch
		}, "write"},

		// A rendering of the environment that no state knows.
		{"a rendering that no state tells of, with another tree", func(s *situation) {
			s.state, s.desired.Tree = nil, rendered("large/a=2 large/b=1 new/d=1")
		}, "refuses: exists map[large:+0 -0 ~1 new:+1 -0 ~0 small:+0 -1 ~0]"},
		{"it contains the same tree, and others took a folder of it away", func(s *situation) {
			s.state = nil
			delete(s.branch.Folders, "small")
		}, "refuses: exists map[small:+1 -0 ~0]"},
		{"it contains the same tree of another promoted commit",
			func(s *situation) { s.state, s.desired.Promotion.Commit = nil, "v2" }, "write"},
		{"it is adopted", func(s *situation) {
			s.state, s.desired.Adopt, s.desired.Tree = nil, true, rendered("large/a=2 large/b=1")
		}, "write, remove small"},
		{"it may contain the same tree, of which some is not known yet", func(s *situation) {
			s.state, s.desired.Tree = nil, rendered(delivered)
			s.desired.Tree.Unknown, s.desired.Tree.Folders[0].Unknown = true, true
			s.desired.Tree.Folders[0].Hash, s.desired.Tree.Folders[0].Targets[0].Unknown = tree.Hash{}, true
		}, "write"},
		{"what is known of the tree is not what it contains", func(s *situation) {
			s.state, s.desired.Tree = nil, rendered("large/a=1 large/b=2 small/c=1")
			s.desired.Tree.Unknown, s.desired.Tree.Folders[0].Unknown = true, true
			s.desired.Tree.Folders[0].Targets[0].Unknown = true
		}, "refuses: exists map[large:+0 -0 ~1]"},
		{"a move finds it, and says so", func(s *situation) {
			s.state.Destination.Path, s.desired.Tree, s.desired.Guardrails = "elsewhere", rendered("large/a=2 large/b=1 "+
				"small/c=1"), free
		}, "write"},

		// Changes between plan and apply.
		{"our folders moved since the plan", func(s *situation) {
			s.branch.Folders = existing("large/a=9 large/b=1 small/c=1")
		}, "refuses: moved [large]"},
		{"our record moved since the plan",
			func(s *situation) { s.branch.RecordHash = "theirs"; s.branch.Record.PromotedCommit = "v9" },
			"refuses: moved [.kalypso/rendering.json]"},
		{"they moved to what is desired", func(s *situation) {
			s.desired.Tree, s.branch = rendered("large/a=2"), containing("large/a=2")
			s.desired.Guardrails = free
		}, "nothing"},
		{"folders of others moved since the plan",
			func(s *situation) { s.branch.Folders["team"] = InventoryFolder{} }, "nothing"},
		{"the path that is left moved since the plan", func(s *situation) {
			s.desired.Destination.Path, s.branch, s.old = "clusters", &BranchState{Head: "head"}, containing("large/a=9 "+
				"large/b=1 small/c=1")
			s.desired.Guardrails = free
		}, "refuses: moved [large]"},

		// Adoption.
		{"a folder of others is needed", func(s *situation) {
			s.state, s.branch.Record, s.branch.Folders = nil, nil, existing("large/x=1")
		}, "refuses: not ours [large]"},
		{"a folder of others is adopted", func(s *situation) {
			s.state, s.branch.Record, s.branch.Folders = nil, nil, existing("large/a=9")
			s.desired.Adopt = true
		}, "write, adopt large"},
		{"what the operator left is adopted, and goes", func(s *situation) {
			s.state, s.branch.Record, s.branch.Folders = nil, nil, existing("large/a=1 legacy/x=1 team/y=1")
			s.branch.OperatorFolders, s.desired.Adopt, s.desired.Guardrails = []string{"large", "legacy"}, true, free
		}, "write, adopt large, adopt legacy, remove legacy"},
		{"what the operator leaves later is not", func(s *situation) {
			s.branch.Folders["legacy"], s.branch.OperatorFolders, s.desired.Adopt = InventoryFolder{}, []string{"legacy"}, true
		}, "nothing"},
		{"a file stands in the way", func(s *situation) {
			s.desired.Tree, s.branch.Files = rendered(delivered+" team/d=1"), []string{"team"}
		}, "refuses: not directories"},

		// Guardrails.
		{"too much would go", func(s *situation) { s.desired.Tree = rendered("large/a=1") },
			"refuses: removes [large/b small/c]"},
		{"adopted folders count where they go", func(s *situation) {
			s.state, s.branch.Record, s.branch.Folders = nil, nil, existing("legacy/x=1")
			s.branch.OperatorFolders, s.desired.Adopt = []string{"legacy"}, true
		}, "adopt legacy, refuses: removes [legacy/x]"},
		{"an empty tree is the first", func(s *situation) {
			s.state, s.branch, s.desired.Tree = nil, &BranchState{Head: "head"}, rendered("large")
		}, "refuses: empty"},
		{"an empty tree is there already", func(s *situation) {
			s.state, s.branch, s.desired.Tree = nil, containing("large"), rendered("large")
		}, "nothing"},
		{"another environment takes all of the one before away", func(s *situation) { s.desired.Environment = "stage" },
			"refuses: removes [large/a large/b small/c]"},
		{"the promoted commit's file would lie in a folder of ours", func(s *situation) {
			s.desired.Destination.Path, s.desired.Promotion.Commit, s.state = ".github/tracking/Promoted_Commit_Id", "v2", nil
		}, `refuses: ".github/tracking/Promoted_Commit_Id/.kalypso/rendering.json" conflicts with the file of the promoted ` +
			`commit, .github/tracking/Promoted_Commit_Id; choose another path`},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s := usualSituation()
			test.with(s)
			tree := newAppliedTree(s.desired.rendered(), nil, nil)
			change, errs := (&comparison{tree, s.state, s.branch}).change(s.old)
			if diff := cmp.Diff(test.want, change.text(errs)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func (c *Change) text(errs []error) string {
	var parts []string
	switch {
	case len(errs) > 0:
	case c.Needed:
		parts = append(parts, "write")
	default:
		parts = append(parts, "nothing")
	}
	for _, name := range c.Adoption.Adopted {
		parts = append(parts, "adopt "+name)
	}
	for _, path := range c.Remove {
		parts = append(parts, "remove "+path)
	}
	for _, err := range errs {
		parts = append(parts, "refuses: "+kindOf(err))
	}
	return strings.Join(parts, ", ")
}

// TestPathsToRemove: the paths that a destroy or a move removes.
func TestPathsToRemove(t *testing.T) {
	for _, test := range []struct {
		rule string
		with func(*situation)
		want string
	}{
		{"what the record lists, to the last file", func(s *situation) { s.branch.Folders["large"] = InventoryFolder{} },
			".kalypso/rendering.json large small"},
		{"folders of others stay", func(s *situation) { s.branch.Folders["team"] = InventoryFolder{} },
			".kalypso/rendering.json large small"},
		{"a folder that is gone is skipped", func(s *situation) { delete(s.branch.Folders, "small") },
			".kalypso/rendering.json large"},
		{"without the record, what is still as it was delivered", func(s *situation) {
			s.branch.Record, s.branch.Folders = nil, existing("large/a=9 small/c=1")
		}, "small"},
		{"a record that can't be used", func(s *situation) { s.branch.Record, s.branch.RecordError = nil, "it is not JSON" },
			"refuses: can't be used"},
		{"the record of another environment", func(s *situation) { s.branch.Record.Environment = "stage" },
			"refuses: of environment"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s := usualSituation()
			test.with(s)
			paths, err := PathsToRemove(s.state, s.branch)
			got := strings.Join(paths, " ")
			if err != nil {
				got = "refuses: " + kindOf(err)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestPromotes: when a pull request says that it brings another promoted commit.
func TestPromotes(t *testing.T) {
	for _, test := range []struct {
		rule string
		with func(*situation)
		want bool
	}{
		{"a branch without a record, of which nothing is adopted", func(s *situation) {
			s.branch = &BranchState{PromotedCommitFile: record.PromotedCommitHash("v2")}
			s.desired.Promotion.Commit, s.state, s.adopted = "v2", nil, nil
		}, true},
		{"an adopted tree of none, to none", func(s *situation) {
			s.branch = &BranchState{PromotedCommitFile: record.PromotedCommitHash("v1")}
			s.state = nil
		}, false},
		{"none before and none now", func(*situation) {}, false},
		{"the first", func(s *situation) { s.desired.Promotion.Commit = "v2" }, true},
		{"the same", func(s *situation) { s.desired.Promotion.Commit, s.branch.Record.PromotedCommit = "v2", "v2" }, false},
		{"none any more", func(s *situation) { s.branch.Record.PromotedCommit = "v2" }, true},
		{"a move within the branch, of the same", func(s *situation) {
			s.branch = &BranchState{}
			s.desired.Destination.Path, s.desired.Promotion.Commit, s.state.PromotedCommit = "clusters", "v2", "v2"
		}, false},
		{"an adopted tree of the same", func(s *situation) {
			s.branch = &BranchState{PromotedCommitFile: record.PromotedCommitHash("v2")}
			s.desired.Promotion.Commit, s.state = "v2", nil
		}, false},
		{"an adopted tree of another", func(s *situation) {
			s.branch = &BranchState{PromotedCommitFile: record.PromotedCommitHash("v1")}
			s.desired.Promotion.Commit, s.state = "v2", nil
		}, true},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s := usualSituation()
			s.adopted = []string{"large"}
			test.with(s)
			change := &PlannedChange{
				Change: &Change{Adoption: Adoption{Adopted: s.adopted}}, Tree: s.applied(), At: s.branch,
			}
			if got := change.Promotes(s.state); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
