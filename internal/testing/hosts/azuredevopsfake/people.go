package azuredevopsfake

import "testing"

// OpenFromFork opens a pull request from a branch of that name of another repo.
func (r *Repo) OpenFromFork(t testing.TB, login, source, target, title, body string) int {
	t.Helper()
	number := r.Open(t, login, source, target, title, body)
	r.With(t, number, func(p *pull) { p.Fork = true })
	return number
}

// FailMerge makes the merge in the background end with a status: rejectedByPolicy or failure.
func (r *Repo) FailMerge(t testing.TB, number int, status string) {
	t.Helper()
	r.With(t, number, func(p *pull) { p.failed = status })
}
