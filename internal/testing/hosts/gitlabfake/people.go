package gitlabfake

import (
	"cmp"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// Lock puts a merge request into the state locked, as during a merge, until this number of requests about it.
func (p *Project) Lock(t testing.TB, number, requests int) {
	t.Helper()
	p.With(t, number, func(m *mergeRequest) { m.State, m.locked = locked, requests })
}

// Retarget changes the target branch as a person does. Commits that it already has are no merge.
func (p *Project) Retarget(t testing.TB, number int, target string) {
	t.Helper()
	p.With(t, number, func(m *mergeRequest) { m.Base, m.BaseCommit = target, p.Git.Head(target) })
}

// SetStatus sets a status as a user does, or a job of CI: in one of our states or of GitLab's.
func (p *Project) SetStatus(login, commit, name, state string) {
	state = cmp.Or(map[string]string{"failure": "failed", "error": "canceled"}[state], state)
	status := hostfake.Status{Commit: commit, Context: name, State: state, Login: login}
	p.server.Locked(func() { _, _ = p.post(status) })
}
