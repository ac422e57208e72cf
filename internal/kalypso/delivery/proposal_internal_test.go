package delivery

import (
	"testing"
)

// TestForeignCommitsOnOurBranch: an apply refuses to overwrite foreign commits on our branch, unless the plan listed
// them.
func TestForeignCommitsOnOurBranch(t *testing.T) {
	for _, test := range []struct {
		rule string
		with func(*Proposal, *Branch)
		want string
	}{
		{"foreign commits that the plan listed", func(*Proposal, *Branch) {}, ""},
		{"foreign commits in our folders after the plan",
			func(_ *Proposal, ours *Branch) { ours.Folders = existing("large/a=8") },
			"moved [large]"},
		{"foreign commits beside our folders after the plan",
			func(_ *Proposal, ours *Branch) { ours.Head = "theirs" },
			"moved [commits beside our folders]"},
		{"our branch with another prefix",
			func(p *Proposal, _ *Branch) { p.Head.Destination.Branch = "old-prefix/dev" }, "unknown"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s, ours, at := usualState(delivered), containing("large/a=9"), usualDestination
			at.Branch = "deployment/dev"
			s.Proposal = &Proposal{Head: usualState("large/a=9")}
			s.Proposal.Head.Destination = at
			test.with(s.Proposal, ours)
			got := "unknown"
			if s.Proposal.IsOn(at) {
				got = ""
				if err := ProposalMoved(s.Proposal, at, ours); err != nil {
					got = kindOf(err)
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
