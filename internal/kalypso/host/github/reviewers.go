package github

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-github/v53/github"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
)

func (r *repo) CheckReviewers(reviewers []string) error {
	var errs []error
	for _, name := range reviewers {
		if organisation, _, isTeam := strings.Cut(name, "/"); isTeam && !strings.EqualFold(organisation, r.owner) {
			errs = append(errs, &githost.Error{
				Op: "ask for reviews in " + r.String(), Kind: githost.ErrRejected,
				Cause: fmt.Errorf("team %s does not belong to %s, the owner of the repo", name, r.owner),
				Host:  hostName, Block: hostBlock,
			})
		}
	}
	return errors.Join(errs...)
}

func (r *repo) askReviewers(ctx context.Context, number int, reviewers []string) error {
	var asked github.ReviewersRequest
	if err := r.CheckReviewers(reviewers); err != nil {
		return err
	}
	for _, name := range reviewers {
		if _, team, isTeam := strings.Cut(name, "/"); isTeam {
			asked.TeamReviewers = append(asked.TeamReviewers, team)
		} else {
			asked.Reviewers = append(asked.Reviewers, name)
		}
	}
	ctx = r.pulls(ctx)
	if len(asked.TeamReviewers) > 0 {
		ctx = r.with(ctx, scope{contents: write, pullRequests: write, members: read})
	}
	_, _, err := r.client.api.PullRequests.RequestReviewers(ctx, r.owner, r.name, number, asked)
	return r.wrapError(r.op("request reviews of", number), err)
}

// reviewPages bounds the pages of reviews and timeline events that are read.
const reviewPages = 10

// Unasked finds users among the reviews. Only the timeline lists teams.
func (r *repo) Unasked(ctx context.Context, now githost.PullRequest, reviewers []string) ([]string, error) {
	missing := missingFold(reviewers, now.Reviewers)
	if len(missing) == 0 {
		return nil, nil
	}
	ctx = r.pulls(ctx)
	var reviewed, asked []string
	err := pages(func(page *github.ListOptions) (*github.Response, error) {
		reviews, resp, err := r.client.api.PullRequests.ListReviews(ctx, r.owner, r.name, now.Number, page)
		for _, review := range reviews {
			reviewed = append(reviewed, review.GetUser().GetLogin())
		}
		return resp, err
	})
	if err != nil {
		return nil, r.wrapError(r.op("read the reviews of", now.Number), err)
	}
	if missing = missingFold(missing, reviewed); len(missing) == 0 {
		return nil, nil
	}
	err = pages(func(page *github.ListOptions) (*github.Response, error) {
		events, resp, err := r.client.api.Issues.ListIssueTimeline(ctx, r.owner, r.name, now.Number, page)
		for _, event := range events {
			if event.GetEvent() == "review_requested" {
				asked = append(asked, event.GetReviewer().GetLogin(), r.owner+"/"+event.GetRequestedTeam().GetSlug())
			}
		}
		return resp, err
	})
	if err = r.wrapError(r.op("read the timeline of", now.Number), err); errors.Is(err, githost.ErrNotVisible) {
		err = nil // the server has no timelines
	}
	return missingFold(missing, asked), err
}

// pages reads the pages of a list, up to [reviewPages].
func pages(read func(*github.ListOptions) (*github.Response, error)) error {
	options := &github.ListOptions{PerPage: 100}
	for range reviewPages {
		resp, err := read(options)
		if err != nil || resp.NextPage == 0 {
			return err
		}
		options.Page = resp.NextPage
	}
	return nil
}
