package hostingtest

import (
	"testing"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
)

// BusyRepo is a [Repo] in which people act at given moments, and whose host can fail, for tests of packages above
// hosting.
type BusyRepo interface {
	Repo
	// PullRequests returns all pull requests as people see them, oldest first. Reviewers are all who were requested,
	// twice if they were requested twice. A draft's title has no prefix.
	PullRequests(t testing.TB) []githost.PullRequest
	// Retarget changes the target branch.
	Retarget(t testing.TB, number int, target string)
	// AutoMerge enables auto-merge as Ann does.
	AutoMerge(t testing.TB, number int, method githost.MergeMethod)
	// Protect makes the host refuse pushes of [Writer] to branches. Merges still work.
	Protect(t testing.TB, branches ...string)
	// DeleteBranch deletes a branch, which may be the default one.
	DeleteBranch(t testing.TB, branch string)
	// KeepOpen makes pull requests stay open for some time after their branch was deleted, if the host allows that.
	KeepOpen()
	// Revoke revokes the token of [Writer].
	Revoke(t testing.TB)
	// Before runs f once, before the next request for an operation.
	Before(op Operation, f func())
	// Fail makes the next requests for an operation fail; -1: all. It does nothing if the host has no such request.
	Fail(t testing.TB, op Operation, times int, how Fault)
}

// Operation is an operation of the provider on a host.
type Operation string

// The operations.
const (
	Open      Operation = "open"
	Edit      Operation = "edit"
	Read      Operation = "read"
	Close     Operation = "close"
	AutoMerge Operation = "auto-merge"
	Label     Operation = "label"
	Push      Operation = "push"
	Statuses  Operation = "statuses" // to read those of many commits
)

// Fault is how a request fails.
type Fault string

// The faults.
const (
	Dropped    Fault = "dropped"     // the request is lost
	AnswerLost Fault = "answer lost" // the request takes effect
	Forbidden  Fault = "forbidden"
	NotSeen    Fault = "not seen"  // the host has not seen a push to the head branch yet
	NotReady   Fault = "not ready" // the host has not checked yet whether the branch can be merged
	Refused    Fault = "refused"   // by the repo's settings
	Down       Fault = "down"      // the server answers, but is not available
)
