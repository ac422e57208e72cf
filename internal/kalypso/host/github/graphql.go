package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/go-github/v53/github"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host/httpapi"
)

// Mutations that the REST API does not offer.
const (
	mutationAutoMerge = `mutation($id: ID!, $method: PullRequestMergeMethod!) {
  enablePullRequestAutoMerge(input: {pullRequestId: $id, mergeMethod: $method}) { pullRequest { id } }
}`
	mutationNoAutoMerge = `mutation($id: ID!) {
  disablePullRequestAutoMerge(input: {pullRequestId: $id}) { pullRequest { id } }
}`
	mutationDraft = `mutation($id: ID!) {
  convertPullRequestToDraft(input: {pullRequestId: $id}) { pullRequest { id } }
}`
	mutationReady = `mutation($id: ID!) {
  markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { id } }
}`
)

// CheckAutoMerge implements [githost.Repo].
func (r *repo) CheckAutoMerge(method githost.MergeMethod) error {
	if method == "" || slices.Contains(githost.MergeMethods, method) {
		return nil
	}
	return &githost.Error{
		Op: "enable auto-merge in " + r.String(), Kind: githost.ErrRejected, Field: githost.FieldAutoMerge,
		Cause: fmt.Errorf("%s can't merge by %q", hostName, method), Host: hostName, Block: hostBlock,
	}
}

func (r *repo) MergeWhenReady(ctx context.Context, now githost.PullRequest,
	method githost.MergeMethod) (*githost.PullRequest, error) {
	if now.AutoMerge == method {
		return &now, nil
	}
	ctx = r.pulls(ctx)
	if now.AutoMerge != "" {
		err := r.mutate(ctx, r.op("disable auto-merge of", now.Number), mutationNoAutoMerge, map[string]string{"id": now.ID})
		if err != nil {
			return nil, about(githost.FieldAutoMerge, err)
		}
		now.AutoMerge = ""
	}
	if method == "" {
		return &now, nil
	}
	op := r.op("enable auto-merge of", now.Number)
	err := r.mutate(ctx, op, mutationAutoMerge, map[string]string{"id": now.ID, "method": strings.ToUpper(string(method))})
	var e *githost.Error
	switch {
	case err == nil:
		now.AutoMerge = method
		return &now, nil
	case !errors.As(err, &e) || !saysMergeable.MatchString(e.Message):
	default: // no required check is pending, so GitHub does not enable auto-merge
		err = r.merge(ctx, now, method)
	}
	if err != nil {
		return nil, about(githost.FieldAutoMerge, err)
	}
	return r.Read(ctx, now.Number)
}

// maxMergeAttempts bounds the attempts to merge. GitHub may not have processed a push yet, and then rejects the head
// as unknown or the base as moved.
const maxMergeAttempts = 5

// merge merges the pull request at the commit that was read.
func (r *repo) merge(ctx context.Context, now githost.PullRequest, method githost.MergeMethod) error {
	for attempt := 1; ; attempt++ {
		_, _, err := r.client.api.PullRequests.Merge(ctx, r.owner, r.name, now.Number, "", &github.PullRequestOptions{
			MergeMethod: string(method), SHA: now.HeadCommit,
		})
		err = r.wrapError(r.op("merge", now.Number), err)
		var e *githost.Error
		if !errors.As(err, &e) || !saysMoved.MatchString(e.Message) || attempt == maxMergeAttempts ||
			r.client.clock.Sleep(ctx, httpapi.Backoff(attempt)) != nil {
			return err
		}
	}
}

func (r *repo) setDraft(ctx context.Context, now githost.PullRequest, draft bool) error {
	op, mutation := r.op("mark as ready", now.Number), mutationReady
	if draft {
		op, mutation = r.op("make a draft of", now.Number), mutationDraft
	}
	return about(githost.FieldDraft, r.mutate(ctx, op, mutation, map[string]string{"id": now.ID}))
}

// mutate runs a mutation.
func (r *repo) mutate(ctx context.Context, op, query string, variables map[string]string) error {
	_, err := r.query(ctx, op, query, variables, nil)
	return err
}

// query runs a query and decodes its data, unless into is nil. GraphQL returns errors with status 200; with any, the
// data is incomplete, and not used.
func (r *repo) query(
	ctx context.Context, op, query string, variables map[string]string, into any,
) (*github.Response, error) {
	req, err := r.client.api.NewRequest(http.MethodPost, r.client.graph,
		map[string]any{"query": query, "variables": variables})
	if err != nil {
		return nil, r.wrapError(op, err)
	}
	var data bytes.Buffer
	resp, err := r.client.api.Do(ctx, req, &data)
	if err != nil {
		return nil, r.wrapError(op, err)
	}
	var a errorAnswer
	if err := json.Unmarshal(data.Bytes(), &a); err != nil {
		return nil, r.wrapError(op, err)
	}
	if len(a.details()) > 0 {
		e := &githost.Error{
			Op: op, Kind: githost.ErrRejected, Message: a.text(), Credential: r.client.credential, Host: hostName,
			Block: hostBlock,
		}
		switch {
		case a.of("NOT_FOUND"):
			e.Kind = githost.ErrNotVisible
		case a.of("FORBIDDEN"), a.of("INSUFFICIENT_SCOPES"):
			e.Kind, e.Grant = githost.ErrForbidden, grant("")
		}
		return nil, e
	}
	if into == nil {
		return resp, nil
	}
	return resp, r.wrapError(op, json.Unmarshal(data.Bytes(), &struct{ Data any }{into}))
}
