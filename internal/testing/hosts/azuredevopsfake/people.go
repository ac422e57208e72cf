package azuredevopsfake

import "testing"

// OpenIssue does nothing: the provider uses no issues of Azure DevOps.
func (*Repo) OpenIssue(testing.TB, string, string, string) int { return 0 }

// FailMerge makes the merge in the background end with a status: rejectedByPolicy or failure.
func (r *Repo) FailMerge(t testing.TB, number int, status string) {
	t.Helper()
	r.With(t, number, func(p *pull) { p.failed = status })
}
