package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
)

type team struct{ Name string }

// CheckReviewers implements [githost.Repo]: teams are those of the repo's organisation.
func (r *repo) CheckReviewers(reviewers []string) error {
	var errs []error
	for _, name := range reviewers {
		if organisation, _, isTeam := strings.Cut(name, "/"); isTeam && !strings.EqualFold(organisation, r.owner) {
			errs = append(errs, r.rejected("ask for reviews in "+r.String(), githost.FieldReviewers,
				fmt.Errorf("team %s does not belong to %s, the owner of the repo", name, r.owner)))
		}
	}
	return errors.Join(errs...)
}

// rejected returns an error at a field of a proposal.
func (r *repo) rejected(op string, field githost.Field, cause error) error {
	return &githost.Error{
		Op: op, Kind: githost.ErrRejected, Field: field, Cause: cause, Host: hostName, Block: hostBlock,
		Credential: r.client.Credential,
	}
}

// withoutFold returns the names that are not among others, ignoring case as Gitea does.
func withoutFold(names, others []string) []string {
	var all []string
	for _, name := range names {
		if !slices.ContainsFunc(others, func(other string) bool { return strings.EqualFold(name, other) }) {
			all = append(all, name)
		}
	}
	return all
}

// syncReviewers requests the reviewers who were not requested yet.
func (r *repo) syncReviewers(ctx context.Context, now *githost.PullRequest, p githost.PullRequestContent) error {
	ask := withoutFold(p.Reviewers, now.Reviewers)
	if len(ask) == 0 {
		return nil
	}
	if err := r.CheckReviewers(ask); err != nil {
		return err
	}
	users, teams := []string{}, []string{}
	for _, name := range ask {
		if _, team, isTeam := strings.Cut(name, "/"); isTeam {
			teams = append(teams, team)
		} else {
			users = append(users, name)
		}
	}
	op := r.op("request reviews of", now.Number)
	_, err := r.call(ctx, op, http.MethodPost, pullPath(now.Number)+"/requested_reviewers",
		map[string]any{"reviewers": users, "team_reviewers": teams}, nil)
	var e *githost.Error
	if errors.As(err, &e) && errors.Is(e.Kind, githost.ErrNotVisible) { // the reviewer
		e.Kind = githost.ErrRejected
	}
	if err == nil && len(teams) > 0 {
		err = r.checkTeams(ctx, op, now.Number, ask)
	}
	if err == nil {
		now.Reviewers = append(slices.Clone(now.Reviewers), ask...)
	}
	return err
}

// checkTeams returns an error if Gitea ignored a request: a repo of a user has no teams.
func (r *repo) checkTeams(ctx context.Context, op string, number int, asked []string) error {
	p, err := r.read(ctx, op, number)
	if err != nil {
		return err
	}
	if missing := withoutFold(asked, r.convert(p).Reviewers); len(missing) > 0 {
		return r.rejected(op, githost.FieldReviewers, fmt.Errorf("the server did not ask %s; %s may be a user without teams",
			strings.Join(missing, ", "), r.owner))
	}
	return nil
}

// The pages of reviews and of timelines that are read.
const (
	reviewPages   = 20
	timelinePages = 100
)

// Unasked implements [githost.Repo]. A user who reviewed stays among the reviewers, unless the review was dismissed.
// Only the timeline contains a team whose member has reviewed.
func (r *repo) Unasked(ctx context.Context, now githost.PullRequest, reviewers []string) ([]string, error) {
	missing := withoutFold(reviewers, now.Reviewers)
	if len(missing) == 0 {
		return nil, nil
	}
	var done []string
	_, err := each(ctx, r, list{
		op: r.op("read the reviews of", now.Number), path: pullPath(now.Number) + "/reviews", pages: reviewPages,
	}, func(review struct{ User user }, _ time.Time) bool {
		done = append(done, review.User.Login)
		return false
	})
	if err != nil {
		return nil, err
	}
	if missing = withoutFold(missing, done); len(missing) == 0 {
		return nil, nil
	}
	err = r.timeline(ctx, r.op("read the timeline of", now.Number), now.Number, func(e event) {
		if e.Type == "review_request" {
			done = append(done, e.Assignee.Login, r.owner+"/"+e.Team.Name)
		}
	})
	return withoutFold(missing, done), err
}

// event is an entry of a timeline.
type event struct {
	Type     string
	Assignee user
	Team     team `json:"assignee_team"`
}

// timeline calls f with the entries of a pull request's timeline, the oldest first.
func (r *repo) timeline(ctx context.Context, op string, number int, f func(event)) error {
	// A page is shorter if it has entries that the user may not see.
	_, err := each(ctx, r, list{
		op: op, path: fmt.Sprintf("/issues/%d/timeline", number), pages: timelinePages, uncounted: true,
	}, func(e event, _ time.Time) bool {
		f(e)
		return false
	})
	return err
}
