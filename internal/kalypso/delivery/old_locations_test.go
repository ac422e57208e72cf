package delivery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// addOldLocation adds a previous location on a branch, which an apply has to remove. If number is not 0, the pull
// request with this number proposes the removal.
func (s *situation) addOldLocation(branch string, number int) *OldLocation {
	s.desired.Strategy = destination.PullRequest
	old := &OldLocation{State: usualState(delivered), Number: number}
	old.State.Destination.Branch = branch
	s.state.OldLocations = append(s.state.OldLocations, old)
	return old
}

// TestOldLocations specifies when an apply opens a pull request that removes a previous location on another branch.
func TestOldLocations(t *testing.T) {
	for _, test := range []struct {
		rule string
		with func(*situation)
		want string
	}{
		{"the destination contains the tree", func(s *situation) { s.addOldLocation("old", 0) }, "remove old, removes [old]"},
		{"a pull request is open", func(s *situation) { s.addOldLocation("old", 8) }, "keep"},
		{"people closed the pull request", func(s *situation) { s.addOldLocation("old", 8).Closed = true }, "keep"},
		{"people closed the pull request, reopen is set", func(s *situation) {
			s.addOldLocation("old", 8).Closed = true
			s.desired.PullRequest.Reopen = true
		}, "remove old, removes [old]"},
		{"the tree is proposed", func(s *situation) {
			s.addOldLocation("old", 0)
			s.proposed("large/a=2 large/b=1 small/c=1")
			s.prior.Commit = ""
		}, "keep"},
		{"people closed the tree's pull request", func(s *situation) {
			s.addOldLocation("old", 0)
			s.proposed("large/a=2 large/b=1 small/c=1").State = githost.Closed
			s.prior.Commit = ""
		}, "keep"},
		{"another tree has to be delivered first", func(s *situation) {
			s.addOldLocation("old", 0)
			s.desired.Tree = rendered("large/a=2 large/b=1 small/c=1")
		}, "write, leaves [old]"},
		{"people changed the destination", func(s *situation) {
			s.addOldLocation("old", 0)
			edit(s.state, "large/a=9 large/b=1 small/c=1")
		}, "write, leaves [old]"},
		{"the rendering moves", func(s *situation) {
			s.desired.Strategy, s.desired.Destination.Branch, s.desired.Guardrails = destination.PullRequest, "new", free
		}, "write, leaves [dev]"},
		{"the rendering moves again", func(s *situation) {
			s.addOldLocation("old", 0)
			s.desired.Destination.Branch, s.desired.Guardrails = "new", free
		}, "write, leaves [old dev]"},
		{"the rendering moves back", func(s *situation) {
			s.addOldLocation("old", 8)
			s.desired.Destination.Branch, s.desired.Guardrails = "old", free
		}, "write, leaves [dev]"},
		{"the rendering moves within its branch", func(s *situation) {
			s.desired.Strategy, s.desired.Destination.Path, s.desired.Guardrails = destination.PullRequest, "clusters", free
		}, "write"},
		{"the rendering moves before it was delivered", func(s *situation) {
			s.proposed("large/a=2")
			s.state.Delivered, s.state.LastRead = inventory.Folders{}, Branch{Head: "head"}
			s.desired.Destination.Branch = "new"
		}, "write"},
		{"on_move is keep", func(s *situation) { s.addOldLocation("old", 0); s.desired.KeepOld = true }, "keep"},
		{"on_move is keep, a pull request is open", func(s *situation) {
			s.addOldLocation("old", 8)
			s.desired.KeepOld = true
		}, "remove old, keeps [old]"},
		{"on_move is unknown",
			func(s *situation) { s.addOldLocation("old", 0); s.desired.Known = inventory.Partial }, "undecided, leaves [old]"},
		{"a push removes the old location at once", func(s *situation) {
			s.addOldLocation("old", 8)
			s.desired.Strategy = destination.Push
		}, "write"},
		{"the strategy is unknown", func(s *situation) { s.addOldLocation("old", 0); s.desired.Strategy = unknown.Text },
			"undecided"},
		{"the strategy is none", func(s *situation) { s.addOldLocation("old", 0); s.desired.Strategy = destination.None },
			"write"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s := usualSituation()
			test.with(s)
			decision := Decide(s.desired.rendered(), s.prior, s.state)
			got := planKind(decision)
			old, _ := decision.(*RemoveOld)
			if old == nil {
				old = &RemoveOld{}
			}
			for verb, places := range map[string][]destination.Destination{
				"removes": old.Removed, "keeps": old.Kept, "leaves": EffectsOf(decision).Left.Pending,
			} {
				var branches []string
				for _, at := range places {
					branches = append(branches, at.Branch)
				}
				if len(branches) > 0 {
					got += fmt.Sprintf(", %s %s", verb, "["+strings.Join(branches, " ")+"]")
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, err := range decision.All().Errors {
				t.Errorf("refused: %v", err)
			}
		})
	}
}

// TestOldLocationsInState: the state contains the locations that must still be removed, so that the next run finds
// them.
func TestOldLocationsInState(t *testing.T) {
	s := usualSituation()
	s.addOldLocation("old", 8).Closed = true
	text, err := s.state.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeState(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.state.OldLocations, got.OldLocations); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
