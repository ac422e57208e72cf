package delivery

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/limit"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// fail lets assignments fail, so that they are not rendered. They are written as "cluster type/deployment target", with
// "*" for each cluster type.
func (s *situation) fail(rendersTo, failing string) {
	s.desired.Tree, s.desired.KeepFailed = rendered(rendersTo), true
	s.desired.Guardrails.MaxKept = "100%"
	p := problem.Problem{Fault: problem.TeamFault, Summary: "Template rendering failed"}
	for _, entry := range strings.Fields(failing) {
		ct, name, _ := strings.Cut(entry, "/")
		p.Affects = append(p.Affects, problem.AffectedTarget{ClusterType: strings.TrimPrefix(ct, "*"), Name: name})
	}
	s.desired.failed = problem.Problems{p}
}

// dropWholeHashes changes the state to a state that was written without on_assignment_error.
func (s *situation) dropWholeHashes() {
	s.state.Delivered = s.state.Delivered.Replace(inventory.WithoutWholeHashes)
	s.state.LastRead.Folders = s.state.LastRead.Folders.Replace(inventory.WithoutWholeHashes)
}

// keptText returns what the plan and the apply do with the failing targets.
func (s *situation) keptText() string {
	decision := Decide(s.desired.rendered(), s.prior, s.state)
	d := decision.All().Next
	parts := []string{planKind(decision)}
	list := func(what string, all []record.FailedAssignment) {
		if len(all) > 0 {
			parts = append(parts, what+" "+strings.Join(FailedLines(all), ", "))
		}
	}
	k := d.Failing
	list("kept", k.Kept)
	list("left out", k.LeftOut)
	var unknown []string
	for _, name := range d.Folders.Names() {
		if d.Folders[name].Known < inventory.Whole {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		parts = append(parts, "unknown "+strings.Join(unknown, ", "))
	}
	if d.Known == inventory.Unread {
		parts = append(parts, "uncertain")
	}
	if len(decision.All().Drift) > 0 {
		parts = append(parts, "overwrites drift")
	}
	for _, err := range decision.All().Errors {
		parts = append(parts, whyNotKept(err))
	}
	if s.branch != nil && len(decision.All().Errors) == 0 {
		if read := d.On(s.state.OrNil(), s.branch); d.Known == inventory.Unread {
			list("on the branch kept", read.Failing.Kept)
			list("left out there", read.Failing.LeftOut)
			d = read
		}
		if _, errs := newChange(NewComparison(d, s.state.OrNil(), s.branch), nil); len(errs) > 0 {
			parts = append(parts, "the apply: "+whyNotKept(errs[0]))
		}
	}
	return strings.Join(parts, "; ")
}

// whyNotKept returns a short text for the refusal to keep targets.
func whyNotKept(err error) string {
	refusal, ok := errors.AsType[*Refusal](err)
	switch {
	case !ok:
	case refusal.Kind == Guardrail && strings.Contains(refusal.Reason, "guardrails.max_kept"):
		return "too many"
	case refusal.Kind == CannotKeep && strings.Contains(refusal.Reason, "A create does not know the branch"):
		return "removed by a create"
	case refusal.Kind == CannotKeep && strings.Contains(refusal.Reason, "the new one can't keep them"):
		return "lost by the move"
	}
	return err.Error()
}

// TestKept specifies what happens to deployment targets that fail to render. The branch contains the targets a and b of
// large, and c of small.
func TestKept(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*situation)
		want   string
	}{
		{"a target that the branch contains", func(s *situation) {
			s.fail("large/b=1 small/c=1", "large/a")
		}, "write; kept large / a"}, // written, since the record lists the kept target
		{"a target that the branch contains, while other targets change", func(s *situation) {
			s.fail("large/b=2 small/c=1", "large/a")
		}, "write; kept large / a"},
		{"a new target", func(s *situation) {
			s.fail(delivered, "large/new")
		}, "write; left out large / new"},
		{"a target that fails on every cluster type", func(s *situation) {
			s.fail("large/b=1 small/c=1", "*/a")
		}, "write; kept large / a"},
		{"a new target that fails on every cluster type", func(s *situation) {
			s.fail(delivered, "*/new")
		}, "keep; left out new"},
		{"a target that moves to a cluster type where it fails", func(s *situation) {
			s.fail("large/b=1 small/c=1", "small/a")
		}, "write; kept large / a; left out small / a"},
		{"a target that leaves one of its two cluster types, and fails on the other one", func(s *situation) {
			s.state, s.branch = usualState("large/a=1 small/a=1"), containing("large/a=1 small/a=1")
			s.fail("large small", "small/a")
		}, "write; kept small / a"},
		{"a target on a cluster type that is removed", func(s *situation) {
			s.fail("large/a=1 large/b=1", "*/c")
		}, "write"},
		{"a target that also failed before", func(s *situation) {
			s.fail("large/b=1 small/c=1", "large/a")
			s.state.LastRead.Record.Kept = []record.FailedAssignment{{ClusterType: "large", DeploymentTarget: "a"}}
			before := existing(delivered)
			s.prior.TreeHash = inventory.Folders{"large": realHashes(before)["large"], "small": before["small"]}.
				TreeHash().String()
		}, "keep; kept large / a"},
		{"drift of a kept target", func(s *situation) {
			s.peopleWrite("large/a=theirs large/b=1 small/c=1")
			s.fail("large/b=2 small/c=1", "large/a")
		}, "write; kept large / a"},
		{"drift of another target in the same folder", func(s *situation) {
			s.peopleWrite("large/a=1 large/b=theirs small/c=1")
			s.fail("large/b=2 small/c=1", "large/a")
		}, "write; kept large / a; overwrites drift"},
		{"a failing target that people removed", func(s *situation) {
			s.peopleWrite("large/b=1 small/c=1")
			s.fail("large/b=1 small/c=1", "large/a")
		}, "write; left out large / a"},
		{"a state without whole hashes", func(s *situation) {
			s.fail("large/b=1 small/c=1", "large/a")
			s.dropWholeHashes()
		}, "write; kept large / a"},
		{"a state without whole hashes, while other targets change", func(s *situation) {
			s.fail("large/b=2 small/c=1", "large/a")
			s.dropWholeHashes()
		}, "undecided; kept large / a; unknown large"},
		{"a create", func(s *situation) {
			s.prior, s.state, s.branch = nil, nil, &Branch{Head: "head"}
			s.fail("large/b=1 small/c=1", "large/a")
		}, "write; left out large / a"},
		{"a create on a branch that contains the target's folder", func(s *situation) {
			s.prior, s.state = nil, nil
			s.fail("large/b=1 small/c=1", "large/a")
		}, "write; left out large / a; the apply: removed by a create"},
		{"a create that adopts", func(s *situation) {
			s.prior, s.state, s.desired.Adopt = nil, nil, true
			s.fail("large/b=1 small/c=1", "large/a")
		}, "write; left out large / a; uncertain; on the branch kept large / a"},
		{"an unreadable private state", func(s *situation) {
			s.state, s.branch = nil, nil // an apply recovers the state before it reads the branch for the change
			s.fail("large/b=1 small/c=1", "large/a")
		}, "write; left out large / a; uncertain"},
		{"a move", func(s *situation) {
			s.desired.Destination.Path = "fleet"
			s.desired.Guardrails = free
			s.branch = nil
			s.fail("large/b=1 small/c=1", "large/a")
		}, "write; left out large / a; lost by the move"},
		{"a move with a new failing target", func(s *situation) {
			s.desired.Destination.Path = "fleet"
			s.desired.Guardrails = free
			s.branch = nil
			s.fail(delivered, "large/new")
		}, "write; left out large / new"},
		{"more targets than max_kept", func(s *situation) {
			s.fail("large/b=1 small/c=1", "large/a")
			s.desired.Guardrails.MaxKept = ""
		}, "write; kept large / a; too many"},
		{"a new target with max_kept = 0", func(s *situation) {
			s.fail(delivered, "large/new")
			s.desired.Guardrails.MaxKept = "0"
		}, "write; left out large / new"},
		{"the strategy none", func(s *situation) {
			s.desired.Strategy, s.prior.Commit, s.branch = destination.None, "", nil
			s.fail("large/b=2 small/c=1", "large/a")
		}, "write; kept large / a"},
		{"a target in a folder of a later wave", func(s *situation) {
			s.desired.Rollout = twoStages()
			s.fail("large/b=2 small/c=2", "large/a")
		}, "write; kept large / a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := usualSituation()
			s.state.Delivered, s.state.LastRead.Folders = realHashes(s.state.Delivered), realHashes(s.state.LastRead.Folders)
			s.branch.Folders = s.state.LastRead.Folders
			tt.change(s)
			if diff := cmp.Diff(tt.want, s.keptText()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// realHashes returns folders with the hashes that Git computes for them.
func realHashes(inv inventory.Folders) inventory.Folders {
	return inv.Replace(func(_ string, folder inventory.Folder) inventory.Folder {
		folder.Hash, _ = inventory.FolderHash(folder.Targets)
		return folder
	})
}

// peopleWrite changes the branch as people do, before it is read.
func (s *situation) peopleWrite(entries string) {
	edit(s.state, entries)
	s.state.LastRead.Folders = realHashes(s.state.LastRead.Folders)
	s.branch.Folders = s.state.LastRead.Folders
}

// twoStages returns a rollout of one cluster type at a time.
func twoStages() *rollout.Rollout {
	return &rollout.Rollout{Stages: []rollout.Stage{{Name: "all", MaxConcurrency: &limit.Limit{Number: 1}}}}
}

// TestKeptInLaterWave: a target fails in a folder whose wave is pending. The other targets of the folder remain as they
// were delivered, and the failing target remains as it is on the branch.
func TestKeptInLaterWave(t *testing.T) {
	t.Parallel()
	s := usualSituation()
	s.state.Delivered = realHashes(s.state.Delivered)
	s.state.LastRead.Folders = realHashes(existing("large/a=1 large/b=1 small/c=theirs small/d=1"))
	s.state.Delivered = realHashes(existing("large/a=1 large/b=1 small/c=1 small/d=1"))
	s.state.Drift = []drift.Commit{{Commit: "theirs"}}
	s.desired.Rollout = twoStages()
	s.fail("large/a=2 large/b=1 small/d=2", "small/c")
	decision := Decide(s.desired.rendered(), s.prior, s.state)
	if diff := cmp.Diff(realHashes(existing("small/c=theirs small/d=1"))["small"].Hash,
		decision.All().Next.Folders["small"].Hash); diff != "" {
		t.Errorf("hash of the later wave's folder (-want +got):\n%s", diff)
	}
	if len(decision.All().Drift) > 0 || len(decision.All().Errors) > 0 {
		t.Errorf("drift %v, errors %v", decision.All().Drift, decision.All().Errors)
	}
}

// TestFailingSince: a target fails since the time of the first commit whose record lists it.
func TestFailingSince(t *testing.T) {
	t.Parallel()
	s := usualSituation()
	s.fail("large/b=1 small/c=1", "large/a small/new")
	s.desired.Author.When = time.Unix(1_800_000_000, 0)
	first := s.applied().RecordOn(s.branch)
	want := []record.FailedAssignment{{ClusterType: "large", DeploymentTarget: "a", Since: "2027-01-15T08:00:00Z"}}
	if diff := cmp.Diff(want, first.Kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	s.state.LastRead.Record, s.branch.Record = &first, &first
	s.desired.Author.When = s.desired.Author.When.Add(time.Hour)
	next := s.applied()
	if diff := cmp.Diff(want, next.Failing.Kept); diff != "" {
		t.Errorf("the next plan (-want +got):\n%s", diff)
	}
	if again := next.RecordOn(s.branch); !slices.Equal(again.Kept, want) || again.LeftOut[0].Since != want[0].Since {
		t.Errorf("the next record is %v", again)
	}
	parsed, err := record.Parse(first.Marshal())
	if err != nil || !parsed.Same(first) || !slices.Equal(parsed.Kept, want) {
		t.Errorf("after a round trip: %v (%v)", parsed, err)
	}
}
