// Package host defines what the provider needs from a Git host beyond Git: pull requests, commit statuses and issues. A
// package that implements [Host] adds a host; no other code knows which host it uses.
package host

import (
	"context"
	"time"
)

// Host is a service that hosts repos.
type Host interface {
	// Name returns the host's name for people, such as "GitHub".
	Name() string
	// Block returns the name of the provider's block that configures the host, such as "github".
	Block() string
	// Repo returns the repo of a Git URL, in any of its forms. It contacts no server. If the URL is on another host, the
	// error is [ErrOtherHost].
	Repo(url string) (Repo, error)
}

// Repo is one repo on a host: its traits, its pull requests, the statuses of its commits, and its issues. A method with
// a context respects its deadline, and retries temporary failures until then. Errors are of type *[Error].
type Repo struct {
	Traits
	PullRequests
	CommitStatuses
	// Issues are nil if the provider does not use those of the host.
	Issues Issues
	// GitCredential returns the credential for Git over HTTPS, from the credential of the API: user name and password,
	// or a bearer token, or three empty strings. It is valid for some minutes; call it again for the next use.
	GitCredential func(ctx context.Context) (username, password, bearer string, err error)
}

// PullRequests are the pull requests of a repo.
type PullRequests interface {
	// Find returns the pull request of a rendering: the open one, or the newest closed or merged one, or nil. The number
	// of requests does not depend on the number of pull requests.
	Find(ctx context.Context, query Query) (*PullRequest, error)
	// Read returns a pull request by number.
	Read(ctx context.Context, number int) (*PullRequest, error)
	// Open opens a pull request. The error is [ErrExists] if the branches already have an open one, and
	// [ErrNothingToMerge] if the host refuses it because the branch has no commit that the target lacks. Most hosts open
	// it. If the pull request was opened but its labels or reviewers could not be set, Open returns both the pull request
	// and the error; Edit sets them.
	Open(ctx context.Context, proposal PullRequestContent) (*PullRequest, error)
	// Edit changes an open pull request, as last read, to match a proposal. It makes requests only for differences, and
	// keeps labels and reviewers that the proposal does not list. It does not change the branches.
	Edit(ctx context.Context, now PullRequest, proposal PullRequestContent) (*PullRequest, error)
	// Unasked returns the reviewers who have neither reviewed an open pull request, as last read, nor been requested.
	// Some hosts drop reviewers from the list once they have reviewed, and Edit would request them again.
	Unasked(ctx context.Context, now PullRequest, reviewers []string) ([]string, error)
	// Close closes a pull request without merging it. It does nothing if the pull request is closed.
	Close(ctx context.Context, number int) (*PullRequest, error)
	// MergeWhenReady lets the host merge an open pull request, as last read, once its checks have passed, or at once if
	// no check is required. The method "" disables this.
	MergeWhenReady(ctx context.Context, now PullRequest, method MergeMethod) (*PullRequest, error)
}

// CommitStatuses are the statuses of a repo's commits.
type CommitStatuses interface {
	// SetStatus sets the status of a commit in a context, and returns it as the host stored it.
	SetStatus(ctx context.Context, commit string, status Status) (Status, error)
	// Status returns the latest status of a commit in a context, or nil.
	Status(ctx context.Context, commit, name string) (*Status, error)
	// LatestStatuses returns the latest status of each context and the check runs of many commits, by commit, with the
	// host's time. The number of requests does not depend on the number of commits if the host allows that. A commit
	// that the repo lacks has no statuses. If a commit has many, only those with the given names are read.
	LatestStatuses(ctx context.Context, commits, names []string) (*Statuses, error)
	// StatusHistory returns all statuses of a commit, newest first, and whether the host has more than the method reads.
	// It returns no check runs.
	StatusHistory(ctx context.Context, commit string) (statuses []Status, more bool, err error)
}

// SettingsChecker are [PullRequests] whose host may refuse settings for reasons that only the host knows.
type SettingsChecker interface {
	// CheckSettings returns errors for a merge method that the settings of the target branch forbid, and for reviewers
	// that the host does not know, as far as the credential may read that.
	CheckSettings(ctx context.Context, target string, method MergeMethod, reviewers []string) []error
}

// MergeQueues are [PullRequests] of a host with merge queues. A branch may have one: the host merges the pull requests
// in it one after another, each once its checks have passed together with those before it. MergeWhenReady puts a pull
// request into the queue of its target.
type MergeQueues interface {
	// ReadQueue returns the place of an open pull request in the merge queue; nil: it is in none.
	ReadQueue(ctx context.Context, now PullRequest) (*QueuePlace, error)
	// Dequeue takes a pull request out of the merge queue.
	Dequeue(ctx context.Context, now PullRequest) error
}

// QueuePlace is the place of a pull request in a merge queue.
type QueuePlace struct {
	Ours bool // the credential's user or app put it in
}

// PullRequestState is the state of a pull request.
type PullRequestState string

// The states of a pull request. A merged one is not Closed.
const (
	Open   PullRequestState = "open"
	Closed PullRequestState = "closed"
	Merged PullRequestState = "merged"
)

// MergeMethod is the way in which a pull request is merged.
type MergeMethod string

// The merge methods.
const (
	Merge  MergeMethod = "merge"
	Squash MergeMethod = "squash"
	Rebase MergeMethod = "rebase"
)

// UnknownMethod is the merge method of a [PullRequest] with auto-merge, if the host does not show which one it is.
const UnknownMethod MergeMethod = "unknown"

// MergeMethods are all merge methods.
var MergeMethods = []MergeMethod{Merge, Squash, Rebase}

// PullRequest is a pull request as read from the host.
type PullRequest struct {
	Number     int
	ID         string // the host's internal ID
	URL        string // web page
	State      PullRequestState
	Title      string
	Body       string
	Branch     string // branch to be merged
	Target     string // branch to merge into
	HeadCommit string // head of Branch; if closed or merged, the last one
	// MergeCommit is the resulting commit on the target branch; "" before the merge.
	MergeCommit string
	Draft       bool
	// Merging says that the host is merging an open one, so that it can't be changed. Not all hosts show that.
	Merging   bool
	AutoMerge MergeMethod // "": auto-merge is off; it may be [UnknownMethod]
	// Queue is the place of an open one in a merge queue; nil: it is in none, or that was not read.
	Queue  *QueuePlace
	Labels []string
	// Reviewers are the requested reviewers: "user", "organisation/team". Some hosts drop those who have reviewed.
	Reviewers []string
}

// Query identifies the pull request of a rendering.
type Query struct {
	Branch string // the rendering's own branch; "": any, and Marker identifies the pull request
	Target string // pull requests to other branches are not ours
	Marker string // see [Marker]; "": any description
	Open   bool   // ignore pull requests that are merged or closed
}

// PullRequestContent is the desired content of a pull request.
type PullRequestContent struct {
	Branch       string
	Target       string
	Title        string
	Body         string
	Labels       []string // labels to add
	RemoveLabels []string // labels to remove
	Reviewers    []string // "user", "organisation/team"
	Draft        bool
}

// Status is the status of a commit in a context.
type Status struct {
	Context     string // case-insensitive
	State       StatusState
	Description string
	TargetURL   string // "": none
	// Creator is the login of the user or app that set the status, such as "octocat" or "acme-ci[bot]". For a check run
	// it is the app. It is empty in a status to set, and if the host does not report it.
	Creator string
	// CheckRun says that the host calls it a check run and not a status. Context is then its name, and its conclusion is
	// in Description unless it is a success.
	CheckRun bool

	// SetAt is the time at which the status was set, and SeenAt the time of the answer, both by the host's clock. They
	// are zero in a status to set, and if the host does not report them.
	SetAt, SeenAt time.Time
}

// EqualStatus reports whether two statuses of the same commit and context have the same state and texts.
func EqualStatus(want, have Status) bool {
	return want.State == have.State && want.Description == have.Description && want.TargetURL == have.TargetURL
}

// Statuses are the latest statuses of commits.
type Statuses struct {
	ByCommit map[string][]Status
	// Unread contains the reasons why statuses cannot be read, by commit.
	Unread map[string]string
	// Viewer is the login that the credential belongs to; "": the host does not say.
	Viewer string
	// SeenAt is the time of the answer by the host's clock.
	SeenAt time.Time
}

// StatusState is the state of a status.
type StatusState string

// The states.
const (
	Pending StatusState = "pending"
	Success StatusState = "success"
	Failure StatusState = "failure"
	Errored StatusState = "error"
)

// StatusStates are all states of a status.
var StatusStates = []StatusState{Pending, Success, Failure, Errored}
