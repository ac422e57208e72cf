package host

import (
	"errors"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// readers bounds the number of concurrent requests.
const readers = 8

// Latest contains the latest status of each context of one commit.
type Latest struct {
	Statuses []Status
	Unread   string    // why statuses cannot be read; "": all are read
	SeenAt   time.Time // of the answer, by the host's clock
	Err      error     // [ErrCommitNotFound]: the repo lacks the commit, which has no statuses
}

// ReadLatest reads the latest statuses of many commits from a host that needs a request for each commit. It sends a few
// requests at once. viewer is the login that the credential belongs to, and seen the host's time when it reported the
// login.
func ReadLatest(commits []string, viewer string, seen time.Time, read func(commit string) Latest) (*Statuses, error) {
	all := &Statuses{ByCommit: map[string][]Status{}, Unread: map[string]string{}, Viewer: viewer, SeenAt: seen}
	answers := make([]Latest, len(commits))
	parallel.Limited(len(commits), readers, func(i int) { answers[i] = read(commits[i]) })
	for i, answer := range answers {
		if answer.Err != nil && !errors.Is(answer.Err, ErrCommitNotFound) {
			return nil, answer.Err
		}
		if answer.SeenAt.After(all.SeenAt) {
			all.SeenAt = answer.SeenAt
		}
		if len(answer.Statuses) > 0 {
			all.ByCommit[commits[i]] = answer.Statuses
		}
		if answer.Unread != "" {
			all.Unread[commits[i]] = answer.Unread
		}
	}
	return all, nil
}
