package delivery

import (
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// AllReviewers returns the settings of pull requests with all reviewers that a change may ask.
func (a *Arguments) AllReviewers() pullrequest.Settings {
	s := a.PullRequest
	s.Reviewers = a.Owners.All(s.Reviewers)
	return s
}

// Workspaces returns the workspaces of deployment targets, as far as owners name them. known is false if a workspace is
// not known yet.
func (a *Arguments) Workspaces() (of map[string]string, known bool) {
	named := a.Owners.Workspaces()
	if len(named) == 0 {
		return nil, true
	}
	of, known = map[string]string{}, true
	targets, _ := a.Fleet.DeploymentTargets() // a valid fleet has no problems
	for _, t := range targets {
		known = known && !unknown.Is(t.Workspace)
		if slices.Contains(named, t.Workspace) {
			of[t.Name] = t.Workspace
		}
	}
	return of, known
}
