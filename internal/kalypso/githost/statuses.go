package githost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// StatusRequests are the [CommitStatuses] of a repo by the requests of its host. The requests may return any errors.
type StatusRequests struct {
	Traits Traits
	// Set sets a status, as [CommitStatuses] does.
	Set func(ctx context.Context, commit string, status Status) (Status, error)
	// List returns all statuses of a commit, or at least the latest of each context. If the latter are many, those with
	// the given names are enough. The error [ErrCommitNotFound] means that the commit has no statuses.
	List func(ctx context.Context, commit string, names []string, all bool) (StatusList, error)
	// Latest reads the statuses of many commits, as [CommitStatuses] does. If it is nil, List is called for each commit,
	// Login returns the login that the credential belongs to, and SeenAt the time of the last answer by the host's clock.
	Latest func(ctx context.Context, commits, names []string) (*Statuses, error)
	Login  func(ctx context.Context) (string, error)
	SeenAt func() time.Time
	// Failed converts an error of a request to an error about an operation.
	Failed func(op string, err error) error
}

// StatusList contains statuses of one commit, newest first.
type StatusList struct {
	Statuses []Status
	Unread   string // why there are statuses that were not read; "": all are read
}

// op returns the name of an operation on a status, for errors.
func (r StatusRequests) op(what, name, commit string) string {
	return what + " status " + name + " of commit " + commit + " in " + r.Traits.Repository
}

// SetStatus implements [CommitStatuses].
func (r StatusRequests) SetStatus(ctx context.Context, commit string, s Status) (Status, error) {
	set, err := r.Set(ctx, commit, s)
	return set, r.Failed(r.op("set", s.Context, commit), err)
}

// Status implements [CommitStatuses].
func (r StatusRequests) Status(ctx context.Context, commit, name string) (*Status, error) {
	list, err := r.List(ctx, commit, []string{name}, false)
	for _, s := range list.Statuses {
		if strings.EqualFold(s.Context, name) {
			return &s, nil
		}
	}
	return nil, r.Failed(r.op("read", name, commit), err)
}

// StatusHistory implements [CommitStatuses].
func (r StatusRequests) StatusHistory(ctx context.Context, commit string) (all []Status, more bool, err error) {
	list, err := r.List(ctx, commit, nil, true)
	err = r.Failed("read the statuses of commit "+commit+" in "+r.Traits.Repository, err)
	return list.Statuses, list.Unread != "", err
}

// LatestStatuses implements [CommitStatuses].
func (r StatusRequests) LatestStatuses(ctx context.Context, commits, names []string) (all *Statuses, err error) {
	if r.Latest != nil {
		all, err = r.Latest(ctx, commits, names)
	} else {
		all, err = r.listEach(ctx, commits, names)
	}
	return all, r.Failed(fmt.Sprintf("read the statuses of %d commits in %s", len(commits), r.Traits.Repository), err)
}

// readers bounds the number of concurrent requests.
const readers = 8

// listEach lists the statuses of each commit, of a few at once. If a list is not complete, its commit is unread if the
// list lacks one of the names.
func (r StatusRequests) listEach(ctx context.Context, commits, names []string) (*Statuses, error) {
	login, err := r.Login(ctx)
	if err != nil {
		return nil, err
	}
	all := &Statuses{ByCommit: map[string][]Status{}, Unread: map[string]string{}, Viewer: login}
	lists, errs := make([]StatusList, len(commits)), make([]error, len(commits))
	parallel.Limited(len(commits), readers, func(i int) {
		lists[i], errs[i] = r.List(ctx, commits[i], names, false)
	})
	all.SeenAt = r.SeenAt()
	for i, commit := range commits {
		if errs[i] != nil && !errors.Is(errs[i], ErrCommitNotFound) {
			return nil, errs[i]
		}
		found := map[string]bool{}
		for _, s := range lists[i].Statuses {
			if name := strings.ToLower(s.Context); !found[name] {
				found[name] = true
				all.ByCommit[commit] = append(all.ByCommit[commit], s)
			}
		}
		lacks := func(name string) bool { return !found[strings.ToLower(name)] }
		if lists[i].Unread != "" && slices.ContainsFunc(names, lacks) {
			all.Unread[commit] = lists[i].Unread
		}
	}
	return all, nil
}
