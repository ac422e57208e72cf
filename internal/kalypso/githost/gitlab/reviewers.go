package gitlab

import (
	"context"
	"errors"
	"fmt"
	"strings"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// checkReviewer refuses teams: only users can review on GitLab.
func checkReviewer(name string) error {
	if strings.Contains(name, "/") {
		return fmt.Errorf("%s is not a user name: %s asks users for reviews, not groups", name, hostName)
	}
	return nil
}

const askOp = "ask for reviews in "

// MissingReviewers implements [githost.PullRequestCalls]. Users who have reviewed stay among the reviewers of a merge
// request.
func (r *mergeRequests) MissingReviewers(
	_ context.Context,
	_ githost.PullRequest,
	missing []string,
) ([]string, error) {
	return missing, nil
}

// userIDs returns the numbers of users. It returns the numbers of all users that GitLab knows. The error names the
// other users.
func (r *mergeRequests) userIDs(ctx context.Context, names []string) (ids []int64, err error) {
	var errs []error
	for _, name := range names {
		id, err := r.client.users.Get(strings.ToLower(name), func() (int64, error) { return r.findUser(ctx, name) })
		if err == nil {
			ids = append(ids, id)
		}
		errs = append(errs, err)
	}
	return ids, errors.Join(errs...)
}

func (r *mergeRequests) findUser(ctx context.Context, name string) (int64, error) {
	users, _, err := r.client.api.Users.ListUsers(&gitlab.ListUsersOptions{Username: &name}, gitlab.WithContext(ctx))
	if err != nil {
		return 0, githost.About(githost.FieldReviewers, r.server.Error("find user "+name, err))
	}
	for _, u := range users {
		if strings.EqualFold(u.Username, name) {
			return u.ID, nil
		}
	}
	return 0, r.server.Rejected(askOp+r.path, githost.FieldReviewers, fmt.Errorf("%s has no user %s", hostName, name))
}

// reviewerIDs returns the numbers of the current reviewers. An edit replaces all of them.
func (r *mergeRequests) reviewerIDs(ctx context.Context, number int) (ids []int64, err error) {
	m, err := r.read(ctx, number)
	if err != nil {
		return nil, err
	}
	for _, u := range m.Reviewers {
		if u == nil { // an edit would drop this reviewer
			return nil, r.server.Rejected(askOp+r.path, githost.FieldReviewers,
				errors.New("the server's answer has null as a reviewer"))
		}
		ids = append(ids, u.ID)
	}
	return ids, nil
}

// checkAsked returns an error for reviewers that GitLab dropped without an error: its Free plan keeps only one
// reviewer, and users who can't see the project can't review. allKnown is false if another error names some of them.
func (r *mergeRequests) checkAsked(now githost.PullRequest, reviewers []string, allKnown bool) error {
	dropped := sets.WithoutFold(reviewers, now.Reviewers)
	if len(dropped) == 0 || !allKnown {
		return nil
	}
	reason := fmt.Sprintf("%s did not ask %s: the user may not see the project", hostName, strings.Join(dropped, ", "))
	if len(now.Reviewers) == 1 {
		reason = fmt.Sprintf("%s keeps one reviewer on this plan, and asks %s instead of %s", hostName, now.Reviewers[0],
			strings.Join(dropped, ", "))
	}
	return r.server.Rejected(r.traits.Op("request reviews of", now.Number), githost.FieldReviewers, errors.New(reason))
}
