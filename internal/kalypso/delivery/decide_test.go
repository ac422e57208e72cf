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

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// The tables below specify what happens to a rendering. In the usual case, nothing has to be done: the environment
// "dev" is rendered and delivered to the branch "dev", and the branch has not changed since. Each row changes one part
// of this case.

// situation contains the inputs of a decision.
type situation struct {
	desired *desired
	prior   *Prior
	state   *State
	branch  *Branch // the branch as it is read now
	old     *Branch // the same branch at the previous path
	adopted []string
	settled bool // [NothingToDo] finds nothing to do, either
}

// desired is the rendering that rows change: its arguments, and the tree that its fleet renders.
type desired struct {
	Arguments
	Tree   *tree.Tree
	failed problem.Problems
}

// rendered returns a copy of the desired rendering, which later changes do not affect.
func (d *desired) rendered() *Rendered {
	arguments := d.Arguments
	r := NewRendered(&arguments, d.Tree)
	r.Failed = d.failed
	return r
}

// decide returns the decision on the situation. It decides twice, and fails the test if the decisions differ.
func (s *situation) decide(t *testing.T) Plan {
	t.Helper()
	r := s.desired.rendered()
	decision, again := Decide(r, s.prior, s.state), Decide(r, s.prior, s.state)
	all := cmp.Exporter(func(reflect.Type) bool { return true })
	if diff := cmp.Diff(decision, again, all, cmp.Comparer(sameErrors), cmp.Comparer(sameTree)); diff != "" {
		t.Errorf("the second decision differs (-first +second):\n%s", diff)
	}
	if s.prior != nil {
		settled := NothingToDo(r, s.prior, s.state)
		if settled != nil && (planKind(decision) != "keep" || len(decision.All().Errors) > 0) {
			t.Error("a rendering with something to do is settled")
		}
		if settled != nil {
			s.settled = true
		}
	}
	return decision
}

func sameErrors(a, b error) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Error() == b.Error()
}

func sameTree(a, b *tree.Tree) bool { return a == b }

// applied returns the tree that the apply leaves on the branch.
func (s *situation) applied() *NextTree {
	return Decide(s.desired.rendered(), s.prior, s.state).All().Next
}

const delivered = "large/a=1 large/b=1 small/c=1"

// free are guardrails that allow every removal.
var free = Guardrails{MaxRemoved: "100%", AllowEmpty: true}

var usualDestination = destination.Destination{Repo: "https://acme.io/gitops", Branch: "dev", Path: "."}

// rendered returns a tree with entries such as "large/web=1": the deployment target web of the cluster type large, with
// the content 1. A target with the content "-" is empty.
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
	t.Hash = inventory.Of(t).TreeHash()
	return t
}

func existing(entries string) inventory.Folders { return inventory.Of(rendered(entries)) }

// containing returns a branch that contains a rendering and its record.
func containing(entries string) *Branch {
	inventory := existing(entries)
	written := record.New("dev", inventory.Names(), "", nil, nil)
	return &Branch{Head: "head", Folders: inventory, Record: &written, RecordHash: written.Hash()}
}

func usualState(entries string) *State {
	s := NewState(usualDestination, "dev")
	s.LastRead = *containing(entries)
	s.Delivered, s.DeliveredRecord, s.Base = s.LastRead.Folders, s.LastRead.RecordHash, "head"
	return &s
}

func usualSituation() *situation {
	return &situation{
		desired: &desired{Tree: rendered(delivered), Arguments: Arguments{
			Strategy: destination.Push, Destination: usualDestination, Environment: "dev", Fleet: &fleet.Fleet{},
			Guardrails: Guardrails{MaxRemoved: DefaultMaxRemoved},
		}},
		prior:  &Prior{TreeHash: rendered(delivered).Hash.String(), Commit: "commit", Delivered: true},
		state:  usualState(delivered),
		branch: containing(delivered),
	}
}

// edit changes the branch as people do, and lets the state know their commit.
func edit(s *State, entries string) {
	s.LastRead.Folders = existing(entries)
	s.Drift = []drift.Commit{{Commit: "theirs"}}
}

// reverted lets the branch contain the usual tree again, as after people reverted the last delivery.
func (s *situation) reverted(last string) {
	before := s.state.asDelivery()
	s.state = usualState(last)
	s.state.EarlierDeliveries = []EarlierDelivery{before}
	s.state.LastRead, s.state.Drift = *containing(delivered), []drift.Commit{{Commit: "revert"}}
}

// revertedPromotion lets the last delivery be a promotion of the commit new that left the tree as it was, which people
// reverted.
func (s *situation) revertedPromotion() {
	s.reverted(delivered)
	promoted := record.New("dev", s.state.Delivered.Names(), "new", nil, nil)
	s.state.PromotedCommit, s.state.DeliveredRecord = "new", promoted.Hash()
	s.prior.PromotedCommit, s.desired.Promotion.Commit = "new", "new"
}

// proposed proposes the tree with pull request 7. The destination still contains the last delivery.
func (s *situation) proposed(entries string) *Proposal {
	s.desired.Strategy, s.desired.Tree = destination.PullRequest, rendered(entries)
	s.prior.TreeHash = s.desired.Tree.Hash.String()
	head := usualState(entries)
	head.Destination.Branch = "deployment/dev"
	s.state.Proposal = &Proposal{Head: head, Pushed: "head", Number: 7, State: githost.Open}
	return s.state.Proposal
}

// moved leaves the last delivery on the branch "old" too, as after a move.
func (s *situation) moved() *OldLocation {
	left := usualState(delivered)
	left.Destination.Branch = "old"
	old := &OldLocation{State: left}
	s.state.OldLocations = append(s.state.OldLocations, old)
	return old
}

// planKind names what the apply of a plan does.
func planKind(p Plan) string {
	switch p := p.(type) {
	case *Rest:
		if p.Prior == nil {
			return "deliver nothing"
		}
		return "rest"
	case *Withhold:
		return "withhold"
	case *Keep:
		return "keep"
	case *Undecided:
		return "undecided"
	case *RemoveOld:
		return "remove old"
	case *Write:
		return "write"
	}
	panic(fmt.Sprintf("%T is no plan", p))
}

// text returns the plan as a text. It contains the changes of folders if these are known.
func text(plan Plan, on *situation) string {
	why := strings.Join(plan.All().Reasons, "; ")
	if hash := plan.All().Next.Folders.ShownHash(); hash != "" {
		why = strings.ReplaceAll(why, hash, "HASH")
	}
	parts := []string{planKind(plan) + " because " + why}
	add := func(say bool, format string, args ...any) {
		if say {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	p, e := plan.All(), EffectsOf(plan)
	if w, writes := plan.(*Write); writes && w.Described > inventory.Unread {
		add(true, "changes %v", inventory.Changes(on.state.ExistingFolders(), p.Next.Folders))
		add(w.Described == inventory.Partial, "not describable yet")
	}
	add(len(e.Adoption.Adopted) > 0, "adopts %v", e.Adoption.Adopted)
	for _, m := range targetMoves(p.Next, p.State) {
		add(true, "moves %s", m.Target)
	}
	if old, removes := plan.(*RemoveOld); removes {
		for _, at := range old.Removed {
			add(true, "removes %s", at.Branch)
		}
		for _, at := range old.Kept {
			add(true, "closes the removal of %s", at.Branch)
		}
	}
	for _, at := range e.Left.Pending {
		add(true, "keeps %s for now", at.Branch)
	}
	for _, s := range p.Drift {
		add(true, "overwrites foreign changes on %s", s.Destination.Branch)
	}
	if p.Args.Strategy == destination.PullRequest && p.State != nil && p.State.Proposal.Closed() != 0 {
		add(true, "pull request %d was abandoned", p.State.Proposal.Closed())
	}
	add(len(e.Left.Trees) > 0, "leaves the tree")
	add(e.Left.PullRequest != 0, "leaves pull request %d", e.Left.PullRequest)
	add(e.Replaced != "", "replaces %s", e.Replaced)
	add(p.Recovers(), "recovers the state")
	add(Writes(plan) && plan.All().ReadsBranch(), "reads the branch")
	for _, err := range p.Errors {
		add(true, "refuses: %s", kindOf(err))
	}
	return strings.Join(parts, ", ")
}

// kindOf returns a short text for an error, by its kind and the folders or the reason in it.
func kindOf(err error) string {
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok {
		return err.Error()
	}
	switch refusal.Kind {
	case Emptied:
		return fmt.Sprintf("empties %v", refusal.Names)
	case Exists:
		return fmt.Sprintf("exists %v", refusal.Names)
	case NotOwned:
		return fmt.Sprintf("not ours %v", refusal.Names)
	case Occupied:
		for _, word := range []string{"not a directory", "not a file", "leaves this rendering", "another rendering",
			"of environment", "can't be used", "not directories", "people pushed", "not this rendering's"} {
			if strings.Contains(refusal.Reason, word) {
				return word
			}
		}
	case BranchMoved:
		return fmt.Sprintf("moved %v", refusal.Names)
	case Guardrail:
		if len(refusal.Names) == 0 {
			return "empty"
		}
		return fmt.Sprintf("removes %v", refusal.Names)
	}
	return err.Error()
}

// TestDecide specifies the action of an apply, which follows from the configuration and the state.
func TestDecide(t *testing.T) {
	const unknown = unknown.Text
	for _, test := range []struct {
		rule string
		with func(*situation)
		want string
	}{
		{"nothing changes", func(*situation) {}, "keep because the branch contains the tree HASH"},
		{"other origins or another message for the same bytes cause no commit", func(s *situation) {
			s.desired.Origins, s.desired.Message = []string{"repo@main:x"}, "Another"
		}, "keep because the branch contains the tree HASH"},

		// A create.
		{"a create reads the branch for errors", func(s *situation) { s.prior, s.state = nil, nil },
			"write because the rendering is new, reads the branch"},
		{"a create with an unknown destination contacts no server", func(s *situation) {
			s.prior, s.state, s.desired.Known = nil, nil, inventory.Partial
		}, "write because the rendering is new"},
		{"a create with the strategy none contacts no server", func(s *situation) {
			s.prior, s.state, s.desired.Strategy = nil, nil, destination.None
		}, "write because the rendering is new"},

		{"the branch decides whether a create of an empty tree is refused", func(s *situation) {
			s.prior, s.state, s.desired.Tree = nil, nil, rendered("large small/a=-")
		}, "write because the rendering is new, reads the branch"},
		{"a create of an empty tree is not refused with the strategy none", func(s *situation) {
			s.prior, s.state, s.desired.Tree, s.desired.Strategy = nil, nil, rendered("large"), destination.None
		}, "write because the rendering is new"},

		// Changes.
		{"another tree is written", func(s *situation) { s.desired.Tree = rendered("large/a=2 large/b=1 small/c=1") },
			"write because the folder large changes, changes map[large:+0 -0 ~1]"},
		{"another promoted commit is written", func(s *situation) { s.desired.Promotion.Commit = "v2" },
			"write because the promoted commit changes from none to v2, changes map[]"},
		{"another environment removes all folders of the previous environment",
			func(s *situation) { s.desired.Environment = "stage" },
			"write because the environment stage replaces dev, changes map[], replaces dev, refuses: removes [large/a " +
				"large/b small/c]"},
		{"another destination is written, and its branch is read for errors", func(s *situation) {
			s.desired.Destination.Path, s.desired.Guardrails = "clusters", free
		},
			"write because the destination changes to path \"clusters\" on branch \"dev\" of https://acme.io/gitops, " +
				"changes map[], reads the branch"},
		{"another notation of the same destination changes nothing",
			func(s *situation) { s.desired.Destination.Repo = "https://ACME.io:443/gitops.git" },
			"keep because the branch contains the tree HASH"},
		{"a tree that was never delivered is written", func(s *situation) {
			s.prior.Commit = ""
			s.state = nil
		}, "write because the branch does not contain the tree yet, reads the branch"},
		{"with pull requests and without a private state, the branch is read", func(s *situation) {
			s.desired.Strategy, s.state = destination.PullRequest, nil
		},
			"write because the private state can't be read, so the apply reads the branch, recovers the state, reads " +
				"the branch"},

		// Unknown values.
		{"with an unknown strategy, nothing is decided", func(s *situation) { s.desired.Strategy = unknown },
			"undecided because the strategy is known after apply"},
		{"with unknown assignments, nothing is decided", func(s *situation) { s.desired.Tree = nil },
			"undecided because it depends on values that are known after apply"},
		{"another promoted commit is written even with unknown assignments", func(s *situation) {
			s.desired.Tree, s.desired.Promotion.Commit = nil, "v2"
		}, "write because the promoted commit changes from none to v2"},
		{"with an unknown file, nothing is decided", func(s *situation) {
			s.desired.Tree.Unknown, s.desired.Tree.Folders[0].Unknown = true, true
		}, "undecided because it depends on values that are known after apply"},
		{"with an unknown branch, nothing is decided", func(s *situation) {
			s.desired.Destination.Branch, s.desired.Known = unknown, inventory.Partial
		}, "undecided because it depends on values that are known after apply"},
		{"with an unknown promoted commit, nothing is decided", func(s *situation) { s.desired.Promotion.Commit = unknown },
			"undecided because it depends on values that are known after apply"},
		{"an unknown environment is not another environment", func(s *situation) {
			s.desired.Environment = unknown
		}, "keep because the branch contains the tree HASH"},
		{"guardrails count targets with unknown files", func(s *situation) {
			s.desired.Tree = rendered("large/a=1")
			s.desired.Tree.Unknown, s.desired.Tree.Folders[0].Unknown = true, true
		}, "undecided because it depends on values that are known after apply, refuses: removes [large/b small/c]"},
		{"unknown guardrails refuse nothing yet", func(s *situation) {
			s.desired.Tree, s.desired.Known = rendered("large/a=1"), inventory.Partial
		}, "write because the folders large, small change, changes map[large:+0 -1 ~0 small:+0 -1 ~0]"},

		// Guardrails and ownership, by the last read.
		{"guardrails refuse to remove two of three targets", func(s *situation) { s.desired.Tree = rendered("large/a=1") },
			"write because the folders large, small change, changes map[large:+0 -1 ~0 small:+0 -1 ~0], refuses: " +
				"removes [large/b small/c]"},
		{"a move is refused once the new branch was read", func(s *situation) {
			s.desired.Destination.Branch = "live"
		},
			"write because the tree at path \".\" on branch \"dev\" of https://acme.io/gitops is to be removed; the " +
				"destination changes to path \".\" on branch \"live\" of https://acme.io/gitops, changes map[], reads " +
				"the branch"},
		{"a move within a branch is refused once the new path was read", func(s *situation) {
			s.desired.Destination.Path = "clusters"
		},
			"write because the destination changes to path \"clusters\" on branch \"dev\" of https://acme.io/gitops, " +
				"changes map[], reads the branch"},
		{"a move that keeps the previous location removes nothing", func(s *situation) {
			s.desired.Destination.Branch, s.desired.KeepOld = "live", true
			s.desired.Guardrails = Guardrails{}
		},
			"write because the destination changes to path \".\" on branch \"live\" of https://acme.io/gitops, " +
				"changes map[], reads the branch"},
		{"a move from an empty location is allowed", func(s *situation) {
			s.proposed("large/a=2")
			s.state.Delivered, s.state.LastRead.Folders, s.state.LastRead.Record = inventory.Folders{}, inventory.Folders{}, nil
			s.desired.Destination.Branch = "live"
		},
			"write because the destination changes to path \".\" on branch \"live\" of https://acme.io/gitops, " +
				"changes map[large:+1 -0 ~0], reads the branch"},
		{"a foreign folder is not overwritten", func(s *situation) {
			s.desired.Tree = rendered(delivered + " team/d=1")
			s.state.LastRead.Folders = existing(delivered + " team/x=1")
		}, "write because the folder team changes, changes map[team:+1 -0 ~0], refuses: not ours [team]"},
		{"a foreign folder is adopted", func(s *situation) {
			s.desired.Tree, s.desired.Adopt = rendered(delivered+" team/d=1"), true
			s.state.LastRead.Folders = existing(delivered + " team")
		}, "write because the folder team changes, changes map[team:+1 -0 ~0], adopts [team]"},
		{"a foreign file at the path of one of our folders is not overwritten", func(s *situation) {
			s.desired.Tree, s.state.LastRead.Files = rendered(delivered+" team/d=1"), []string{"team"}
		}, "write because the folder team changes, changes map[team:+1 -0 ~0], refuses: not directories"},
		{"a foreign folder that the tree does not need is no error", func(s *situation) {
			s.state.LastRead.Folders, s.state.LastRead.Files = existing(delivered+" team/x=1"), []string{"README.md"}
		}, "keep because the branch contains the tree HASH"},

		// Drift.
		{"foreign changes are overwritten", func(s *situation) { edit(s.state, "large/a=9 large/b=1 small/c=1") },
			"write because people changed the branch, changes map[large:+0 -0 ~1], overwrites foreign changes on dev"},
		{"foreign changes that the fleet renders too are not overwritten", func(s *situation) {
			edit(s.state, "large/a=2 large/b=1 small/c=1")
			s.desired.Tree = rendered("large/a=2 large/b=1 small/c=1")
		}, "write because people changed the branch; the folder large changes, changes map[]"},
		{"a foreign change of the record is overwritten", func(s *situation) {
			s.state.LastRead.RecordHash, s.state.Drift = "theirs", []drift.Commit{{}}
		}, "write because people changed the branch, changes map[], overwrites foreign changes on dev"},
		{"an apply that was killed after its push overwrites nothing", func(s *situation) {
			s.desired.Tree = rendered("large/a=2 new/d=1")
			s.state.LastRead, s.state.Drift = *containing("large/a=2 new/d=1"), []drift.Commit{{}}
		}, "write because people changed the branch; the folders large, new, small change, changes map[]"},
		{"a move overwrites foreign changes at the previous location", func(s *situation) {
			edit(s.state, "large/a=9 large/b=1 small/c=1")
			s.desired.Destination.Path, s.desired.Guardrails = "clusters", free
		},
			"write because people changed the branch; the destination changes to path \"clusters\" on branch \"dev\" " +
				"of https://acme.io/gitops, changes map[large:+0 -0 ~1], overwrites foreign changes on dev, reads the " +
				"branch"},
		{"a move that keeps the previous location overwrites nothing there", func(s *situation) {
			edit(s.state, "large/a=9 large/b=1 small/c=1")
			s.desired.Destination.Path, s.desired.KeepOld = "clusters", true
		},
			"write because people changed the branch; the destination changes to path \"clusters\" on branch \"dev\" " +
				"of https://acme.io/gitops, changes map[large:+0 -0 ~1], reads the branch"},
		{"a revert by people is kept if the fleet renders the previous tree again", func(s *situation) {
			s.reverted("large/a=2 large/b=1 small/c=1")
		}, "keep because the branch contains the tree HASH"},
		{"a revert by people is kept if they rejected the commit", func(s *situation) {
			s.reverted("large/a=2 large/b=1 small/c=1")
			s.state.PromotedCommit, s.desired.Rejected = "bad", []string{"bad"}
			s.desired.Tree = rendered("large/a=3 large/b=1 small/c=1")
		}, "write because the folder large changes, changes map[large:+0 -0 ~1]"},
		{"a revert by people is overwritten if the fleet still renders the reverted tree", func(s *situation) {
			s.reverted("large/a=2 large/b=1 small/c=1")
			s.desired.Tree = rendered("large/a=2 large/b=1 small/c=1")
		},
			"write because people changed the branch; the tree changes, changes map[large:+0 -0 ~1], overwrites " +
				"foreign changes on dev"},
		{"a revert by people of a promotion with an equal tree is overwritten if it is promoted again", func(s *situation) {
			s.revertedPromotion()
		}, "write because people changed the branch, changes map[], overwrites foreign changes on dev"},
		{"a later run finds that revert", func(s *situation) {
			s.revertedPromotion()
			s.state.RevertKnown = true
		}, "write because people changed the branch, changes map[], overwrites foreign changes on dev"},
		{"that revert is kept if people rejected the commit", func(s *situation) {
			s.revertedPromotion()
			s.desired.Rejected, s.desired.Promotion.Commit = []string{"new"}, ""
		}, "write because the promoted commit changes from new to none, changes map[]"},
		{"that revert is none of ours to overwrite if another commit is promoted", func(s *situation) {
			s.revertedPromotion()
			s.desired.Promotion.Commit = "newer"
		}, "write because people changed the branch; the promoted commit changes from new to newer, changes map[]"},
		{"drift is overwritten even if the tree is unknown", func(s *situation) {
			edit(s.state, "large/a=9 large/b=1 small/c=1")
			s.desired.Tree = nil
		}, "write because people changed the branch, overwrites foreign changes on dev"},

		{"a folder in place of the record is not overwritten", func(s *situation) {
			s.state.LastRead.RecordObstacle, s.state.LastRead.RecordHash = `".kalypso" exists but is not a directory`, ""
			s.state.LastRead.Record, s.state.Drift = nil, []drift.Commit{{}}
		},
			"write because people changed the branch, changes map[], overwrites foreign changes on dev, refuses: not " +
				"a directory"},
		{"the record of another environment is not overwritten", func(s *situation) {
			written := record.New("stage", []string{"large", "small"}, "", nil, nil)
			s.state.LastRead.Record, s.state.LastRead.RecordHash, s.state.Drift = &written, written.Hash(), []drift.Commit{{}}
		},
			"write because people changed the branch, changes map[], overwrites foreign changes on dev, refuses: of " +
				"environment"},

		// Previous locations on other branches.
		{"a push removes a remaining previous location", func(s *situation) { s.moved() },
			"write because the tree at path \".\" on branch \"old\" of https://acme.io/gitops is to be removed, " +
				"changes map[]"},
		{"a previous location is kept with on_move = keep", func(s *situation) { s.moved(); s.desired.KeepOld = true },
			"keep because the branch contains the tree HASH"},
		{"a previous location is removed by pull request once the destination contains the tree", func(s *situation) {
			s.moved()
			s.desired.Strategy = destination.PullRequest
		}, "remove old because the destination contains the tree, and old locations remain, removes old"},
		{"a previous location is kept until the destination contains the tree", func(s *situation) {
			s.moved()
			s.desired.Strategy, s.desired.Tree = destination.PullRequest, rendered("large/a=2 large/b=1 small/c=1")
		}, "write because the folder large changes, changes map[large:+0 -0 ~1], keeps old for now"},
		{"the pull request of a removal waits for people", func(s *situation) {
			s.moved().Number = 3
			s.desired.Strategy = destination.PullRequest
		}, "keep because the branch contains the tree HASH"},
		{"a removal's pull request that people closed is not opened again", func(s *situation) {
			old := s.moved()
			old.Number, old.Closed, s.desired.Strategy = 3, true, destination.PullRequest
		}, "keep because the branch contains the tree HASH"},
		{"with reopen, a removal's pull request that people closed is opened again", func(s *situation) {
			old := s.moved()
			old.Number, old.Closed, s.desired.Strategy, s.desired.PullRequest.Reopen = 3, true, destination.PullRequest, true
			s.prior.PullRequest.Reopen = true
		}, "remove old because the destination contains the tree, and old locations remain, removes old"},
		{"on_move = keep closes the removal's pull request", func(s *situation) {
			s.moved().Number = 3
			s.desired.Strategy, s.desired.KeepOld = destination.PullRequest, true
		}, "remove old because the destination contains the tree, and old locations remain, closes the removal of old"},
		{"with an unknown on_move, nothing is decided about a previous location", func(s *situation) {
			s.moved()
			s.desired.Strategy, s.desired.Known = destination.PullRequest, inventory.Partial
		},
			"undecided because it depends on arguments that are known after apply whether old locations are removed, " +
				"keeps old for now"},

		{"a target that leaves a cluster type and joins another moves", func(s *situation) {
			s.desired.Tree = rendered("large/b=1 small/a=1 small/c=1")
			s.prior.Placed = map[string][]string{"a": {"large"}, "b": {"large"}, "c": {"small"}}
		}, "write because the folders large, small change, changes map[large:+0 -1 ~0 small:+1 -0 ~0], moves a"},

		// Decisions of placement.
		{"dropped placement decisions are written", func(s *situation) {
			s.state.Decisions = placement.Decisions{"p": {Targets: map[string][]string{"a": {"large"}}}}
		}, "write because the placement decisions change, changes map[]"},

		// Contents of a description.
		{"a change is described once the commits of its sources are known", func(s *situation) {
			s.desired.Tree = rendered("large/a=2 large/b=1 small/c=1")
			s.desired.Sources = map[string]string{"https://acme.io/app@main:.": unknown}
		}, "write because the folder large changes, changes map[large:+0 -0 ~1], not describable yet"},

		// A private state of another version.
		{"an unreadable state is recovered from the branch", func(s *situation) { s.state = nil },
			"write because the private state can't be read, so the apply reads the branch, recovers the state, reads " +
				"the branch"},
		{"a state of another engine version is recovered from the branch", func(s *situation) { s.state.Engine++ },
			"write because the private state can't be read, so the apply reads the branch, recovers the state, reads " +
				"the branch"},
		{"with the strategy none, no state is recovered", func(s *situation) {
			s.state, s.desired.Strategy = nil, destination.None
		}, "write because the rendering is only computed from now on"},

		// Only computed.
		{"with the strategy none, nothing is written", func(s *situation) {
			s.desired.Strategy, s.prior.Commit = destination.None, ""
			s.state = ComputedState(NewNextTree(s.desired.rendered(), s.prior, s.state))
		}, "keep because the state contains the tree HASH"},
		{"with the strategy none, another tree changes the state", func(s *situation) {
			s.desired.Strategy, s.prior.Commit = destination.None, ""
			s.state = ComputedState(NewNextTree(s.desired.rendered(), s.prior, s.state))
			s.desired.Tree = rendered("large/a=1")
		}, "write because the folders large, small change, changes map[large:+0 -1 ~0 small:+0 -1 ~0]"},
		{"with the strategy none, another environment with the same tree changes nothing in the state", func(s *situation) {
			s.desired.Strategy, s.prior.Commit = destination.None, ""
			s.state = ComputedState(NewNextTree(s.desired.rendered(), s.prior, s.state))
			s.desired.Environment = "stage"
		}, "keep because the state contains the tree HASH"},
		{"with the strategy none, a delivered tree is left on the branch",
			func(s *situation) { s.desired.Strategy = destination.None },
			"write because the rendering is only computed from now on, changes map[], leaves the tree"},
		{"with the strategy none, an open pull request is left open", func(s *situation) {
			s.proposed("large/a=2")
			s.desired.Strategy, s.prior.Commit = destination.None, ""
		},
			"write because the rendering is only computed from now on, changes map[large:+0 -1 ~1 small:+0 -1 ~0], " +
				"leaves pull request 7"},

		// Pull requests: the rows of the guide, "What a plan finds".
		{"open pull request, our branch contains the tree",
			func(s *situation) { s.proposed("large/a=2 large/b=1 small/c=1") },
			"keep because pull request 7 proposes the tree HASH"},
		{"open pull request, people changed the tree on our branch", func(s *situation) {
			edit(s.proposed("large/a=2 large/b=1 small/c=1").Head, "large/a=9 large/b=1 small/c=1")
		},
			"write because people changed the branch of pull request 7, changes map[large:+0 -0 ~1], overwrites " +
				"foreign changes on deployment/dev"},
		{"open pull request, people changed our folders on the target branch", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1")
			edit(s.state, "large/a=9 large/b=1 small/c=1")
		}, "write because people changed the branch, changes map[large:+0 -0 ~1], overwrites foreign changes on dev"},
		{"open pull request, our branch was deleted",
			func(s *situation) { s.proposed("large/a=2 large/b=1 small/c=1").Lost = true },
			"write because the branch of pull request 7 no longer exists, changes map[large:+0 -0 ~1]"},
		{"open pull request, another rendering delivered its promoted commit first", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1").Stale = true
		}, "write because pull request 7 can't be merged any more, changes map[large:+0 -0 ~1]"},
		{"merged pull request", func(s *situation) { s.desired.Strategy = destination.PullRequest },
			"keep because the branch contains the tree HASH"},
		{"merged pull request, people changed our folders later", func(s *situation) {
			s.desired.Strategy = destination.PullRequest
			edit(s.state, "large/a=9 large/b=1 small/c=1")
		}, "write because people changed the branch, changes map[large:+0 -0 ~1], overwrites foreign changes on dev"},
		{"closed pull request, same tree", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1").State = githost.Closed
		}, "keep because pull request 7 with the tree HASH was closed, pull request 7 was abandoned"},
		{"closed pull request, another tree", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1").State = githost.Closed
			s.desired.Tree = rendered("large/a=3 large/b=1 small/c=1")
		}, "write because the folder large changes, changes map[large:+0 -0 ~1], pull request 7 was abandoned"},
		{"closed pull request, same tree, reopen", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1").State = githost.Closed
			s.desired.PullRequest.Reopen = true
		},
			"write because a new pull request replaces the closed one, changes map[large:+0 -0 ~1], pull request 7 " +
				"was abandoned"},

		// More rows about pull requests.
		{"a tree that is not delivered is proposed", func(s *situation) {
			s.desired.Strategy, s.prior.Commit = destination.PullRequest, ""
		}, "write because the branch does not contain the tree yet, changes map[]"},
		{"open pull request, other settings", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1")
			s.desired.PullRequest.Labels = []string{"platform"}
		}, "write because the settings of pull request 7 change, changes map[large:+0 -0 ~1]"},
		{"merged pull request, other settings", func(s *situation) {
			s.desired.Strategy, s.desired.PullRequest.Draft = destination.PullRequest, true
		}, "keep because the branch contains the tree HASH"},
		{"open pull request, another tree, people pushed files beside our folders", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1").OtherCommits = []drift.Commit{{Commit: "note"}}
			s.desired.Tree = rendered("large/a=3 large/b=1 small/c=1")
		},
			"write because the folder large changes, changes map[large:+0 -0 ~1], overwrites foreign changes on " +
				"deployment/dev"},
		{"open pull request, same tree, people pushed files beside our folders", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1").OtherCommits = []drift.Commit{{Commit: "note"}}
		}, "keep because pull request 7 proposes the tree HASH"},
		{"open pull request, strategy push", func(s *situation) {
			s.proposed("large/a=2 large/b=1 small/c=1")
			s.desired.Strategy, s.prior.Commit = destination.Push, ""
		}, "write because the branch does not contain the tree yet, changes map[large:+0 -0 ~1]"},
		{"an environment that is already proposed is not another environment", func(s *situation) {
			s.proposed(delivered).Head.Environment = "stage"
			s.desired.Environment = "stage"
		}, "keep because pull request 7 proposes the tree HASH"},
		{"the folders that a proposal adopts are part of the description", func(s *situation) {
			s.proposed(delivered + " team/d=2").Adopted = existing("team/d=1")
			s.desired.Tree = rendered(delivered + " team/d=3")
			s.desired.Adopt, s.state.LastRead.Folders = true, existing(delivered+" team/d=1")
		}, "write because the folder team changes, changes map[team:+0 -0 ~1], adopts [team]"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s := usualSituation()
			test.with(s)
			if diff := cmp.Diff(test.want, text(s.decide(t), s)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestChange specifies the change that an apply makes, which follows from the branch that it reads.
func TestChange(t *testing.T) {
	for _, test := range []struct {
		rule string
		with func(*situation)
		want string
	}{
		{"the branch contains the desired tree", func(*situation) {}, "nothing"},
		{"the branch contains the desired tree, without a state", func(s *situation) { s.state = nil }, "nothing"},
		{"only the origins differ", func(s *situation) { s.desired.Origins = []string{"repo@main:x"} },
			"nothing"},
		{"the promoted commit differs", func(s *situation) { s.desired.Promotion.Commit = "v2" }, "write"},
		{"the tree differs", func(s *situation) { s.desired.Tree = rendered("large/a=2 large/b=1 small/c=1") }, "write"},
		{"the branch lacks the record", func(s *situation) {
			s.state, s.branch.Record, s.branch.RecordHash, s.branch.Folders = nil, nil, "", inventory.Folders{}
		}, "write"},
		{"a folder is no longer rendered", func(s *situation) { s.desired.Tree = rendered("large/a=1 large/b=1") },
			"write, remove small"},
		{"a foreign file is in place of a folder that is no longer rendered", func(s *situation) {
			delete(s.branch.Folders, "small")
			s.branch.Files = []string{"small"}
			s.state.LastRead = *s.branch
		}, "write, remove small"},
		{"the branch contains foreign folders and files", func(s *situation) {
			s.desired.Tree = rendered("large/a=2 large/b=1 small/c=1")
			s.branch.Folders["team"], s.branch.Files = inventory.Folder{}, []string{"README.md"}
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
		{"a move from a path that contains the new one", func(s *situation) {
			s.desired.Destination.Path, s.old = "clusters", containing(delivered)
			s.branch = &Branch{Head: "head", OtherRenderings: []string{"."}}
			s.desired.Guardrails = free
		}, "write, remove .kalypso/rendering.json, remove large, remove small"},
		{"a move out of a kept path that contains the new one", func(s *situation) {
			s.desired.Destination.Path, s.old = "clusters", containing(delivered)
			s.branch = &Branch{Head: "head", OtherRenderings: []string{"."}}
			s.desired.KeepOld = true
		}, "refuses: leaves this rendering"},
		{"a move out of a kept path beside the new one", func(s *situation) {
			s.state.Destination.Path, s.desired.Destination.Path, s.desired.KeepOld = "old", "new", true
			s.branch, s.old = &Branch{Head: "head"}, containing(delivered)
		}, "write"},
		{"a move whose removals exceed the guardrails", func(s *situation) {
			s.desired.Destination.Path, s.branch, s.old = "clusters", &Branch{Head: "head"}, containing(delivered)
		}, "refuses: removes [large/a large/b small/c]"},
		{"a move to a destination of another environment", func(s *situation) {
			s.desired.Destination.Branch, s.branch.Record.Environment = "live", "stage"
		}, "refuses: of environment, refuses: removes [large/a large/b small/c], " +
			"refuses: removes [large/a large/b small/c]"},
		{"the record of another environment", func(s *situation) { s.branch.Record.Environment = "stage" },
			"refuses: of environment"},
		{"the record of another environment, without a state", func(s *situation) {
			s.state, s.branch.Record.Environment = nil, "stage"
		}, "refuses: of environment, refuses: removes [large/a large/b small/c]"},
		{"the record of the previous environment", func(s *situation) {
			s.desired.Environment, s.desired.Guardrails = "stage", free
		}, "write"},
		{"an unusable record, without a state", func(s *situation) {
			s.state, s.branch.Record, s.branch.RecordError = nil, nil, "it is of a later version"
		}, "refuses: can't be used"},
		{"a record that people made unusable", func(s *situation) {
			s.branch.Record, s.branch.RecordError, s.branch.RecordHash = nil, "it is not JSON", "theirs"
			s.state.LastRead = *s.branch
		}, "write"},

		// A rendering of the environment, without its state.
		{"another tree, without a state", func(s *situation) {
			s.state, s.desired.Tree = nil, rendered("large/a=2 large/b=1 new/d=1")
		}, "refuses: exists [large: +0 -0 ~1 new: +1 -0 ~0 small: +0 -1 ~0]"},
		{"the same tree, a folder that people removed, without a state", func(s *situation) {
			s.state = nil
			delete(s.branch.Folders, "small")
		}, "refuses: exists [small: +1 -0 ~0]"},
		{"the same tree of another promoted commit, without a state",
			func(s *situation) { s.state, s.desired.Promotion.Commit = nil, "v2" }, "write"},
		{"another tree is adopted, without a state", func(s *situation) {
			s.state, s.desired.Adopt, s.desired.Tree = nil, true, rendered("large/a=2 large/b=1")
		}, "write, remove small"},
		{"a partly unknown tree that may be the same, without a state", func(s *situation) {
			s.state, s.desired.Tree = nil, rendered(delivered)
			s.desired.Tree.Unknown, s.desired.Tree.Folders[0].Unknown = true, true
			s.desired.Tree.Folders[0].Hash, s.desired.Tree.Folders[0].Targets[0].Unknown = tree.Hash{}, true
		}, "write"},
		{"a partly unknown tree whose known part differs, without a state", func(s *situation) {
			s.state, s.desired.Tree = nil, rendered("large/a=1 large/b=2 small/c=1")
			s.desired.Tree.Unknown, s.desired.Tree.Folders[0].Unknown = true, true
			s.desired.Tree.Folders[0].Targets[0].Unknown = true
		}, "refuses: exists [large: +0 -0 ~1]"},
		{"a move to a path with a rendering of the environment", func(s *situation) {
			s.state.Destination.Path, s.desired.Tree, s.desired.Guardrails = "elsewhere", rendered("large/a=2 large/b=1 "+
				"small/c=1"), free
		}, "write"},

		// Changes between plan and apply.
		{"our folders changed after the plan", func(s *situation) {
			s.branch.Folders = existing("large/a=9 large/b=1 small/c=1")
		}, "refuses: moved [large]"},
		{"our record changed after the plan",
			func(s *situation) { s.branch.RecordHash = "theirs"; s.branch.Record.PromotedCommit = "v9" },
			"refuses: moved [.kalypso/rendering.json]"},
		{"our folders changed after the plan to the desired tree", func(s *situation) {
			s.desired.Tree, s.branch = rendered("large/a=2"), containing("large/a=2")
			s.desired.Guardrails = free
		}, "nothing"},
		{"foreign folders changed after the plan",
			func(s *situation) { s.branch.Folders["team"] = inventory.Folder{} }, "nothing"},
		{"the previous path changed after the plan", func(s *situation) {
			s.desired.Destination.Path, s.branch, s.old = "clusters", &Branch{Head: "head"}, containing("large/a=9 "+
				"large/b=1 small/c=1")
			s.desired.Guardrails = free
		}, "refuses: moved [large]"},

		// Adoption.
		{"the tree needs a foreign folder", func(s *situation) {
			s.state, s.branch.Record, s.branch.Folders = nil, nil, existing("large/x=1")
		}, "refuses: not ours [large], refuses: removes [large/x]"},
		{"a foreign folder is adopted", func(s *situation) {
			s.state, s.branch.Record, s.branch.Folders = nil, nil, existing("large/a=9")
			s.desired.Adopt = true
		}, "write, adopt large"},
		{"files of the operator are adopted and removed", func(s *situation) {
			s.state, s.branch.Record, s.branch.Folders = nil, nil, existing("large/a=1 legacy/x=1 team/y=1")
			s.branch.OperatorFolders, s.desired.Adopt, s.desired.Guardrails = []string{"large", "legacy"}, true, free
		}, "write, adopt large, adopt legacy, remove legacy"},
		{"files that the operator adds later are left alone", func(s *situation) {
			s.branch.Folders["legacy"], s.branch.OperatorFolders, s.desired.Adopt = inventory.Folder{}, []string{"legacy"}, true
		}, "nothing"},
		{"a file has the name of a cluster type's folder", func(s *situation) {
			s.desired.Tree, s.branch.Files = rendered(delivered+" team/d=1"), []string{"team"}
		}, "refuses: not directories"},

		// Guardrails.
		{"the change removes two of three targets", func(s *situation) { s.desired.Tree = rendered("large/a=1") },
			"refuses: removes [large/b small/c]"},
		{"a cluster type loses its only target", func(s *situation) {
			s.desired.Tree, s.desired.Guardrails.Emptied = rendered("large/a=1 large/b=1 small"), problem.Fail
		}, "refuses: empties [small]"},
		{"a cluster type has only empty targets", func(s *situation) {
			s.desired.Tree, s.desired.Guardrails.Emptied = rendered("large/a=1 large/b=1 small/c=-"), problem.Fail
		}, "refuses: empties [small]"},
		{"a cluster type that was empty stays empty", func(s *situation) {
			s.state, s.branch = usualState("large/a=1 small"), containing("large/a=1 small")
			s.desired.Tree, s.desired.Guardrails.Emptied = rendered("large/a=2 small"), problem.Fail
		}, "write"},
		{"a cluster type is removed with its targets", func(s *situation) {
			s.desired.Tree, s.desired.Guardrails.Emptied = rendered("large/a=1 large/b=1"), problem.Fail
		}, "write, remove small"},
		{"an adopted folder loses all its files", func(s *situation) {
			s.state, s.branch.Record, s.branch.Folders = nil, nil, existing("large/a=9 team/x=1")
			s.desired.Tree, s.desired.Adopt = rendered("large/a=1 team"), true
			s.desired.Guardrails.Emptied = problem.Fail
		}, "write, adopt large, adopt team"},
		{"a cluster type loses its only target, which is only a warning", func(s *situation) {
			s.desired.Tree, s.desired.Guardrails.Emptied = rendered("large/a=1 large/b=1 small"), problem.Warn
		}, "write"},
		{"all cluster types lose all targets, which allow_empty allows", func(s *situation) {
			s.desired.Tree, s.desired.Guardrails = rendered("large small"), free
			s.desired.Guardrails.Emptied = problem.Fail
		}, "write"},
		{"adopted folders that are removed count for the guardrails", func(s *situation) {
			s.state, s.branch.Record, s.branch.Folders = nil, nil, existing("legacy/x=1")
			s.branch.OperatorFolders, s.desired.Adopt = []string{"legacy"}, true
		}, "adopt legacy, refuses: removes [legacy/x]"},
		{"the first delivery is empty, and so is the branch", func(s *situation) {
			s.state, s.branch, s.desired.Tree = nil, &Branch{Head: "head"}, rendered("large")
		}, "write"},
		{"the first delivery is empty, and the branch contains folders", func(s *situation) {
			s.state, s.branch = nil, &Branch{Head: "head", Folders: existing("theirs/x=1")}
			s.desired.Tree = rendered("large")
		}, "refuses: empty"},
		{"the first delivery is empty, as allow_empty allows", func(s *situation) {
			s.state, s.branch = nil, &Branch{Head: "head", Folders: existing("theirs/x=1")}
			s.desired.Tree, s.desired.Guardrails.AllowEmpty = rendered("large"), true
		}, "write"},
		{"the delivered tree was empty already", func(s *situation) {
			s.state, s.branch, s.desired.Tree = nil, containing("large"), rendered("large")
		}, "nothing"},
		{"another environment removes all folders of the previous one", func(s *situation) {
			s.desired.Environment = "stage"
		},
			"refuses: removes [large/a large/b small/c]"},
		{"the promoted commit's file would be in a folder of ours", func(s *situation) {
			s.desired.Destination.Path, s.desired.Promotion.Commit, s.state = ".github/tracking/Promoted_Commit_Id", "v2", nil
		}, `refuses: ".github/tracking/Promoted_Commit_Id/.kalypso/rendering.json" conflicts with the file of the promoted ` +
			`commit, .github/tracking/Promoted_Commit_Id; choose another path`},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s := usualSituation()
			test.with(s)
			tree := NewNextTree(s.desired.rendered(), nil, nil)
			change, errs := newChange(NewComparison(tree, s.state, s.branch), s.old)
			if diff := cmp.Diff(test.want, change.text(errs)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// text returns the change of the branch as a text.
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

// TestPathsToRemove specifies the paths that a destroy or a move removes.
func TestPathsToRemove(t *testing.T) {
	for _, test := range []struct {
		rule string
		with func(*situation)
		want string
	}{
		{"all files of the folders that the record lists", func(s *situation) {
			s.branch.Folders["large"] = inventory.Folder{}
		},
			".kalypso/rendering.json large small"},
		{"no foreign folders", func(s *situation) { s.branch.Folders["team"] = inventory.Folder{} },
			".kalypso/rendering.json large small"},
		{"a folder that was removed is skipped", func(s *situation) { delete(s.branch.Folders, "small") },
			".kalypso/rendering.json large"},
		{"without the record, folders that are unchanged since the delivery", func(s *situation) {
			s.branch.Record, s.branch.Folders = nil, existing("large/a=9 small/c=1")
		}, "small"},
		{"an unusable record", func(s *situation) { s.branch.Record, s.branch.RecordError = nil, "it is not JSON" },
			"refuses: can't be used"},
		{"a move to a destination of another environment", func(s *situation) {
			s.desired.Destination.Branch, s.branch.Record.Environment = "live", "stage"
		}, "refuses: of environment"},
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

// TestPromotes specifies whether the text of a pull request says that it promotes another commit.
func TestPromotes(t *testing.T) {
	for _, test := range []struct {
		rule string
		with func(*situation)
		want bool
	}{
		{"a branch without a record, nothing adopted", func(s *situation) {
			s.branch = &Branch{PromotedCommitFile: record.PromotedCommitHash("v2")}
			s.desired.Promotion.Commit, s.state, s.adopted = "v2", nil, nil
		}, true},
		{"an adopted tree with a promoted commit, no promoted commit now", func(s *situation) {
			s.branch = &Branch{PromotedCommitFile: record.PromotedCommitHash("v1")}
			s.state = nil
		}, false},
		{"no promoted commit before and now", func(*situation) {}, false},
		{"the first promoted commit", func(s *situation) { s.desired.Promotion.Commit = "v2" }, true},
		{"the same promoted commit", func(s *situation) {
			s.desired.Promotion.Commit, s.branch.Record.PromotedCommit = "v2", "v2"
		}, false},
		{"no promoted commit any more", func(s *situation) { s.branch.Record.PromotedCommit = "v2" }, true},
		{"a move within the branch, same promoted commit", func(s *situation) {
			s.branch = &Branch{}
			s.desired.Destination.Path, s.desired.Promotion.Commit, s.state.PromotedCommit = "clusters", "v2", "v2"
		}, false},
		{"an adopted tree of the same promoted commit", func(s *situation) {
			s.branch = &Branch{PromotedCommitFile: record.PromotedCommitHash("v2")}
			s.desired.Promotion.Commit, s.state = "v2", nil
		}, false},
		{"an adopted tree of another promoted commit", func(s *situation) {
			s.branch = &Branch{PromotedCommitFile: record.PromotedCommitHash("v1")}
			s.desired.Promotion.Commit, s.state = "v2", nil
		}, true},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s := usualSituation()
			s.adopted = []string{"large"}
			test.with(s)
			change := &Change{
				Comparison: *NewComparison(s.applied(), s.state, s.branch), Adoption: Adoption{Adopted: s.adopted},
			}
			if got := change.Promotes(); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// TestClearSecretsOfPlan: a plan that writes no tree reports no secrets. Else a secret would keep a frozen environment
// from making its pull request a draft.
func TestClearSecretsOfPlan(t *testing.T) {
	t.Parallel()
	s := usualSituation()
	token := "gh" + "p_" + strings.Repeat("aB3", 12)
	s.desired.Fleet.Configs = []*fleet.Config{{Meta: fleet.Meta{Name: "a"}, Data: map[string]string{"TOKEN": token}}}
	r := s.desired.rendered()
	r.Secrets = FindClearSecrets(r.Args.Fleet.Configs)
	b := Basis{Situation: &Situation{Args: r.Args}, Next: NewNextTree(r, s.prior, s.state)}
	for plan, want := range map[Plan]int{
		&Keep{b}: 0, &Rest{Basis: b}: 0, &Withhold{Basis: b}: 0, &RemoveOld{Basis: b}: 0, &Write{Basis: b}: 1,
		&Undecided{Basis: b}: 1,
	} {
		if got := PlannedClearSecrets(plan); len(got) != want {
			t.Errorf("%s: %v, want %d problems", planKind(plan), got, want)
		}
	}
}
