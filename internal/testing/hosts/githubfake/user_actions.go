package githubfake

import (
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

// SetStatus sets a state as a user or an app does; "": as another account.
func (r *Repo) SetStatus(login, commit, context, state string) {
	r.SetStatusAs(login, commit, context, state, "")
}

// SetStatusAs sets a status as a user or an app does, such as "octocat" or "acme-ci[bot]".
func (r *Repo) SetStatusAs(login, commit, context, state, description string) {
	r.Server.Locked(func() {
		r.AddStatus(hostfake.Status{
			Commit: commit, Context: context, State: state, Description: description, Login: login,
		})
		r.sync()
	})
}

// AddCheckRun adds a check run of an app, such as "github-actions". The conclusion is empty while it runs.
func (r *Repo) AddCheckRun(commit, name, conclusion, app string) {
	r.Server.Locked(func() {
		now := r.Server.Now().UTC().Truncate(time.Second)
		r.checkRuns[commit] = append(r.checkRuns[commit], checkRun{name, conclusion, app, now})
	})
}
