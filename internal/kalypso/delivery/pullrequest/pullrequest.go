// Package pullrequest opens, edits, follows and closes pull requests from branches of our own. [Plan] decides on the
// steps, and [Topic.Run] takes them. The caller implements the [Change] that a pull request proposes.
package pullrequest

import (
	"context"
	"fmt"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// Settings configures pull requests.
type Settings struct {
	BranchPrefix string
	Labels       []string
	Reviewers    []string
	Draft        bool
	AutoMerge    githost.MergeMethod // empty if people merge
	Wait         bool                `attribute:"wait_for_merge"` // the apply waits until the pull request is merged
	Reopen       bool                // a change whose pull request was closed gets a new one
}

// Equal reports whether both configure an open pull request in the same way.
func (s Settings) Equal(other Settings) bool {
	return s.BranchPrefix == other.BranchPrefix && s.AutoMerge == other.AutoMerge &&
		s.Draft == other.Draft && s.Wait == other.Wait &&
		slices.Equal(s.Labels, other.Labels) && slices.Equal(s.Reviewers, other.Reviewers)
}

// Topic is a branch of ours with its pull request.
type Topic struct {
	Location  TopicLocation
	Settings  Settings
	OwnBranch *Branch
	// Sleep waits before the pull request is read again. try starts at 1. If it is nil, the wait doubles from one
	// second to half a minute.
	Sleep func(ctx context.Context, try int) error

	repo githost.Repo
}

// TopicLocation locates a topic.
type TopicLocation struct {
	Repo   string // URL
	Branch string // ours; see [BranchName]
	Target string // the branch that the pull request changes
	Path   string // of its change, from the repo's root; for messages
	Marker string // the line of the description that identifies the pull request as ours
}

// String names our branch in messages.
func (l TopicLocation) String() string {
	return fmt.Sprintf("path %q on branch %q of %s", l.Path, l.Branch, l.Repo)
}

// Open returns a topic. It contacts no server. The error is [githost.ErrOtherHost], or concerns the URL or a name.
func Open(client *gitremote.Client, host githost.Host, at TopicLocation, s Settings) (*Topic, error) {
	repo, err := host.Repo(at.Repo)
	if err != nil {
		return nil, err
	}
	ours, err := gitbranch.Open(client, at.Repo, at.Branch)
	if err != nil {
		return nil, err
	}
	target, err := gitbranch.Open(client, at.Repo, at.Target)
	if err != nil {
		return nil, err
	}
	return &Topic{
		Location: at, Settings: s, repo: repo, OwnBranch: &Branch{marker: at.Marker, branch: ours, target: target},
	}, nil
}

// Host returns the repo of the topic on its host.
func (t *Topic) Host() githost.Repo { return t.repo }

// Find returns the pull request from our branch: the open one, else the newest one, else nil. The marker identifies it,
// or the number that the state knows, if people removed the marker. If people opened another one, the error is
// [githost.ErrExists]: hosts allow only one.
func (t *Topic) Find(ctx context.Context, known *Known) (*githost.PullRequest, error) {
	query := githost.Query{Branch: t.Location.Branch, Target: t.Location.Target, Marker: t.Location.Marker}
	found, err := t.repo.Find(ctx, query)
	if err != nil || found != nil && found.State == githost.Open {
		return found, err
	}
	query.Marker, query.Open = "", true
	other, err := t.repo.Find(ctx, query)
	switch {
	case err != nil:
		return nil, err
	case other == nil:
		return found, nil
	case known.of(other) != nil:
		return other, nil
	}
	return nil, &githost.Error{
		Op: "find the pull request of branch " + t.Location.Branch, Kind: githost.ErrExists, Cause: fmt.Errorf(
			"pull request %d (%s) may not be this rendering's: its description lacks the line that says so. Restore the "+
				"line, close the pull request, or choose another delivery.branch_prefix", other.Number, other.URL),
	}
}

// FindOpen returns the open pull request from our branch with our marker, or nil.
func (t *Topic) FindOpen(ctx context.Context) (*githost.PullRequest, error) {
	at := t.Location
	return t.repo.Find(ctx, githost.Query{Branch: at.Branch, Target: at.Target, Marker: at.Marker, Open: true})
}

// Read returns a pull request of ours. If people changed its target branch, it is closed for us.
func (t *Topic) Read(ctx context.Context, number int) (*githost.PullRequest, error) {
	pr, err := t.repo.Read(ctx, number)
	if err == nil && pr.Target != t.Location.Target {
		pr.State = githost.Closed
	}
	return pr, err
}
