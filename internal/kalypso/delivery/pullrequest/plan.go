package pullrequest

import (
	"fmt"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// Comparison compares the target branch and our branch, as both were read, with the change.
type Comparison struct {
	Needed    bool      // the target lacks the change
	Existing  bool      // our branch contains the change
	OwnBranch OwnBranch // our branch
	// Listed says that a plan has listed the foreign commits on our branch, so that a push may replace them. Moved is
	// the error if more commits were pushed since; nil: none were.
	Listed bool
	Moved  error
	// Discard says that our branch is deleted if the change is not needed.
	Discard bool
	// Contents is the part of the change on our branch after a push.
	Contents string
}

// Known contains the state's facts about the last run.
type Known struct {
	Number int  // of the pull request; 0: none
	Open   bool // it was open when it was last read
	// Head is the head of our branch up to which it is known as ours; empty: unknown.
	Head string
	// AutoMerge and Reviewers are what we requested from the host.
	AutoMerge githost.MergeMethod
	Reviewers []string
}

// of returns the state's facts about a pull request, or nil.
func (k *Known) of(pr *githost.PullRequest) *Known {
	if k == nil || pr == nil || k.Number != pr.Number {
		return nil
	}
	return k
}

// Situation contains the inputs of a plan.
type Situation struct {
	Location    TopicLocation
	Settings    Settings
	Known       *Known               // nil: nothing
	PullRequest *githost.PullRequest // from our branch: the open one, else the newest one, else nil
	Head        string               // of the target branch
	Comparison  Comparison
}

// Action is the kind of a step.
type Action string

// The actions.
const (
	Push      Action = "push"       // one commit on top of the target, in place of what our branch contains
	Create    Action = "open"       // a pull request
	Update    Action = "edit"       // the open pull request: its text, labels, reviewers, draft
	AutoMerge Action = "auto-merge" // lets the host merge it, or no longer
	Wait      Action = "wait"       // until it is merged
	Close     Action = "close"      // a pull request
	Delete    Action = "delete"     // our branch
)

// Step is one step of a plan.
type Step struct {
	Action Action
	Number int                 // Close: of the pull request
	Method githost.MergeMethod // AutoMerge: empty to disable it
	// PreviousMethod limits AutoMerge to disabling this method: people may have enabled another one.
	PreviousMethod githost.MergeMethod
	Commit         string // Delete: the head that our branch must have; empty: any commit of ours
}

// ForeignError means that the branch with our name is foreign.
type ForeignError struct {
	At     TopicLocation
	Reason string
}

// Error implements error.
func (e *ForeignError) Error() string { return fmt.Sprintf("At %s: %s", e.At, e.Reason) }

// Plan decides on the steps of a run. Without steps, it does nothing. The error is the reason why a push must not
// replace our branch: a *[ForeignError], or [Comparison.Moved].
func Plan(s Situation) ([]Step, error) {
	if !s.Comparison.Needed {
		return s.finish(), nil
	}
	var steps []Step
	switch {
	case !s.Comparison.Existing:
		if err := s.checkPush(); err != nil {
			return nil, err
		}
		steps = []Step{{Action: Push}}
	case s.stayClosed() && s.Settings.Wait:
		return []Step{{Action: Wait}}, nil
	case s.stayClosed():
		return nil, nil
	case !s.Comparison.OwnBranch.OnTopOf(s.Head):
		steps = []Step{{Action: Push}}
	}
	if s.PullRequest != nil && s.PullRequest.State == githost.Open {
		steps = append(steps, Step{Action: Update})
	} else {
		steps = append(steps, Step{Action: Create})
	}
	if known := s.Known.of(s.PullRequest); s.Settings.AutoMerge != "" {
		steps = append(steps, Step{Action: AutoMerge, Method: s.Settings.AutoMerge})
	} else if known != nil && known.AutoMerge != "" {
		steps = append(steps, Step{Action: AutoMerge, PreviousMethod: known.AutoMerge})
	}
	if s.Settings.Wait {
		steps = append(steps, Step{Action: Wait})
	}
	return steps, nil
}

// stayClosed reports whether people closed the pull request of this change, and reopen is not set.
func (s *Situation) stayClosed() bool {
	pr := s.PullRequest
	return !s.Settings.Reopen && pr != nil && pr.State == githost.Closed && pr.HeadCommit == s.Comparison.OwnBranch.Head
}

// finish returns the steps after which nothing is proposed.
func (s *Situation) finish() (steps []Step) {
	pr, known := s.PullRequest, s.Known
	if pr != nil && pr.State == githost.Open {
		steps = append(steps, Step{Action: Close, Number: pr.Number})
	}
	if !s.Comparison.Discard {
		return steps
	}
	if known == nil {
		return append(steps, Step{Action: Delete})
	}
	if known.Open && known.Number != 0 && known.of(pr) == nil {
		steps = append(steps, Step{Action: Close, Number: known.Number})
	}
	return append(steps, Step{Action: Delete, Commit: known.Head})
}

// checkPush returns an error if a push must not replace our branch: it is not ours, or foreign commits were pushed to
// it after the plan was made.
func (s *Situation) checkPush() error {
	pr := s.PullRequest
	switch {
	case s.Comparison.OwnBranch.Head == "" || s.Comparison.OwnBranch.Unchanged:
		return nil
	case s.Comparison.Listed:
		return s.Comparison.Moved
	case pr != nil && pr.State != githost.Open && pr.HeadCommit == s.Comparison.OwnBranch.Head:
		return nil
	case pr != nil && pr.State == githost.Open: // no plan has shown their commits
		return &ForeignError{s.Location, fmt.Sprintf(
			"people pushed to the branch of pull request %d (%s), and the state does not know their change. Merge it, or "+
				"close it: then the next apply replaces the branch.", pr.Number, pr.URL)}
	}
	return &ForeignError{s.Location, "the branch exists and is not this rendering's. Choose another " +
		"delivery.branch_prefix, or remove the branch."}
}
