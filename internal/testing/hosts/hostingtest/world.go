// Package hostingtest specifies what each Git host must do for the provider. [Run] runs one table of situations on a
// [World]: a fake host, or a real server. [Traits] contains the differences between hosts.
package hostingtest

import (
	"net/http"
	"testing"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
)

// Credential is how a test authenticates to the API.
type Credential string

// The credentials. The repos of a world are private.
const (
	Writer  Credential = "writer"  // has the rights that the provider needs; its login is [Traits.Login]
	Reader  Credential = "reader"  // may read the repos, and not write
	Foreign Credential = "foreign" // is valid, and sees no repo
	Wrong   Credential = "wrong"   // is not valid
	None    Credential = "none"    // is empty
)

// World is a Git host that people use too. Its clock need not be the test's.
type World interface {
	// Host returns the host as the provider configures it.
	Host(t testing.TB, as Credential) githost.Host
	// HostOver returns the same host, which sends its requests over a transport.
	HostOver(t testing.TB, as Credential, transport http.RoundTripper) githost.Host
	// Arguments are the arguments of the host's block of the provider.
	Arguments(t testing.TB, as Credential) map[string]any
	// AddRepo creates a repo. The test pushes to its branches with force. Ann, Bob and Cora ([Ann], [Bob], [Cora]) may
	// review and write in it, and are [Traits.Team].
	AddRepo(t testing.TB) Repo
	Traits() Traits
	// Requests is the number of requests to the API by hosts of this world so far.
	Requests() int
	// Pause gives the host some time for its own actions. The suite calls it until the host shows the expected result,
	// at most [pauses] times.
	Pause(t testing.TB)
}

// Logins of people. They act only when the test does so in their name.
const (
	Ann  = "ann"
	Bob  = "bob"
	Cora = "cora"
	// Outsider's review cannot be requested.
	Outsider = "outsider"
)

// Repo is a repo of a world, with the actions of people in it.
type Repo interface {
	// URL is the repo's URL as users configure it.
	URL() string
	// Remote is where Git pushes to without another credential: a path, or a URL that contains one.
	Remote() string

	// Open opens a pull request as Ann does.
	Open(t testing.TB, branch, target, title, body string) (number int)
	// Edit changes title and description.
	Edit(t testing.TB, number int, title, body string)
	// Label adds a label.
	Label(t testing.TB, number int, label string)
	// Review approves as a user does.
	Review(t testing.TB, number int, login string)
	Close(t testing.TB, number int)
	Reopen(t testing.TB, number int)
	// Merge merges at once, and returns the new head of the target.
	Merge(t testing.TB, number int, method githost.MergeMethod) (commit string)
	// Require makes merges into a branch wait for a successful status in a context; "": for none.
	Require(t testing.TB, branch, context string)
	// SetStatus sets the status of a commit as Ann does.
	SetStatus(t testing.TB, commit, context string, state githost.StatusState)
}

// Traits are the differences of a host.
type Traits struct {
	Login string // of [Writer], as statuses report it
	// Team can review, as "organisation/team". "": users only, and NoTeam is a part of the error.
	Team, NoTeam string
	// AnyTeam says that a team of any name may exist, so that only the host can check it.
	AnyTeam bool
	// NoMethod has a part of the error for each merge method that auto_merge can't have.
	NoMethod map[githost.MergeMethod]string
	// HidesMethod says that the host shows that auto-merge is on, but not its method.
	HidesMethod bool
	// OpensEmpty says that the host opens a pull request whose branch has no commit of its own, which other hosts
	// refuse.
	OpensEmpty bool
	// KeepsPushed says that a pull request stays open when a push brings its commits to the target.
	KeepsPushed bool
	// KeepsDeleted says that a pull request stays open when its branch is deleted.
	KeepsDeleted bool
	// FoldsLabels says that labels that differ only in case are the same.
	FoldsLabels bool
	// StopsOnPush says that a push disables auto-merge.
	StopsOnPush bool
	// AsksAgain says that auto-merge is requested again although it is enabled.
	AsksAgain bool
	// NoLabel is a part of the error for a label with a comma; "": the host takes it.
	NoLabel string
	// UpdatesPending says that a status replaces the pending one before it, which leaves no trace, and that a pending
	// status does not change a pending one.
	UpdatesPending bool
	// Grant is a part of what an [githost.ErrForbidden] advises for [Reader]; see [githost.Error].
	Grant string
}
