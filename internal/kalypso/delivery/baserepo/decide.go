// Package baserepo writes the commit that an environment's BaseRepo pins, for environments that the Kalypso operator
// renders. A file at the root of the environment's branch of the control plane contains the BaseRepo.
package baserepo

import (
	"errors"
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/baserepo/document"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Desired is the commit that the BaseRepo of an environment's branch should pin, and how to set it.
type Desired struct {
	At EnvironmentBranch
	// Promotion has the commit. If it stays, it takes no other commit, and the BaseRepo keeps its pinned commit. The
	// commit of the promotion is then the one that the GitOps branch tracks, which follows once people merge the
	// operator's pull request.
	Promotion   promotion.Promotion
	Message     string // of the commit; "": the default
	Strategy    destination.Strategy
	OnDrift     drift.Reaction
	PullRequest pullrequest.Settings
	Author      gitbranch.Author
}

// Validate reports invalid values, each at its argument. An empty commit means none.
func (d *Desired) Validate() problem.Problems {
	ps := pullrequest.Validate(d.PullRequest)
	if d.Strategy == destination.PullRequest {
		ps = append(ps, pullrequest.ValidateRepo(d.At.Repo)...)
	}
	if d.Message != "" && gitbranch.CheckMessage(d.Message) != nil {
		ps = append(ps, problem.At("Invalid commit message",
			"commit_message is blank. Write a message, or remove the argument.", "commit_message"))
	}
	commit := d.Promotion.Commit
	if err := githost.CheckCommit(commit); err != nil && commit != "" && !unknown.Is(commit) {
		ps = append(ps, problem.At("Invalid promoted commit", fmt.Sprintf("%q: %s", commit, problem.Sentence(err)),
			"promotion"))
	}
	return ps
}

// EnvironmentBranch is a branch of a control plane.
type EnvironmentBranch struct {
	Repo   string `json:"repo"`
	Branch string `json:"branch"`
}

// String names the branch in messages.
func (b EnvironmentBranch) String() string { return fmt.Sprintf("branch %q of %s", b.Branch, b.Repo) }

func (b EnvironmentBranch) same(other EnvironmentBranch) bool {
	return b.Branch == other.Branch && giturl.Same(b.Repo, other.Repo)
}

// State describes a branch as the provider wrote it, and as it read it last.
type State struct {
	At        EnvironmentBranch `json:"location"`
	Head      string            `json:"head"`      // as last read
	File      string            `json:"file"`      // there; "": none
	Commit    string            `json:"commit"`    // that the file pins; "": none
	Delivered string            `json:"delivered"` // the commit that the last apply left there
	Since     string            `json:"since"`     // the head at that time
	// Drift lists the foreign commits that changed the file. It is not empty if Commit differs from Delivered.
	Drift    []drift.Commit `json:"drift,omitempty"`
	Proposal *Proposal      `json:"proposal,omitempty"`
}

// Proposal is a pull request that is not merged yet, or was closed.
type Proposal struct {
	Number int                      `json:"number"`
	State  githost.PullRequestState `json:"state"`
	Head   string                   `json:"head"` // our commit
	// Broken says that our branch does not contain our commit any more, or that the pull request is a draft that neither
	// the configuration nor a freeze wants.
	Broken             bool                 `json:"broken,omitempty"`
	AutoMerge          githost.MergeMethod  `json:"auto_merge,omitempty"`
	RequestedReviewers []string             `json:"requested_reviewers,omitempty"`
	Commit             string               `json:"commit"` // that it proposes
	From               string               `json:"from"`   // the file on the target branch
	File               string               `json:"file"`   // that it proposes
	Settings           pullrequest.Settings `json:"settings"`
	// Withheld is the reason why we made the pull request a draft that must not be merged now; "": we did not.
	Withheld string `json:"withheld,omitempty"`
}

// Decision describes an apply.
type Decision struct {
	Write bool // the apply may write; false: it does nothing, and contacts no server
	// File is the file after the apply. It is not known before the branch is read.
	File      string
	FileKnown bool
	Drifted   bool // people pinned another commit
	// IdleReason says why nothing is written, with any promoted commit. It is "" if the apply may write. Withhold says
	// that the apply makes the open pull request a draft that must not be merged now.
	IdleReason string
	Withhold   bool
	Closed     int // the number of the pull request that people closed and that keeps the apply from proposing; 0: none
	Err        error
}

// Decide decides from the state alone. s is nil for a create.
func Decide(d *Desired, s *State) Decision {
	switch why := d.idleReason(s); {
	case why != "":
		withhold := d.Withholds(s) && s.Proposal.Withheld != why
		return Decision{Write: withhold, Withhold: withhold, IdleReason: why}
	case s == nil || !s.At.same(d.At) || s.nothing():
		return Decision{Write: true}
	}
	d = d.KeepDelivered(s)
	decision := Decision{Write: true, Drifted: s.Commit != s.Delivered && s.Commit != d.Promotion.Commit}
	file, err := d.edit([]byte(s.File))
	if err != nil {
		decision.Err = err
		return decision
	}
	decision.File, decision.FileKnown = string(file), true
	p := s.Proposal
	switch {
	case s.Commit == d.Promotion.Commit:
		decision.Write = s.Delivered != s.Commit || p.open()
	case d.Strategy != destination.PullRequest || p == nil || p.Commit != d.Promotion.Commit || p.From != s.File:
	case p.open():
		decision.Write = p.Broken || p.Withheld != "" || d.PullRequest.Wait || !p.Settings.Equal(d.PullRequest)
	case !d.PullRequest.Reopen:
		decision.Write, decision.Closed = false, p.Number
	}
	return decision
}

// idleReason returns the reason why the apply writes nothing: the environment is frozen, the windows closed after the
// pull request was opened, or nothing is promoted yet. "": it may write.
func (d *Desired) idleReason(s *State) string {
	switch {
	case d.Promotion.Frozen() != "":
		return d.Promotion.Frozen()
	case d.Withholds(s):
		return d.Promotion.Withheld()
	case d.Promotion.Commit == "":
		return "Nothing is promoted to the environment yet."
	}
	return ""
}

// Withholds reports whether the open pull request must not be merged now.
func (d *Desired) Withholds(s *State) bool {
	p := d.Promotion
	return s != nil && s.Proposal.open() && (p.Frozen() != "" || p.Withheld() != "" && s.At.same(d.At))
}

// nothing reports whether nothing was delivered, proposed or read yet.
func (s *State) nothing() bool { return s.Head == "" && s.Delivered == "" }

func (p *Proposal) open() bool { return p != nil && p.State == githost.Open }

// Errors of a branch. Tell them apart with [errors.Is].
var (
	// ErrNoFile: there is no file, and nothing names the base.
	ErrNoFile = errors.New("there is no " + document.File)
	// ErrOtherBase: the BaseRepo names another repo than the promotion.
	ErrOtherBase = errors.New("the BaseRepo names another repo")
	// ErrMoved: the file was changed outside Terraform after the plan was made.
	ErrMoved = errors.New("the file changed after the plan was made")
)

// KeepDelivered returns d with the commit that the last apply delivered or proposed, if the promotion keeps it.
func (d *Desired) KeepDelivered(s *State) *Desired {
	if !d.Promotion.KeepsCommit() || s == nil || !s.At.same(d.At) || s.Delivered == "" {
		return d
	}
	now := *d
	now.Promotion.Commit, now.Promotion.Decision = s.Delivered, "" // this one is to be set
	if p := s.Proposal; p.open() {
		now.Promotion.Commit = p.Commit
	}
	return &now
}

// edit returns the file with the commit. now is the current file; empty: there is none.
func (d *Desired) edit(now []byte) ([]byte, error) {
	of := d.Promotion
	if len(now) == 0 {
		if of.Repo == "" {
			return nil, ErrNoFile
		}
		return document.New(document.BaseRepo{Repo: of.Repo, Branch: of.Branch, Path: ".", Commit: of.Commit})
	}
	found, err := document.Parse(now)
	switch {
	case err != nil:
		return nil, err
	case of.Repo != "" && !giturl.Same(of.Repo, found.Repo):
		return nil, fmt.Errorf("%w: it names %s, and the promotion chose a commit of %s", ErrOtherBase,
			found.Repo, of.Repo)
	case of.KeepsCommit() && found.Commit != "":
		return now, nil
	}
	return document.SetCommit(now, of.Commit)
}
