package githost

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// PullRequestCalls are the calls of one host for its pull requests. [Traits.PullRequestsBy] does around them what is
// the same on all hosts, so they promise less than the methods of [PullRequests], and may return any errors.
type PullRequestCalls interface { //nolint:dupl // the methods of PullRequests promise more
	// Find returns the open pull request of a rendering, or nil. If the query does not ask for open ones, it returns the
	// newest in any state. The number of requests does not depend on the number of pull requests.
	Find(ctx context.Context, query Query) (*PullRequest, error)
	// Read returns a pull request by number.
	Read(ctx context.Context, number int) (*PullRequest, error)
	// Open opens a pull request. The error is [ErrExists] or [ErrNothingToMerge] as in [PullRequests]. Labels and
	// reviewers are set by Open, or by [MetadataCalls].
	Open(ctx context.Context, proposal PullRequestContent) (*PullRequest, error)
	// Edit changes an open pull request, as last read, to match a proposal. Labels and reviewers are set by Edit, or by
	// [MetadataCalls]. In the latter case, Edit is called only if title, body or draft differ.
	Edit(ctx context.Context, now PullRequest, proposal PullRequestContent) (*PullRequest, error)
	// MissingReviewers is called with at least one reviewer, and only with reviewers whom the pull request does not list.
	MissingReviewers(ctx context.Context, now PullRequest, reviewers []string) ([]string, error)
	// Close closes a pull request without merging it. It does nothing if the pull request is closed.
	Close(ctx context.Context, number int) (*PullRequest, error)
	// MergeWhenReady is called only if something changes. An empty method turns auto-merge off.
	MergeWhenReady(ctx context.Context, now PullRequest, method MergeMethod) (*PullRequest, error)
}

// MetadataCalls set the labels and reviewers of pull requests, on a host that needs a request for each change.
type MetadataCalls interface {
	AddLabels(ctx context.Context, number int, names []string) error
	RemoveLabel(ctx context.Context, number int, name string) error
	// RequestReviews requests the reviews of valid reviewers that a pull request, as last read, does not list. It returns
	// the reviewers who were requested.
	RequestReviews(ctx context.Context, now PullRequest, reviewers []string) (requested []string, err error)
}

// operations are the [PullRequests] of a repo.
type operations struct {
	traits   Traits
	calls    PullRequestCalls
	metadata MetadataCalls
	failed   func(op string, err error) error
}

// PullRequestsBy returns the pull requests of a repo by the calls of its host. metadata is nil if Open and Edit set
// labels and reviewers themselves. failed converts an error of a call to an error about an operation, by default an
// [ErrRejected].
func (t Traits) PullRequestsBy(
	calls PullRequestCalls, metadata MetadataCalls, failed func(op string, err error) error,
) PullRequests {
	return operations{t, calls, metadata, failed}
}

// Find implements [PullRequests].
func (o operations) Find(ctx context.Context, q Query) (*PullRequest, error) {
	open := q
	open.Open = true
	found, err := o.calls.Find(ctx, open)
	if err == nil && found == nil && !q.Open {
		found, err = o.calls.Find(ctx, q)
	}
	return found, o.failed("find the "+o.traits.Noun+" of branch "+q.Branch+" in "+o.traits.Repository, err)
}

// Read implements [PullRequests].
func (o operations) Read(ctx context.Context, number int) (*PullRequest, error) {
	read, err := o.calls.Read(ctx, number)
	return read, o.failed(o.traits.Op("read", number), err)
}

// Open implements [PullRequests]. An earlier attempt may have opened the pull request, although its answer was lost.
// Then the host refuses to open another one. It is found by its title, body and draft, which equal the proposal's.
func (o operations) Open(ctx context.Context, p PullRequestContent) (*PullRequest, error) {
	p.Body = o.traits.escape(p.Body)
	opened, err := o.calls.Open(ctx, p)
	op := fmt.Sprintf("open a %s from %s to %s in %s", o.traits.Noun, p.Branch, p.Target, o.traits.Repository)
	err = o.failed(op, err)
	if opened != nil || !errors.Is(err, ErrExists) {
		return o.withMetadata(ctx, opened, p, err)
	}
	found, failed := o.Find(ctx, Query{Branch: p.Branch, Target: p.Target, Open: true})
	if failed != nil || found == nil || found.Title != p.Title || found.Body != p.Body || found.Draft != p.Draft {
		return nil, err
	}
	return o.Edit(ctx, *found, p)
}

// Edit implements [PullRequests].
func (o operations) Edit(ctx context.Context, now PullRequest, p PullRequestContent) (*PullRequest, error) {
	p.Body = o.traits.escape(p.Body)
	edited, err := &now, error(nil)
	if o.metadata == nil || now.Title != p.Title || now.Body != p.Body || now.Draft != p.Draft {
		edited, err = o.calls.Edit(ctx, now, p)
		err = o.failed(o.traits.Op("edit", now.Number), err)
	}
	return o.withMetadata(ctx, edited, p, err)
}

// MissingReviewers implements [PullRequests].
func (o operations) MissingReviewers(ctx context.Context, now PullRequest, reviewers []string) ([]string, error) {
	missing := sets.WithoutFold(reviewers, now.Reviewers)
	if len(missing) == 0 {
		return nil, nil
	}
	missing, err := o.calls.MissingReviewers(ctx, now, missing)
	return missing, o.failed(o.traits.Op("read the reviewers of", now.Number), err)
}

// Close implements [PullRequests].
func (o operations) Close(ctx context.Context, number int) (*PullRequest, error) {
	closed, err := o.calls.Close(ctx, number)
	return closed, o.failed(o.traits.Op("close", number), err)
}

// MergeWhenReady implements [PullRequests].
func (o operations) MergeWhenReady(ctx context.Context, now PullRequest, method MergeMethod) (*PullRequest, error) {
	op := "enable auto-merge of"
	switch {
	case now.AutoMerge == method && (method == "" || !o.traits.ForgetsAutoMerge):
		return &now, nil
	case method == "":
		op = "disable auto-merge of"
	}
	merging, err := o.calls.MergeWhenReady(ctx, now, method)
	return merging, About(FieldAutoMerge, o.failed(o.traits.Op(op, now.Number), err))
}

// withMetadata sets the labels and reviewers of an open pull request to match a proposal, unless Open or Edit of the
// host did. After an error, of an earlier step too, it continues with the rest.
func (o operations) withMetadata(
	ctx context.Context, pr *PullRequest, p PullRequestContent, failed error,
) (*PullRequest, error) {
	if o.metadata == nil || pr == nil || pr.State != Open {
		return pr, failed
	}
	now, errs := *pr, []error{failed}
	without := sets.WithoutFold
	if o.traits.ExactLabels {
		without = sets.Without
	}
	try := func(field Field, what string, err error) (done bool) {
		errs = append(errs, About(field, o.failed(o.traits.Op(what, now.Number), err)))
		return err == nil
	}
	add := without(p.Labels, now.Labels)
	if len(add) > 0 && try(FieldLabels, "label", o.metadata.AddLabels(ctx, now.Number, add)) {
		now.Labels = slices.Concat(now.Labels, add)
	}
	for _, label := range without(p.RemoveLabels, without(p.RemoveLabels, now.Labels)) {
		if try(FieldLabels, "remove label "+label+" from", o.metadata.RemoveLabel(ctx, now.Number, label)) {
			now.Labels = without(now.Labels, []string{label})
		}
	}
	if ask := sets.WithoutFold(p.Reviewers, now.Reviewers); len(ask) > 0 {
		err := o.traits.CheckSupport(Settings{Reviewers: ask})
		if err == nil {
			ask, err = o.metadata.RequestReviews(ctx, now, ask)
			now.Reviewers = slices.Concat(now.Reviewers, ask)
		}
		try(FieldReviewers, "request reviews of", err)
	}
	return &now, errors.Join(errs...)
}
