package baserepo

import (
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitops"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/unknown"
)

// Validate reports what is invalid, each at its argument. An empty commit is none.
func (d *Desired) Validate() problem.Problems {
	ps := delivery.ValidatePullRequests(d.PullRequest)
	add := func(argument, summary, detail string) {
		ps = append(ps, problem.Problem{Summary: summary, Detail: detail, Path: []problem.Step{problem.Attr(argument)}})
	}
	if d.Message != "" && gitops.CheckMessage(d.Message) != nil {
		add("commit_message", "Invalid commit message",
			"commit_message is blank. Write a message, or remove the argument.")
	}
	commit := d.Promotion.Commit
	if err := hosting.CheckCommit(commit); err != nil && commit != "" && !unknown.Is(commit) {
		add("promotion", "Invalid promoted commit", fmt.Sprintf("%q: %s", commit, problem.Sentence(err)))
	}
	return ps
}
