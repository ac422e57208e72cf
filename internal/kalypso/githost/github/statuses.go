package github

import (
	"context"
	"slices"

	"github.com/google/go-github/v53/github"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

func (r *statuses) set(ctx context.Context, commit string, s githost.Status) (githost.Status, error) {
	state := string(s.State)
	set := &github.RepoStatus{State: &state, Context: &s.Context, Description: &s.Description}
	if s.TargetURL != "" {
		set.TargetURL = &s.TargetURL
	}
	ctx = r.with(ctx, "statuses: write")
	created, _, err := r.client.api.Repositories.CreateStatus(ctx, r.owner, r.name, commit, set)
	if err != nil {
		return githost.Status{}, err
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

// list reads the pages of all statuses, or of the latest ones.
func (r *statuses) list(
	ctx context.Context, commit string, _ []string, all bool,
) (l githost.StatusList, err error) {
	ctx = r.with(ctx, "statuses: read")
	more, err := pages(maxStatusPages, func(page *github.ListOptions) (int, *github.Response, error) {
		if all {
			found, resp, err := r.client.api.Repositories.ListStatuses(ctx, r.owner, r.name, commit, page)
			l.Statuses = slices.Concat(l.Statuses, lists.Map(found, r.convert))
			return len(found), resp, err
		}
		combined, resp, err := r.client.api.Repositories.GetCombinedStatus(ctx, r.owner, r.name, commit, page)
		if err != nil {
			return 0, resp, err
		}
		l.Statuses = slices.Concat(l.Statuses, lists.Map(combined.Statuses, r.convert))
		return len(combined.Statuses), resp, nil
	})
	if more {
		l.Unread = "it has more statuses, which are not read"
	}
	return l, err
}
