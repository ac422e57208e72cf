package delivery

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
)

// TestForeignCommitsOnOurBranch: an apply refuses foreign commits on our branch unless the plan listed them.
func TestForeignCommitsOnOurBranch(t *testing.T) {
	for _, test := range []struct {
		rule string
		with func(*Proposal, *BranchState)
		want string
	}{
		{"the plan listed them", func(*Proposal, *BranchState) {}, ""},
		{"people pushed after the plan", func(_ *Proposal, ours *BranchState) { ours.Folders = existing("large/a=8") },
			"moved [large]"},
		{"people pushed beside our folders after the plan", func(_ *Proposal, ours *BranchState) { ours.Head = "theirs" },
			"moved [commits beside our folders]"},
		{"the last proposal came from a branch with another prefix",
			func(p *Proposal, _ *BranchState) { p.Head.Destination.Branch = "old-prefix/dev" }, "unknown"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s, ours, at := usualState(delivered), containing("large/a=9"), usualDestination
			at.Branch = "deployment/dev"
			s.Proposal = &Proposal{Head: usualState("large/a=9")}
			s.Proposal.Head.Destination = at
			test.with(s.Proposal, ours)
			topic := &pullrequest.Topic{
				TopicLocation: pullrequest.TopicLocation{Repo: at.Repo, Branch: at.Branch, Path: at.Path},
			}
			got := "unknown"
			if Known(s, topic) != nil {
				got = ""
				if err := s.Proposal.Moved(at, ours); err != nil {
					got = kindOf(err)
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
