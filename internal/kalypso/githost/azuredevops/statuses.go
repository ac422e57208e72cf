package azuredevops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/microsoft/azure-devops-go-api/azuredevops/v7/git"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// states are Azure's names of the states. Azure has more states, which become [githost.Errored] or [githost.Pending].
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

// contextOf returns Azure's context. It divides the text at the last slash into genre and name.
func contextOf(context string) *git.GitStatusContext {
	i := strings.LastIndex(context, "/")
	if i < 0 || i == len(context)-1 {
		return &git.GitStatusContext{Name: &context}
	}
	return &git.GitStatusContext{Genre: new(context[:i]), Name: new(context[i+1:])}
}

func (r *statuses) convert(s git.GitStatus) githost.Status {
	name := deref(s.Context)
	c := githost.Status{
		Context: strings.TrimPrefix(deref(name.Genre)+"/"+deref(name.Name), "/"), State: stateOf(deref(s.State)),
		Description: deref(s.Description), TargetURL: deref(s.TargetUrl), SeenAt: r.server.SeenAt(),
		Creator: deref(deref(s.CreatedBy).UniqueName),
	}
	if s.CreationDate != nil {
		c.SetAt = s.CreationDate.Time
	}
	return c
}

func (r *statuses) set(ctx context.Context, commit string, s githost.Status) (githost.Status, error) {
	state := states[s.State]
	created, err := r.git.CreateCommitStatus(ctx, git.CreateCommitStatusArgs{
		RepositoryId: &r.name, Project: &r.project, CommitId: &commit, GitCommitStatusToCreate: &git.GitStatus{
			State: &state, Context: contextOf(s.Context), Description: &s.Description, TargetUrl: &s.TargetURL,
		},
	})
	if err != nil {
		return githost.Status{}, commitError(err)
	}
	return r.convert(*created), nil
}

// commitError refines an error of a request for a commit. If the repo is not visible, the message contains a code.
func commitError(err error) error {
	e, ok := errors.AsType[*githost.Error](err)
	if ok && errors.Is(e.Kind, githost.ErrNotVisible) && !githost.Says(err, saysNoRepo) {
		e.Kind = githost.ErrCommitNotFound
	}
	return err
}

// The statuses of a commit that are read: pages, and their size.
const (
	statusPages = 5
	pageSize    = 1000
)

func (r *statuses) list(
	ctx context.Context, commit string, _ []string, all bool,
) (l githost.StatusList, err error) {
	var read []git.GitStatus
	more, err := httpapi.EachPage(pageSize, statusPages*pageSize, func(p httpapi.Page) (int, bool, error) {
		some, err := r.git.GetStatuses(ctx, git.GetStatusesArgs{
			RepositoryId: &r.name, Project: &r.project, CommitId: &commit, LatestOnly: new(!all), Top: new(p.Size),
			Skip: new(p.Start),
		})
		if err != nil {
			return 0, false, commitError(err)
		}
		read = append(read, *some...)
		return len(*some), len(*some) == p.Size, nil
	})
	if err != nil {
		return l, err
	}
	// Statuses with the same time are sorted by their numbers, which grow.
	slices.SortStableFunc(read, func(a, b git.GitStatus) int { return deref(b.Id) - deref(a.Id) })
	l.Statuses = lists.Map(read, r.convert)
	if more {
		l.Unread = fmt.Sprintf("it has more than %d statuses, and the others are not read", statusPages*pageSize)
	}
	return l, nil
}

// login returns the name of the user that the credential belongs to.
func (r *statuses) login(ctx context.Context) (string, error) {
	me, err := r.myself(ctx)
	return me.name, err
}
