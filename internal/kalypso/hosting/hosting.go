// Package hosting is what this provider asks of a host of Git repos beyond Git:
// pull requests and the status of commits. A host is a package that implements
// [Host]; nothing else knows which one it is.
package hosting

import (
	"context"
	"time"
)

// Host is a service that repos lie on.
type Host interface {
	// Repo is the repo that a Git URL names, in any of its forms. It asks
	// nobody. A URL of another host is [ErrOtherHost].
	Repo(url string) (Repo, error)
}

// Repo is one repo on a host. Every method honours the deadline of its context:
// what a later attempt may mend is tried again until then. Errors are of type
// *[Error].
type Repo interface {
	// GitPassword opens the repo over HTTPS with what opens its API; both are
	// empty where there is nothing to show. It is good for some minutes: ask
	// again for the next use.
	GitPassword(ctx context.Context) (username, password string, err error)
	// Find is the pull request of a rendering, nil where there is none: the
	// open one, else the newest that was closed or merged. The number of calls
	// does not depend on how many there are.
	Find(ctx context.Context, query Query) (*PullRequest, error)
	// Read is the pull request of a number.
	Read(ctx context.Context, number int) (*PullRequest, error)
	// Open opens a pull request. An open one of the same branches is
	// [ErrExists], branches that do not differ are [ErrNothingToMerge]. Where
	// the pull request was opened and what it is dressed with could not be set,
	// both are returned; Edit sets it.
	Open(ctx context.Context, proposal Proposal) (*PullRequest, error)
	// Edit brings an open pull request, as it was last read, to a proposal: what
	// is so already costs no call, and labels and reviewers that the proposal
	// does not name stay. The branches are not edited.
	Edit(ctx context.Context, now PullRequest, proposal Proposal) (*PullRequest, error)
	// Unasked are those of the reviewers whom nobody asked for a review of an open
	// pull request, as it was last read, and who gave none. Hosts forget whom they
	// asked once they have reviewed: [Repo.Edit] would ask them again.
	Unasked(ctx context.Context, now PullRequest, reviewers []string) ([]string, error)
	// CheckReviewers says whom of the reviewers of a proposal the host cannot ask,
	// or nil. It asks nobody.
	CheckReviewers(reviewers []string) error
	// Close closes a pull request without merging it. A closed one stays.
	Close(ctx context.Context, number int) (*PullRequest, error)
	// MergeWhenReady has the host merge an open pull request, as it was last
	// read, once its checks have passed: at once where nothing is awaited. The
	// method "" has it wait for people again.
	MergeWhenReady(ctx context.Context, now PullRequest, method MergeMethod) (*PullRequest, error)

	// SetStatus says how a commit did in a context, over what was said before, and returns it with its times.
	SetStatus(ctx context.Context, commit string, status Status) (Status, error)
	// Status is what was last said of a commit in a context, nil where nothing
	// was.
	Status(ctx context.Context, commit, name string) (*Status, error)

	// CommitURL and CompareURL are pages for people.
	CommitURL(commit string) string
	CompareURL(from, to string) string
	// MaxTitle and MaxBody are how many characters a title and a description may
	// have.
	MaxTitle() int
	MaxBody() int
}

// State of a pull request.
type State string

// The states of a pull request. One that is merged is not closed.
const (
	Open   State = "open"
	Closed State = "closed"
	Merged State = "merged"
)

// MergeMethod is how a pull request is merged.
type MergeMethod string

// The methods.
const (
	Merge  MergeMethod = "merge"
	Squash MergeMethod = "squash"
	Rebase MergeMethod = "rebase"
)

// MergeMethods are all of them.
var MergeMethods = []MergeMethod{Merge, Squash, Rebase}

// PullRequest is a pull request as a host knows it.
type PullRequest struct {
	Number     int
	ID         string // of the host, for its own use
	URL        string // page for people
	State      State
	Title      string
	Body       string
	Branch     string // that is to be merged
	Target     string // branch that it is to be merged into
	HeadCommit string // of Branch; of an ended pull request the last one
	// MergeCommit is what the merge made of the target branch; "" until then.
	MergeCommit string
	Draft       bool
	AutoMerge   MergeMethod // "" where the host is not to merge by itself
	Labels      []string
	Reviewers   []string // who is still asked for a review: "user", "organisation/team"
}

// Query names the pull request of a rendering.
type Query struct {
	Branch string // of ours
	Target string // branch: what people made one to another branch is theirs
	Marker string // see [Marker]
}

// Proposal is how a pull request is to be.
type Proposal struct {
	Branch       string
	Target       string
	Title        string
	Body         string
	Labels       []string // are added
	RemoveLabels []string // are taken away
	Reviewers    []string // "user", "organisation/team"
	Draft        bool
}

// Status is how a commit did in a context.
type Status struct {
	Context     string // its letters' case does not count
	State       StatusState
	Description string
	TargetURL   string // "": none

	// SetAt is when it was said, and SeenAt what the time is, both by the host's clock. Who says it leaves them zero; zero as
	// well where the host does not tell.
	SetAt, SeenAt time.Time
}

// StatusState is how a commit did.
type StatusState string

// The states.
const (
	Pending StatusState = "pending"
	Success StatusState = "success"
	Failure StatusState = "failure"
	Errored StatusState = "error"
)

// StatusStates are all of them.
var StatusStates = []StatusState{Pending, Success, Failure, Errored}
