package github

import (
	"context"
	"strings"

	"github.com/google/go-github/v53/github"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
)

func (r *repo) SetStatus(ctx context.Context, commit string, s hosting.Status) error {
	state := string(s.State)
	set := &github.RepoStatus{State: &state, Context: &s.Context, Description: &s.Description}
	if s.TargetURL != "" {
		set.TargetURL = &s.TargetURL
	}
	ctx = r.with(ctx, scope{statuses: write})
	_, _, err := r.client.api.Repositories.CreateStatus(ctx, r.owner, r.name, commit, set)
	return r.failed("set status "+s.Context+" of commit "+commit+" in "+r.String(), err)
}

// maxStatusPages ends a list that does not: GitHub keeps 1,000 statuses of a
// commit and context.
const maxStatusPages = 20

func (r *repo) Status(ctx context.Context, commit, name string) (*hosting.Status, error) {
	ctx = r.with(ctx, scope{statuses: read})
	options := &github.ListOptions{PerPage: 100}
	for range maxStatusPages {
		combined, resp, err := r.client.api.Repositories.GetCombinedStatus(ctx, r.owner, r.name, commit, options)
		if err != nil {
			return nil, r.failed("read status "+name+" of commit "+commit+" in "+r.String(), err)
		}
		for _, s := range combined.Statuses {
			if strings.EqualFold(s.GetContext(), name) {
				return &hosting.Status{
					Context: s.GetContext(), State: hosting.StatusState(s.GetState()), Description: s.GetDescription(), TargetURL: s.GetTargetURL(),
				}, nil
			}
		}
		if resp.NextPage == 0 {
			break
		}
		options.Page = resp.NextPage
	}
	return nil, nil //nolint:nilnil // nil is "nothing was said"
}
