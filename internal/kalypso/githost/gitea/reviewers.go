package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

type team struct{ Name string }

// RequestReviews implements [githost.MetadataCalls].
func (r *pullRequests) RequestReviews(
	ctx context.Context, now githost.PullRequest, reviewers []string,
) (requested []string, err error) {
	users, teams := []string{}, []string{}
	for _, name := range reviewers {
		if _, team, isTeam := strings.Cut(name, "/"); isTeam {
			teams = append(teams, team)
		} else {
			users = append(users, name)
		}
	}
	_, err = r.call(ctx, http.MethodPost, pullPath(now.Number)+"/requested_reviewers",
		map[string]any{"reviewers": users, "team_reviewers": teams}, nil)
	var e *githost.Error
	if errors.As(err, &e) && errors.Is(e.Kind, githost.ErrNotVisible) { // the reviewer
		e.Kind = githost.ErrRejected
	}
	if err == nil && len(teams) > 0 {
		err = r.checkTeams(ctx, now.Number, reviewers)
	}
	if err != nil {
		return nil, err
	}
	return reviewers, nil
}

// checkTeams returns an error if Gitea ignored a request for a team's review. A repo that belongs to a user has no
// teams.
func (r *pullRequests) checkTeams(ctx context.Context, number int, asked []string) error {
	p, err := r.read(ctx, number)
	if err != nil {
		return err
	}
	if missing := sets.WithoutFold(asked, r.convert(p).Reviewers); len(missing) > 0 {
		return fmt.Errorf("the server did not ask %s; %s may be a user without teams", strings.Join(missing, ", "), r.owner)
	}
	return nil
}

// The pages of reviews and of timelines that are read.
const (
	reviewPages   = 20
	timelinePages = 100
)

// MissingReviewers implements [githost.PullRequestCalls]. A user who reviewed stays among the reviewers, unless the
// review was dismissed. Only the timeline contains a team whose member has reviewed.
func (r *pullRequests) MissingReviewers(
	ctx context.Context,
	now githost.PullRequest,
	missing []string,
) ([]string, error) {
	var done []string
	reviews := list{path: pullPath(now.Number) + "/reviews", pages: reviewPages}
	_, err := each(ctx, r.repo, reviews, func(review struct{ User user }) bool {
		done = append(done, review.User.Login)
		return false
	})
	missing = sets.WithoutFold(missing, done)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	err = r.timeline(ctx, now.Number, func(e event) {
		if e.Type == "review_request" {
			done = append(done, e.Assignee.Login, r.owner+"/"+e.Team.Name)
		}
	})
	return sets.WithoutFold(missing, done), err
}

// event is an entry of a timeline.
type event struct {
	Type     string
	Assignee user
	Team     team `json:"assignee_team"`
}

// timeline calls f with the entries of a pull request's timeline, the oldest first.
func (r *pullRequests) timeline(ctx context.Context, number int, f func(event)) error {
	// A page may be short before the end of the list, since Gitea hides entries that the user may not see.
	events := list{path: fmt.Sprintf("/issues/%d/timeline", number), pages: timelinePages, uncounted: true}
	_, err := each(ctx, r.repo, events, func(e event) bool {
		f(e)
		return false
	})
	return err
}
