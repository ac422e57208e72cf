// Package githost defines what the provider needs from a Git host beyond Git: pull requests, commit statuses and
// issues. A package that implements [Host] adds a host; no other code knows which host it uses.
package githost

import (
	"context"
	"errors"
	"regexp"
	"time"
)

// Host is a service that hosts repos.
type Host interface {
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
	// Issues is nil if the provider does not use the host's issues.
	Issues Issues
	// Queues is nil if the host has no merge queues.
	Queues MergeQueues
	// CheckSettings returns errors for settings that the host refuses for reasons that only the host knows: for a merge
	// method that the settings of the target branch forbid, and for reviewers that the host does not know, as far as the
	// credential may read that. It is nil if no host is asked.
	CheckSettings func(ctx context.Context, target string, method MergeMethod, reviewers []string) []error
	// GitCredential returns the credential for Git over HTTPS, which it derives from the credential of the API: a user
	// name and password, or a bearer token, or three empty strings. The credential is valid for some minutes, so call
	// GitCredential again for each use.
	GitCredential func(ctx context.Context) (username, password, bearer string, err error)
}

// PullRequests are the pull requests of a repo.
type PullRequests interface { //nolint:dupl // the methods of PullRequestCalls promise less
	// Find returns the open pull request of a rendering. If none is open, it returns the newest closed or merged one, or
	// nil. The number of requests does not depend on the number of pull requests.
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
	// MissingReviewers returns the reviewers who have neither been requested for an open pull request, as last read, nor
	// reviewed it. Some hosts drop reviewers from the list once they have reviewed, so that Edit would request them again.
	MissingReviewers(ctx context.Context, now PullRequest, reviewers []string) ([]string, error)
	// Close closes a pull request without merging it. It does nothing if the pull request is closed.
	Close(ctx context.Context, number int) (*PullRequest, error)
	// MergeWhenReady lets the host merge an open pull request, as last read, once its checks have passed, or at once if no
	// check is required. An empty method turns auto-merge off.
	MergeWhenReady(ctx context.Context, now PullRequest, method MergeMethod) (*PullRequest, error)
}

// CommitStatuses are the statuses of a repo's commits.
type CommitStatuses interface {
	// SetStatus sets the status of a commit in a context, and returns it as the host stored it.
	SetStatus(ctx context.Context, commit string, status Status) (Status, error)
	// Status returns the latest status of a commit in a context, or nil.
	Status(ctx context.Context, commit, name string) (*Status, error)
	// LatestStatuses returns the latest status of each context and the check runs of many commits, by commit, with the
	// host's time. If the host allows it, the number of requests does not depend on the number of commits. A commit that
	// the repo lacks has no statuses. If a commit has many statuses, only the statuses with the given names are read.
	LatestStatuses(ctx context.Context, commits, names []string) (*Statuses, error)
	// StatusHistory returns all statuses of a commit, newest first, up to a limit. more reports whether the host has
	// further statuses. It returns no check runs.
	StatusHistory(ctx context.Context, commit string) (statuses []Status, more bool, err error)
}

// MergeQueues are the merge queues of a repo. If a branch has a queue, the host merges its pull requests one after
// another. Each is merged once its checks have passed on top of the pull requests before it. MergeWhenReady puts a pull
// request into the queue of its target.
type MergeQueues interface {
	// ReadQueue returns the place of an open pull request in the merge queue, or nil if it is in no queue.
	ReadQueue(ctx context.Context, now PullRequest) (*QueuePlace, error)
	// Dequeue takes a pull request out of the merge queue.
	Dequeue(ctx context.Context, now PullRequest) error
}

// QueuePlace is the place of a pull request in a merge queue.
type QueuePlace struct {
	OwnEntry bool // the credential's user or app added the pull request
}

// PullRequestState is the state of a pull request.
type PullRequestState string

// The states of a pull request. A merged pull request is Merged, not Closed.
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

// UnknownMethod is the merge method of a [PullRequest] with auto-merge, if the host does not show its method.
const UnknownMethod MergeMethod = "unknown"

// MergeMethods lists all merge methods.
var MergeMethods = []MergeMethod{Merge, Squash, Rebase}

// PullRequest is a pull request as read from the host.
type PullRequest struct {
	Number     int
	ID         string // the internal ID on GitHub, which its GraphQL wants
	URL        string // web page
	State      PullRequestState
	Title      string
	Body       string
	Branch     string // branch to be merged
	Target     string // branch to merge into
	HeadCommit string // head of Branch; once closed or merged, the last head
	// MergeCommit is the resulting commit on the target branch. It is empty before the merge.
	MergeCommit string
	Draft       bool
	// Merging says that the host is merging the open pull request right now, so it can't be changed. Not all hosts show
	// this.
	Merging   bool
	AutoMerge MergeMethod // "": auto-merge is off; it may be [UnknownMethod]
	// Queue is the place of an open pull request in a merge queue. It is nil if the pull request is in no queue, or if the
	// queue was not read.
	Queue  *QueuePlace
	Labels []string
	// Reviewers are the requested reviewers: "user", "organisation/team". Some hosts drop reviewers once they have
	// reviewed.
	Reviewers []string
}

// Query identifies the pull request of a rendering.
type Query struct {
	Branch string // the rendering's own branch; "": any branch, if Marker identifies the pull request
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
	// Creator is the login of the user or app that set the status, such as "octocat" or "acme-ci[bot]". For a check run it
	// is the app. It is empty in a status to be set, and if the host does not report it.
	Creator string
	// CheckRun says that this is a check run of the host, and not a status. Context is then the name of the check run.
	// Description contains its conclusion, unless that is a success.
	CheckRun bool

	// SetAt is the time at which the status was set, and SeenAt the time of the answer, both by the host's clock. They are
	// zero in a status to be set, and if the host does not report them.
	SetAt, SeenAt time.Time
}

// EqualStatus reports whether two statuses of the same commit and context have the same state and texts.
func EqualStatus(want, have Status) bool {
	return want.State == have.State && want.Description == have.Description && want.TargetURL == have.TargetURL
}

// Statuses contains the latest statuses of commits.
type Statuses struct {
	ByCommit map[string][]Status
	// Unread contains the reasons why statuses cannot be read, by commit.
	Unread map[string]string
	// Viewer is the login that the credential belongs to. It is empty if the host does not report it.
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

// StatusStates lists all states of a status.
var StatusStates = []StatusState{Pending, Success, Failure, Errored}

var fullHash = regexp.MustCompile(`^[0-9a-f]{40}$`)

// CheckCommit returns an error if a text is not the full hash of a commit. A status needs the full hash, because a
// branch moves, and a short hash may become ambiguous.
func CheckCommit(hash string) error {
	if !fullHash.MatchString(hash) {
		return errors.New("a full commit hash is required: 40 digits and letters from a to f")
	}
	return nil
}
