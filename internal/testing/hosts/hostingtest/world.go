// Package hostingtest specifies what each Git host must do for the provider. [Run] runs one table of situations on a
// [World]: a fake host, or a real server. [Traits] contains the differences between hosts.
package hostingtest

import (
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
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

// World is a Git host that people use too.
type World struct {
	Traits Traits
	// Server is the host: a fake's Server, or the repo on Gitea that AddRepo returns.
	Server  any
	URL     string // of the server
	Traffic *hostfake.Traffic
	Clock   *Clock // nil: the machine's
	// Token returns the token of a credential.
	Token func(t testing.TB, as Credential) string
	// Open returns the host as the provider configures it.
	Open func(httpapi.Access) (githost.Host, error)
	// AddRepo creates a repo. The test pushes to its branches with force. Ann, Bob and Cora ([Ann], [Bob], [Cora]) may
	// review and write in it, and are [Traits.Team].
	AddRepo func(t testing.TB) *Repo
}

// Host returns the host as the provider configures it.
func (w *World) Host(t testing.TB, as Credential) githost.Host {
	t.Helper()
	return w.hostWith(t, as, func(*httpapi.Access) {})
}

// hostWith returns the same host, with another access to its API.
func (w *World) hostWith(t testing.TB, as Credential, change func(*httpapi.Access)) githost.Host {
	t.Helper()
	access := httpapi.Access{Token: w.Token(t, as), BaseURL: w.URL, Credential: "token"}
	change(&access)
	if w.Clock != nil {
		access.Clock = w.Clock
	}
	host, err := w.Open(access)
	if err != nil {
		t.Fatal(err)
	}
	return host
}

// Arguments are the arguments of the host's block of the provider.
func (w *World) Arguments(t testing.TB, as Credential) map[string]any {
	t.Helper()
	return map[string]any{"base_url": w.URL, "token": w.Token(t, as)}
}

// Requests is the number of requests to the API by hosts of this world so far.
func (w *World) Requests() int { return len(w.Traffic.Requests()) }

// Pause gives the host some time for its own actions.
func (w *World) Pause() {
	if w.Clock == nil {
		time.Sleep(100 * time.Millisecond)
		return
	}
	w.Clock.Pass(time.Second)
}

// Await waits until the host shows something, and reports whether it does. On a busy machine, a real host may need most
// of two minutes.
func (w *World) Await(shows func() bool) bool {
	begun := time.Now()
	for n := 0; !shows(); n++ {
		if w.Clock == nil && time.Since(begun) > 2*time.Minute || w.Clock != nil && n == 600 {
			return false
		}
		w.Pause()
	}
	return true
}

// Logins of people. They act only when the test does so in their name.
const (
	Ann  = "ann"
	Bob  = "bob"
	Cora = "cora"
	// Outsider's review cannot be requested.
	Outsider = "outsider"
)

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
	// DraftPrefix is a word before the title of a draft, which people see.
	DraftPrefix string
	// Grant is a part of what an [githost.ErrForbidden] advises for [Reader]; see [githost.Error].
	Grant string
}
