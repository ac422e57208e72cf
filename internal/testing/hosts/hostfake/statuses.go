package hostfake

import (
	"slices"
	"strings"
	"time"
)

// Status is a status of a commit, as its host keeps it.
type Status struct {
	ID                            int
	Commit, Context, State        string
	Description, TargetURL, Login string
	Created, Finished             time.Time
}

// Statuses are the statuses of the commits of a repo.
type Statuses struct {
	server     *Server
	exactCase  bool // contexts that differ only in case are not the same
	byCommit   map[string][]*Status
	identities int
}

// NewStatuses returns the statuses of a repo without any. Only on some hosts, the case of contexts matters.
func NewStatuses(server *Server, exactCase bool) *Statuses {
	return &Statuses{server: server, exactCase: exactCase, byCommit: map[string][]*Status{}}
}

// AddStatus adds a status with the current time; see [Server.Locked].
func (ss *Statuses) AddStatus(s Status) *Status {
	ss.identities++
	s.ID, s.Created = ss.identities, ss.server.Now()
	ss.byCommit[s.Commit] = append(ss.byCommit[s.Commit], &s)
	return &s
}

// StatusesOf returns the statuses of a commit, oldest first.
func (ss *Statuses) StatusesOf(commit string) []*Status { return slices.Clone(ss.byCommit[commit]) }

// LatestOf returns the latest status of each context of a commit, oldest first.
func (ss *Statuses) LatestOf(commit string) (latest []*Status) {
	all := ss.byCommit[commit]
	for i, s := range all {
		if !slices.ContainsFunc(all[i+1:], func(later *Status) bool { return ss.same(s.Context, later.Context) }) {
			latest = append(latest, s)
		}
	}
	return latest
}

func (ss *Statuses) same(a, b string) bool { return a == b || !ss.exactCase && strings.EqualFold(a, b) }

// Status returns the last status of a commit in a context, with the state as the host calls it, and their number.
func (ss *Statuses) Status(commit, context string) (last Status, posted int) {
	ss.server.Locked(func() {
		for _, s := range ss.byCommit[commit] {
			if s.Context == context {
				last, posted = *s, posted+1
			}
		}
	})
	return last, posted
}

// AgeStatuses makes all statuses of a commit older.
func (ss *Statuses) AgeStatuses(commit string, by time.Duration) {
	ss.server.Locked(func() {
		for _, s := range ss.byCommit[commit] {
			s.Created = s.Created.Add(-by)
		}
	})
}
