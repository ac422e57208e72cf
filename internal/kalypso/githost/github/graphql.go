package github

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-github/v53/github"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

func (r *pullRequests) MergeWhenReady(ctx context.Context, now githost.PullRequest,
	method githost.MergeMethod) (*githost.PullRequest, error) {
	ctx = r.pulls(ctx)
	if now.AutoMerge != "" {
		op := r.traits.Op("disable auto-merge of", now.Number)
		if err := r.mutate(ctx, op, "DisablePullRequestAutoMerge", variables{"pullRequestId": now.ID}); err != nil {
			return nil, err
		}
		now.AutoMerge = ""
	}
	if method == "" {
		return &now, nil
	}
	op := r.traits.Op("enable auto-merge of", now.Number)
	err := r.mutate(ctx, op, "EnablePullRequestAutoMerge",
		variables{"pullRequestId": now.ID, "mergeMethod": strings.ToUpper(string(method))})
	if err != nil {
		return r.mergeNow(ctx, now, method, err)
	}
	now.AutoMerge = method
	return &now, nil
}

// merge merges the pull request at the commit that was read, and tries again if GitHub has not processed the last push
// yet. GitHub then says that the head is unknown or that the base was moved.
func (r *pullRequests) merge(ctx context.Context, now githost.PullRequest, method githost.MergeMethod) error {
	for attempt := 1; ; attempt++ {
		_, _, err := r.client.api.PullRequests.Merge(ctx, r.owner, r.name, now.Number, "", &github.PullRequestOptions{
			MergeMethod: string(method), SHA: now.HeadCommit,
		})
		err = r.server.Error(r.traits.Op("merge", now.Number), err)
		if !githost.Says(err, saysMoved) || !r.server.NextAttempt(ctx, attempt) {
			return err
		}
	}
}

func (r *pullRequests) setDraft(ctx context.Context, now githost.PullRequest, draft bool) error {
	op, mutation := r.traits.Op("mark as ready", now.Number), "MarkPullRequestReadyForReview"
	if draft {
		op, mutation = r.traits.Op("make a draft of", now.Number), "ConvertPullRequestToDraft"
	}
	return githost.About(githost.FieldDraft, r.mutate(ctx, op, mutation, variables{"pullRequestId": now.ID}))
}

// variables are the variables of a query, or the fields of one.
type variables map[string]any

// mutate runs a mutation, which the REST API does not offer. The name is that of its types, and begins with a capital.
func (r *pullRequests) mutate(ctx context.Context, op, name string, input variables) error {
	query := fmt.Sprintf("mutation($input: %sInput!) {\n  %s(input: $input) { clientMutationId }\n}", name,
		strings.ToLower(name[:1])+name[1:])
	return r.server.Error(op, r.query(ctx, query, variables{"input": input}, nil))
}

// query runs a query and decodes its data, unless into is nil. GraphQL returns errors with status 200. If there is an
// error, the data is incomplete and is ignored.
func (r *repo) query(ctx context.Context, query string, given variables, into any) error {
	var data bytes.Buffer
	_, err := r.call(ctx, http.MethodPost, r.client.graph, map[string]any{"query": query, "variables": given}, &data)
	if err != nil {
		return err
	}
	var a errorAnswer
	if err := json.Unmarshal(data.Bytes(), &a); err != nil {
		return err
	}
	if len(a.Errors) > 0 {
		e := r.server.Rejected("", "", nil)
		e.Message = r.server.Secrets.Redact(a.text())
		switch {
		case a.of("NOT_FOUND"):
			e.Kind = githost.ErrNotVisible
		case a.of("FORBIDDEN"), a.of("INSUFFICIENT_SCOPES"):
			e.Kind, e.Grant = githost.ErrForbidden, grant("")
		}
		return e
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(data.Bytes(), &struct{ Data any }{into})
}
