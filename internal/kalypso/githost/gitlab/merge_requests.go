package gitlab

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// GitLab's states of a merge request. Locked means that GitLab is merging it.
const (
	stateOpened = "opened"
	stateLocked = "locked"
	stateClosed = "closed"
	stateMerged = "merged"
	stateAll    = "all" // in lists
)

// pageSize is the number of entries on a page of a list.
const pageSize = 100

// Find lists the merge requests from our branch to the target: the open ones, or the newest in any state. Merge
// requests of forks are not ours, although their branches have our names.
func (r *mergeRequests) Find(ctx context.Context, q githost.Query) (*githost.PullRequest, error) {
	state := stateAll
	if q.Open {
		state = stateOpened
	}
	options := &gitlab.ListProjectMergeRequestsOptions{
		State: &state, TargetBranch: &q.Target, OrderBy: gitlab.Ptr("created_at"), Sort: gitlab.Ptr("desc"),
	}
	if q.Branch != "" {
		options.SourceBranch = &q.Branch
	}
	id, err := r.id(ctx)
	if err != nil {
		return nil, err
	}
	var found *githost.PullRequest
	_, err = eachPage(pageSize, pageSize, &options.ListOptions,
		func() ([]*gitlab.BasicMergeRequest, *gitlab.Response, error) {
			return r.client.api.MergeRequests.ListProjectMergeRequests(id, options, gitlab.WithContext(ctx))
		}, func(m *gitlab.BasicMergeRequest) (done bool) {
			ours := m.SourceProjectID == m.TargetProjectID
			done = ours && (q.Marker == "" || githost.HasMarker(m.Description, q.Marker))
			if done {
				found = convert(m)
			}
			return done
		})
	return found, err
}

// lockedFor limits how long a locked merge request is read again and again. Because of a known bug in GitLab, some stay
// locked.
const lockedFor = time.Minute

// Read reads a merge request. While GitLab merges it, it can't be edited, so it is read again.
func (r *mergeRequests) Read(ctx context.Context, number int) (*githost.PullRequest, error) {
	return answer(r.read(ctx, number))
}

// answer converts the answer to a request for one merge request.
func answer(m *gitlab.MergeRequest, err error) (*githost.PullRequest, error) {
	if err != nil {
		return nil, err
	}
	return convert(&m.BasicMergeRequest), nil
}

func (r *mergeRequests) read(ctx context.Context, number int) (*gitlab.MergeRequest, error) {
	id, err := r.id(ctx)
	if err != nil {
		return nil, err
	}
	waited := time.Duration(0)
	for attempt := 1; ; attempt++ {
		m, _, err := r.client.api.MergeRequests.GetMergeRequest(id, int64(number), nil, gitlab.WithContext(ctx))
		if err != nil {
			return nil, err
		}
		wait := httpapi.Backoff(attempt)
		waited += wait
		if m.State != stateLocked || waited > lockedFor {
			return m, nil
		}
		if err := r.server.Clock.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// update changes a merge request.
func (r *mergeRequests) update(
	ctx context.Context, number int, change *gitlab.UpdateMergeRequestOptions,
) (*gitlab.MergeRequest, error) {
	id, err := r.id(ctx)
	if err != nil {
		return nil, err
	}
	updated, _, err := r.client.api.MergeRequests.UpdateMergeRequest(id, int64(number), change, gitlab.WithContext(ctx))
	return updated, err
}

func (r *mergeRequests) Open(ctx context.Context, p githost.PullRequestContent) (*githost.PullRequest, error) {
	id, err := r.id(ctx)
	if err != nil { // look for users only if the project is visible
		return nil, err
	}
	reviewers, unknown := r.userIDs(ctx, p.Reviewers)
	title := titles.Stored(p.Title, p.Draft)
	create := &gitlab.CreateMergeRequestOptions{
		Title: &title, Description: &p.Body, SourceBranch: &p.Branch, TargetBranch: &p.Target,
	}
	if len(p.Labels) > 0 {
		create.Labels = (*gitlab.LabelOptions)(&p.Labels)
	}
	if len(reviewers) > 0 {
		create.ReviewerIDs = &reviewers
	}
	opened, _, err := r.client.api.MergeRequests.CreateMergeRequest(id, create, gitlab.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	now := convert(&opened.BasicMergeRequest)
	return now, errors.Join(unknown, r.checkAsked(*now, p.Reviewers, unknown == nil))
}

// Edit sends all differences in one request.
func (r *mergeRequests) Edit(
	ctx context.Context, now githost.PullRequest, p githost.PullRequestContent,
) (*githost.PullRequest, error) {
	update, changed := &gitlab.UpdateMergeRequestOptions{}, false
	if now.Title != p.Title || now.Draft != p.Draft {
		update.Title, changed = new(titles.Stored(p.Title, p.Draft)), true
	}
	if now.Body != p.Body {
		update.Description, changed = &p.Body, true
	}
	if add := sets.Without(p.Labels, now.Labels); len(add) > 0 {
		update.AddLabels, changed = (*gitlab.LabelOptions)(&add), true
	}
	if remove := sets.Without(p.RemoveLabels, sets.Without(p.RemoveLabels, now.Labels)); len(remove) > 0 {
		update.RemoveLabels, changed = (*gitlab.LabelOptions)(&remove), true
	}
	var unknown error
	if add := sets.WithoutFold(p.Reviewers, now.Reviewers); len(add) > 0 {
		var ids []int64
		ids, unknown = r.userIDs(ctx, add)
		if len(ids) > 0 {
			asked, err := r.reviewerIDs(ctx, now.Number)
			if err != nil {
				return &now, err
			}
			ids = append(asked, ids...)
			update.ReviewerIDs, changed = &ids, true
		}
	}
	if changed {
		edited, err := r.update(ctx, now.Number, update)
		if err != nil {
			return &now, errors.Join(r.server.Error(r.traits.Op("edit", now.Number), err), unknown)
		}
		now = *convert(&edited.BasicMergeRequest)
	}
	return &now, errors.Join(unknown, r.checkAsked(now, p.Reviewers, unknown == nil))
}

// Close reads the merge request first, since GitLab may be merging it.
func (r *mergeRequests) Close(ctx context.Context, number int) (*githost.PullRequest, error) {
	now, err := r.read(ctx, number)
	if err == nil && now.State == stateOpened {
		now, err = r.update(ctx, number, &gitlab.UpdateMergeRequestOptions{StateEvent: gitlab.Ptr("close")})
	}
	return answer(now, err)
}

// convert converts a merge request from a list or a single read.
func convert(m *gitlab.BasicMergeRequest) *githost.PullRequest {
	c := &githost.PullRequest{
		Number: int(m.IID), URL: printable.Line(m.WebURL), State: githost.Open,
		Title: titles.WithoutMark(m.Title, m.Draft), Body: m.Description, Branch: m.SourceBranch, Target: m.TargetBranch,
		HeadCommit: m.SHA, Draft: m.Draft, Labels: m.Labels, Merging: m.State == stateLocked,
	}
	switch m.State {
	case stateMerged:
		c.State = githost.Merged
		// In a project that fast-forwards, a squash has no merge commit, and a merge has neither a merge commit nor a squash
		// commit.
		for _, commit := range []string{m.SHA, m.SquashCommitSHA, m.MergeCommitSHA} {
			if commit != "" {
				c.MergeCommit = commit
			}
		}
	case stateClosed:
		c.State = githost.Closed
	default:
		c.AutoMerge = autoMerge(m)
	}
	for _, u := range m.Reviewers {
		if u != nil {
			c.Reviewers = append(c.Reviewers, u.Username)
		}
	}
	return c
}

// checkLabel refuses a comma, which separates labels.
func checkLabel(label string) error {
	if strings.Contains(label, ",") {
		return fmt.Errorf("label %q contains a comma, which separates labels on %s", label, hostName)
	}
	return nil
}
