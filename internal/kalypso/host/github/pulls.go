package github

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/google/go-github/v53/github"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// Find lists the pull requests from our branch to the target: all open ones, then the newest closed ones.
func (r *pullRequests) Find(ctx context.Context, q githost.Query) (*githost.PullRequest, error) {
	ctx = r.pulls(ctx)
	states := []string{"open", "closed"}
	if q.Open {
		states = states[:1]
	}
	for _, state := range states {
		options := &github.PullRequestListOptions{
			State: state, Base: q.Target, Sort: "created", Direction: "desc",
			ListOptions: github.ListOptions{PerPage: 100},
		}
		if q.Branch != "" {
			options.Head = r.owner + ":" + q.Branch
		}
		list, _, err := r.client.api.PullRequests.List(ctx, r.owner, r.name, options)
		if err != nil {
			return nil, r.server.Error(r.traits.FindOp(q.Branch), err)
		}
		for _, p := range list {
			fork := p.GetHead().GetLabel() != "" && !strings.HasPrefix(strings.ToLower(p.GetHead().GetLabel()),
				strings.ToLower(r.owner)+":")
			one := r.convert(p)
			if !fork && (q.Branch == "" || one.Branch == q.Branch) && (q.Marker == "" || githost.HasMarker(one.Body, q.Marker)) {
				return one, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // nil means none
}

func (r *pullRequests) Read(ctx context.Context, number int) (*githost.PullRequest, error) {
	ctx = r.pulls(ctx)
	p, _, err := r.client.api.PullRequests.Get(ctx, r.owner, r.name, number)
	if err != nil {
		return nil, r.server.Error(r.traits.Op("read", number), err)
	}
	return r.convert(p), nil
}

func (r *pullRequests) Open(ctx context.Context, p githost.PullRequestContent) (*githost.PullRequest, error) {
	ctx = r.pulls(ctx)
	opened, _, err := r.client.api.PullRequests.Create(ctx, r.owner, r.name, &github.NewPullRequest{
		Title: &p.Title, Body: &p.Body, Head: &p.Branch, Base: &p.Target, Draft: &p.Draft,
	})
	if err != nil {
		err = r.server.Error(r.traits.OpenOp(p), err)
		if !errors.Is(err, githost.ErrExists) {
			return nil, err
		}
		if opened = r.findOpened(ctx, p); opened == nil {
			return nil, err
		}
	}
	return r.syncMetadata(ctx, *r.convert(opened), p)
}

// findOpened returns the pull request that an earlier attempt opened, although its answer was lost. It finds it by its
// title and body, which equal the proposal's.
func (r *pullRequests) findOpened(ctx context.Context, p githost.PullRequestContent) *github.PullRequest {
	list, _, err := r.client.api.PullRequests.List(ctx, r.owner, r.name, &github.PullRequestListOptions{
		State: "open", Head: r.owner + ":" + p.Branch, Base: p.Target,
	})
	if err != nil || len(list) != 1 || list[0].GetTitle() != p.Title || list[0].GetBody() != p.Body {
		return nil
	}
	return list[0]
}

func (r *pullRequests) Edit(
	ctx context.Context, now githost.PullRequest, p githost.PullRequestContent,
) (*githost.PullRequest, error) {
	ctx = r.pulls(ctx)
	if now.Title != p.Title || now.Body != p.Body {
		edited, _, err := r.client.api.PullRequests.Edit(ctx, r.owner, r.name, now.Number,
			&github.PullRequest{Title: &p.Title, Body: &p.Body})
		if err != nil {
			return nil, r.server.Error(r.traits.Op("edit", now.Number), err)
		}
		now = *r.convert(edited)
	}
	if now.Draft != p.Draft {
		if err := r.setDraft(ctx, now, p.Draft); err != nil {
			return &now, err
		}
		now.Draft = p.Draft
	}
	return r.syncMetadata(ctx, now, p)
}

// syncMetadata sets labels and reviewers. After an error, it continues with the rest.
func (r *pullRequests) syncMetadata(
	ctx context.Context, now githost.PullRequest, p githost.PullRequestContent,
) (*githost.PullRequest,
	error) {
	var errs []error
	if add := sets.WithoutFold(p.Labels, now.Labels); len(add) > 0 {
		_, _, err := r.client.api.Issues.AddLabelsToIssue(ctx, r.owner, r.name, now.Number, add)
		if err == nil {
			now.Labels = append(now.Labels, add...)
		}
		errs = append(errs, githost.About(githost.FieldLabels, r.server.Error(r.traits.Op("label", now.Number), err)))
	}
	for _, label := range p.RemoveLabels {
		if len(sets.WithoutFold([]string{label}, now.Labels)) > 0 {
			continue
		}
		_, err := r.client.api.Issues.RemoveLabelForIssue(ctx, r.owner, r.name, now.Number, url.PathEscape(label))
		err = r.server.Error(r.traits.Op("remove label "+label+" from", now.Number), err)
		if e, ok := errors.AsType[*githost.Error](err); ok && strings.Contains(e.Message, saysNoLabel) {
			err = nil // already removed
		}
		if err == nil {
			now.Labels = sets.WithoutFold(now.Labels, []string{label})
		}
		errs = append(errs, githost.About(githost.FieldLabels, err))
	}
	if ask := sets.WithoutFold(p.Reviewers, now.Reviewers); len(ask) > 0 {
		err := r.askReviewers(ctx, now.Number, ask)
		if err == nil {
			now.Reviewers = append(now.Reviewers, ask...)
		}
		errs = append(errs, githost.About(githost.FieldReviewers, err))
	}
	return &now, errors.Join(errs...)
}

func (r *pullRequests) Close(ctx context.Context, number int) (*githost.PullRequest, error) {
	ctx = r.pulls(ctx)
	closed := "closed"
	p, _, err := r.client.api.PullRequests.Edit(ctx, r.owner, r.name, number, &github.PullRequest{State: &closed})
	if err != nil {
		return nil, r.server.Error(r.traits.Op("close", number), err)
	}
	return r.convert(p), nil
}

// convert converts a pull request from a list or a single read.
func (r *pullRequests) convert(p *github.PullRequest) *githost.PullRequest {
	c := &githost.PullRequest{
		Number: p.GetNumber(), ID: p.GetNodeID(), URL: printable.Line(p.GetHTMLURL()), State: githost.Open,
		Title: p.GetTitle(), Body: p.GetBody(),
		Branch: p.GetHead().GetRef(), Target: p.GetBase().GetRef(), HeadCommit: p.GetHead().GetSHA(), Draft: p.GetDraft(),
		AutoMerge: githost.MergeMethod(p.GetAutoMerge().GetMergeMethod()),
	}
	switch {
	case p.GetMerged(), p.MergedAt != nil: // in lists, only MergedAt is set
		c.State, c.MergeCommit = githost.Merged, p.GetMergeCommitSHA()
	case p.GetState() == "closed":
		c.State = githost.Closed
	}
	for _, l := range p.Labels {
		c.Labels = append(c.Labels, l.GetName())
	}
	for _, u := range p.RequestedReviewers {
		c.Reviewers = append(c.Reviewers, u.GetLogin())
	}
	for _, t := range p.RequestedTeams {
		c.Reviewers = append(c.Reviewers, r.owner+"/"+t.GetSlug())
	}
	return c
}
