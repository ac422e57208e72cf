package host

import (
	"context"
	"errors"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// OpenedBefore returns the pull request that an earlier attempt opened, although its answer was lost, if the host
// refuses to open it for this reason. Otherwise it returns the refusal. It finds the pull request by its title, body
// and draft, which equal the proposal's.
func OpenedBefore(
	ctx context.Context, pulls PullRequests, p PullRequestContent, refusal error,
) (*PullRequest, error) {
	if !errors.Is(refusal, ErrExists) {
		return nil, refusal
	}
	found, err := pulls.Find(ctx, Query{Branch: p.Branch, Target: p.Target, Open: true})
	if err != nil || found == nil || found.Title != p.Title || found.Body != p.Body || found.Draft != p.Draft {
		return nil, refusal
	}
	return pulls.Edit(ctx, *found, p)
}

// Metadata sets the labels and reviewers of pull requests, on a host that needs a request for each change.
type Metadata interface {
	AddLabels(ctx context.Context, number int, names []string) error
	RemoveLabel(ctx context.Context, number int, name string) error
	// RequestReviews requests the reviews of valid reviewers that a pull request, as last read, does not list. It returns
	// the reviewers who were requested.
	RequestReviews(ctx context.Context, now PullRequest, reviewers []string) (requested []string, err error)
}

// SyncMetadata sets the labels and reviewers of a pull request, as last read, to match a proposal. After an error, it
// continues with the rest.
func (t Traits) SyncMetadata(
	ctx context.Context, m Metadata, now PullRequest, p PullRequestContent,
) (*PullRequest, error) {
	var errs []error
	without := sets.WithoutFold
	if t.ExactLabels {
		without = sets.Without
	}
	if add := without(p.Labels, now.Labels); len(add) > 0 {
		err := m.AddLabels(ctx, now.Number, add)
		if err == nil {
			now.Labels = slices.Concat(now.Labels, add)
		}
		errs = append(errs, About(FieldLabels, err))
	}
	for _, label := range without(p.RemoveLabels, without(p.RemoveLabels, now.Labels)) {
		err := m.RemoveLabel(ctx, now.Number, label)
		if err == nil {
			now.Labels = without(now.Labels, []string{label})
		}
		errs = append(errs, About(FieldLabels, err))
	}
	if ask := sets.WithoutFold(p.Reviewers, now.Reviewers); len(ask) > 0 {
		err := t.Check(Settings{Reviewers: ask})
		if err == nil {
			ask, err = m.RequestReviews(ctx, now, ask)
			now.Reviewers = slices.Concat(now.Reviewers, ask)
		}
		errs = append(errs, About(FieldReviewers, err))
	}
	return &now, errors.Join(errs...)
}
