package azuredevops

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/git"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/system/parallel"
)

// states are Azure's names of the states. It has more, which are [githost.Errored] or [githost.Pending].
var states = map[githost.StatusState]git.GitStatusState{
	githost.Success: "succeeded", githost.Pending: "pending", githost.Failure: "failed", githost.Errored: "error",
}

func stateOf(state git.GitStatusState) githost.StatusState {
	for ours, theirs := range states {
		if state == theirs {
			return ours
		}
	}
	if state == "notSet" {
		return githost.Pending
	}
	return githost.Errored // notApplicable, partiallySucceeded
}

// contextOf returns Azure's context: the last slash divides genre and name.
func contextOf(context string) *git.GitStatusContext {
	i := strings.LastIndex(context, "/")
	if i < 0 || i == len(context)-1 {
		return &git.GitStatusContext{Name: &context}
	}
	return &git.GitStatusContext{Genre: new(context[:i]), Name: new(context[i+1:])}
}

func convertStatus(s git.GitStatus, seen time.Time) githost.Status {
	name := deref(s.Context)
	c := githost.Status{
		Context: strings.TrimPrefix(deref(name.Genre)+"/"+deref(name.Name), "/"), State: stateOf(deref(s.State)),
		Description: deref(s.Description), TargetURL: deref(s.TargetUrl), SeenAt: seen,
		Creator: deref(deref(s.CreatedBy).UniqueName),
	}
	if s.CreationDate != nil {
		c.SetAt = s.CreationDate.Time
	}
	return c
}

// SetStatus implements [githost.Repo].
func (r *repo) SetStatus(ctx context.Context, commit string, s githost.Status) (githost.Status, error) {
	op := "set status " + s.Context + " of commit " + commit + " in " + r.String()
	state := states[s.State]
	ctx, seen := noting(ctx)
	created, err := r.git.CreateCommitStatus(ctx, git.CreateCommitStatusArgs{
		RepositoryId: &r.name, Project: &r.project, CommitId: &commit, GitCommitStatusToCreate: &git.GitStatus{
			State: &state, Context: contextOf(s.Context), Description: &s.Description, TargetUrl: &s.TargetURL,
		},
	})
	if err != nil {
		return githost.Status{}, r.commitError(op, err)
	}
	return convertStatus(*created, *seen), nil
}

// commitError wraps an error of a request for a commit. Of a repo that is not visible, the message has a code.
func (r *repo) commitError(op string, err error) error {
	err = r.wrapError(op, err)
	var e *githost.Error
	if errors.As(err, &e) && e.Status == http.StatusNotFound && kindOfCode(e.Message) == nil {
		e.Kind = githost.ErrCommitNotFound
	}
	return err
}

// SameStatus implements [githost.Repo].
func (r *repo) SameStatus(want, have githost.Status) bool { return githost.EqualStatus(want, have) }

// The statuses of a commit that are read: pages, and their size.
const (
	statusPages = 5
	pageSize    = 1000
)

// statuses reads the statuses of a commit, newest first: all of them, or the latest of each context.
func (r *repo) statuses(
	ctx context.Context, op, commit string, latest bool,
) (all []githost.Status, more bool, err error) {
	ctx, seen := noting(ctx)
	var read []git.GitStatus
	for page := range statusPages {
		some, err := r.git.GetStatuses(ctx, git.GetStatusesArgs{
			RepositoryId: &r.name, Project: &r.project, CommitId: &commit, LatestOnly: &latest, Top: new(pageSize),
			Skip: new(page * pageSize),
		})
		if err != nil {
			return nil, false, r.commitError(op, err)
		}
		read = append(read, *some...)
		if more = len(*some) == pageSize; !more {
			break
		}
	}
	// Statuses of one moment differ by their numbers, which grow.
	slices.SortStableFunc(read, func(a, b git.GitStatus) int { return deref(b.Id) - deref(a.Id) })
	for _, s := range read {
		all = append(all, convertStatus(s, *seen))
	}
	return all, more, nil
}

// Status implements [githost.Repo].
func (r *repo) Status(ctx context.Context, commit, name string) (*githost.Status, error) {
	op := "read status " + name + " of commit " + commit + " in " + r.String()
	all, _, err := r.statuses(ctx, op, commit, true)
	for _, s := range all {
		if strings.EqualFold(s.Context, name) {
			return &s, nil
		}
	}
	return nil, err
}

// StatusHistory implements [githost.Repo].
func (r *repo) StatusHistory(ctx context.Context, commit string) (all []githost.Status, more bool, err error) {
	return r.statuses(ctx, "read the statuses of commit "+commit+" in "+r.String(), commit, false)
}

// readers bounds the requests at the same time.
const readers = 8

// LatestStatuses implements [githost.Repo] with one request for each commit.
func (r *repo) LatestStatuses(ctx context.Context, commits, names []string) (*githost.Statuses, error) {
	op := fmt.Sprintf("read the statuses of %d commits in %s", len(commits), r)
	me, err := r.myself(ctx, op)
	if err != nil {
		return nil, err
	}
	got := &githost.Statuses{ByCommit: map[string][]githost.Status{}, Unread: map[string]string{}, Viewer: me.name}
	var mu sync.Mutex
	errs := make([]error, len(commits))
	parallel.Limited(len(commits), readers, func(i int) {
		own, seen := noting(ctx)
		latest, more, err := r.latest(own, op, commits[i], names)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case errors.Is(err, githost.ErrCommitNotFound):
		case err != nil:
			errs[i] = err
		default:
			got.ByCommit[commits[i]] = latest
		}
		if more {
			got.Unread[commits[i]] = fmt.Sprintf("it has more than %d statuses, and others are not read", statusPages*pageSize)
		}
		if seen.After(got.SeenAt) {
			got.SeenAt = *seen
		}
	})
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, errs[i]
	}
	return got, nil
}

// latest reads the latest status of each context of a commit. more says that a given name may be among the statuses
// that are not read.
func (r *repo) latest(
	ctx context.Context, op, commit string, names []string,
) (latest []githost.Status, more bool, err error) {
	all, more, err := r.statuses(ctx, op, commit, true)
	var found []string
	for _, s := range all {
		if len(withoutFold([]string{s.Context}, found)) > 0 {
			found, latest = append(found, s.Context), append(latest, s)
		}
	}
	return latest, more && len(withoutFold(names, found)) > 0, err
}
