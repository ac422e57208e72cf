package azuredevopsfake

import "testing"

// FailMerge makes the merge in the background end with a status: rejectedByPolicy or failure.
func (r *Repo) FailMerge(t testing.TB, number int, status string) {
	t.Helper()
	r.With(t, number, func(p *pull) { p.failed = status })
}
