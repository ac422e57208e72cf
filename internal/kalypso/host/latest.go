package host

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// readers bounds the number of concurrent requests.
const readers = 8

// StatusList contains statuses of one commit, newest first.
type StatusList struct {
	Statuses []Status
	Unread   string    // why there are statuses that were not read; "": all are read
	SeenAt   time.Time // of the answer, by the host's clock
}

// ReadLatest reads the latest status of each context of many commits from a host that needs a request for each commit.
// It sends a few requests at once. If a list is not complete, its commit is unread if the list lacks one of the names.
// viewer is the login that the credential belongs to, and seen the host's time when it reported the login. The error
// [ErrCommitNotFound] of read means that the commit has no statuses.
func ReadLatest(
	commits, names []string, viewer string, seen time.Time, read func(commit string) (StatusList, error),
) (*Statuses, error) {
	all := &Statuses{ByCommit: map[string][]Status{}, Unread: map[string]string{}, Viewer: viewer, SeenAt: seen}
	lists, errs := make([]StatusList, len(commits)), make([]error, len(commits))
	parallel.Limited(len(commits), readers, func(i int) { lists[i], errs[i] = read(commits[i]) })
	for i, commit := range commits {
		if errs[i] != nil && !errors.Is(errs[i], ErrCommitNotFound) {
			return nil, errs[i]
		}
		if lists[i].SeenAt.After(all.SeenAt) {
			all.SeenAt = lists[i].SeenAt
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
