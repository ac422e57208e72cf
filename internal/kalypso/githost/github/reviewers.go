package github

import (
	"context"
	"errors"
	"strings"

	"github.com/google/go-github/v53/github"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// RequestReviews implements [githost.MetadataCalls].
func (r *pullRequests) RequestReviews(
	ctx context.Context, now githost.PullRequest, reviewers []string,
) (requested []string, err error) {
	var asked github.ReviewersRequest
	for _, name := range reviewers {
		if _, team, isTeam := strings.Cut(name, "/"); isTeam {
			asked.TeamReviewers = append(asked.TeamReviewers, team)
		} else {
			asked.Reviewers = append(asked.Reviewers, name)
		}
	}
	permitted := r.pulls(ctx)
	if len(asked.TeamReviewers) > 0 {
		permitted = r.with(ctx, "contents: write, members: read, pull_requests: write")
	}
	_, _, err = r.client.api.PullRequests.RequestReviewers(permitted, r.owner, r.name, now.Number, asked)
	if err != nil {
		return nil, err
	}
	return reviewers, nil
}

// reviewPages bounds the pages of reviews and timeline events that are read.
const reviewPages = 10

// MissingReviewers finds users who reviewed in the list of reviews. Only the timeline shows teams.
func (r *pullRequests) MissingReviewers(
	ctx context.Context, now githost.PullRequest, missing []string,
) ([]string, error) {
	ctx = r.pulls(ctx)
	var reviewed, asked []string
	_, err := pages(reviewPages, func(page *github.ListOptions) (int, *github.Response, error) {
		reviews, resp, err := r.client.api.PullRequests.ListReviews(ctx, r.owner, r.name, now.Number, page)
		for _, review := range reviews {
			reviewed = append(reviewed, review.GetUser().GetLogin())
		}
		return len(reviews), resp, err
	})
	missing = sets.WithoutFold(missing, reviewed)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	_, err = pages(reviewPages, func(page *github.ListOptions) (int, *github.Response, error) {
		events, resp, err := r.client.api.Issues.ListIssueTimeline(ctx, r.owner, r.name, now.Number, page)
		for _, event := range events {
			if event.GetEvent() == "review_requested" {
				asked = append(asked, event.GetReviewer().GetLogin(), r.owner+"/"+event.GetRequestedTeam().GetSlug())
			}
		}
		return len(events), resp, err
	})
	if errors.Is(err, githost.ErrNotVisible) {
		err = nil // the server has no timelines
	}
	return sets.WithoutFold(missing, asked), err
}

// pages reads up to limit pages of a list, and returns whether there are more. read requests and uses a page, and
// returns the number of its entries.
func pages(limit int, read func(*github.ListOptions) (int, *github.Response, error)) (more bool, err error) {
	return httpapi.EachPage(pageSize, limit*pageSize, func(p httpapi.Page) (int, bool, error) {
		entries, resp, err := read(&github.ListOptions{Page: p.Number, PerPage: p.Size})
		return entries, err == nil && resp.NextPage != 0, err
	})
}
