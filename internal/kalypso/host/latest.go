package host

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// StatusLists are the requests of a host that lists the statuses of one commit.
type StatusLists interface {
	// SetStatus is the method of [CommitStatuses].
	SetStatus(ctx context.Context, commit string, status Status) (Status, error)
	// ListStatuses returns all statuses of a commit, or at least the latest of each context. If the latter are many, those
	// with the given names are enough. The error [ErrCommitNotFound] means that the commit has no statuses.
	ListStatuses(ctx context.Context, op, commit string, names []string, all bool) (StatusList, error)
	// Login returns the login that the credential belongs to.
	Login(ctx context.Context, op string) (string, error)
}

// StatusList contains statuses of one commit, newest first.
type StatusList struct {
	Statuses []Status
	Unread   string // why there are statuses that were not read; "": all are read
}

// listedStatuses are the [CommitStatuses] of [StatusLists].
type listedStatuses struct {
	StatusLists
	traits Traits
	seenAt func() time.Time
}

// ListedStatuses returns the [CommitStatuses] of a host that lists the statuses of one commit. seenAt returns the time
// of the last answer by the host's clock.
func (t Traits) ListedStatuses(lists StatusLists, seenAt func() time.Time) CommitStatuses {
	return listedStatuses{lists, t, seenAt}
}

// Status implements [CommitStatuses].
func (l listedStatuses) Status(ctx context.Context, commit, name string) (*Status, error) {
	list, err := l.ListStatuses(ctx, l.traits.StatusOp("read", name, commit), commit, []string{name}, false)
	for _, s := range list.Statuses {
		if strings.EqualFold(s.Context, name) {
			return &s, nil
		}
	}
	return nil, err
}

// StatusHistory implements [CommitStatuses].
func (l listedStatuses) StatusHistory(ctx context.Context, commit string) (all []Status, more bool, err error) {
	list, err := l.ListStatuses(ctx, l.traits.HistoryOp(commit), commit, nil, true)
	return list.Statuses, list.Unread != "", err
}

// readers bounds the number of concurrent requests.
const readers = 8

// LatestStatuses makes a request for each commit, a few at once. If a list is not complete, its commit is unread if the
// list lacks one of the names.
func (l listedStatuses) LatestStatuses(ctx context.Context, commits, names []string) (*Statuses, error) {
	op := l.traits.LatestOp(len(commits))
	login, err := l.Login(ctx, op)
	if err != nil {
		return nil, err
	}
	all := &Statuses{ByCommit: map[string][]Status{}, Unread: map[string]string{}, Viewer: login}
	lists, errs := make([]StatusList, len(commits)), make([]error, len(commits))
	parallel.Limited(len(commits), readers, func(i int) {
		lists[i], errs[i] = l.ListStatuses(ctx, op, commits[i], names, false)
	})
	all.SeenAt = l.seenAt()
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
