package delivery

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/check"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
)

// TestForeignCommitsOnOurBranch: an apply refuses to overwrite foreign commits on our branch, unless the plan listed
// them.
func TestForeignCommitsOnOurBranch(t *testing.T) {
	for _, test := range []struct {
		rule string
		with func(*past.Proposal, *past.Branch)
		want string
	}{
		{"foreign commits that the plan listed", func(*past.Proposal, *past.Branch) {}, ""},
		{"foreign commits in our folders after the plan",
			func(_ *past.Proposal, ours *past.Branch) { ours.Folders = existing("large/a=8") },
			"moved [large]"},
		{"foreign commits beside our folders after the plan",
			func(_ *past.Proposal, ours *past.Branch) { ours.Head = "theirs" },
			"moved [commits beside our folders]"},
		{"our branch with another prefix",
			func(p *past.Proposal, _ *past.Branch) { p.Head.Destination.Branch = "old-prefix/dev" }, "unknown"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s, ours, at := usualState(delivered), containing("large/a=9"), usualDestination
			at.Branch = "deployment/dev"
			s.Proposal = &past.Proposal{Head: usualState("large/a=9")}
			s.Proposal.Head.Destination = at
			test.with(s.Proposal, ours)
			got := "unknown"
			if s.Proposal.IsOn(at) {
				got = ""
				if err := check.ProposalMoved(s.Proposal, at, ours); err != nil {
					got = kindOf(err)
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
