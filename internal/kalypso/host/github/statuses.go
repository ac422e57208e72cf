package github

import (
	"context"
	"strings"

	"github.com/google/go-github/v53/github"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
)

func (r *statuses) SetStatus(ctx context.Context, commit string, s githost.Status) (githost.Status, error) {
	state := string(s.State)
	set := &github.RepoStatus{State: &state, Context: &s.Context, Description: &s.Description}
	if s.TargetURL != "" {
		set.TargetURL = &s.TargetURL
	}
	ctx = r.with(ctx, "statuses: write")
	created, _, err := r.client.api.Repositories.CreateStatus(ctx, r.owner, r.name, commit, set)
	if err != nil {
		return githost.Status{}, r.server.Error(r.traits.StatusOp("set", s.Context, commit), err)
	}
	return r.convert(created), nil
}

func (r *statuses) convert(s *github.RepoStatus) githost.Status {
	return githost.Status{
		Context: s.GetContext(), State: githost.StatusState(s.GetState()), Description: s.GetDescription(),
		TargetURL: s.GetTargetURL(), Creator: s.GetCreator().GetLogin(),
		SetAt: s.GetCreatedAt().Time, SeenAt: r.server.SeenAt(),
	}
}

// maxStatusPages bounds the pages of a list. GitHub keeps 1,000 statuses per commit and context.
const maxStatusPages = 20

func (r *statuses) Status(ctx context.Context, commit, name string) (found *githost.Status, err error) {
	ctx = r.with(ctx, "statuses: read")
	_, err = pages(maxStatusPages, func(page *github.ListOptions) (*github.Response, error) {
		combined, resp, err := r.client.api.Repositories.GetCombinedStatus(ctx, r.owner, r.name, commit, page)
		if err != nil {
			return nil, err
		}
		for _, s := range combined.Statuses {
			if found == nil && strings.EqualFold(s.GetContext(), name) {
				found = new(r.convert(s))
			}
		}
		return resp, err
	})
	return found, r.server.Error(r.traits.StatusOp("read", name, commit), err)
}
