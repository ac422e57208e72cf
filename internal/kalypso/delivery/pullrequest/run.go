package pullrequest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// Change is the change that a pull request proposes. It keeps what it compared last, for its commit and its text.
type Change interface {
	// Begin gets the pull request that was found, or nil, before the branches are read. It is called again if people
	// opened, merged or closed the pull request meanwhile. The options have no base.
	Begin(ctx context.Context, found *githost.PullRequest) (gitbranch.PushOptions, error)
	// Compare compares both branches with the change. It is called again if one of them moves. An absent target is an
	// empty snapshot: then a change that is needed fails.
	Compare(ctx context.Context, target, ours *gitbranch.Snapshot) (Comparison, error)
	// Commit returns the commit on top of the target that was compared, without the [Trailer].
	Commit() *gitbranch.Edit
	// Pushed is called once our branch contains the change, or the target does, and before the pull request is opened or
	// edited.
	Pushed(ctx context.Context) error
	// Text is called if the pull request is opened or edited.
	Text(ctx context.Context) Text
}

// Outcome is the result of a run.
type Outcome struct {
	// PullRequest proposes the change, or proposed it until people closed it. It is nil if the target contains the
	// change.
	PullRequest *githost.PullRequest
	Head        string // of our branch
	Pushed      bool
	// Requested lists the reviewers that this run or an earlier one requested.
	Requested []string
}

// ReviewError says that a pull request was not merged while the apply waited.
type ReviewError struct {
	PullRequest *githost.PullRequest
	Closed      bool // closed without being merged; otherwise the time ran out
	Untracked   bool // the state does not know the pull request
}

// Error implements error.
func (e *ReviewError) Error() string {
	if e.Closed {
		return fmt.Sprintf("pull request %d (%s) was closed without being merged", e.PullRequest.Number, e.PullRequest.URL)
	}
	return fmt.Sprintf(
		"pull request %d (%s) was not merged before the timeout", e.PullRequest.Number, e.PullRequest.URL)
}

// MergingError says that the host has not finished merging the pull request. Nothing was pushed to our branch, since
// the merge may or may not contain the push.
type MergingError struct{ PullRequest *githost.PullRequest }

// Error implements error.
func (e *MergingError) Error() string {
	return fmt.Sprintf("the host is still merging pull request %d (%s), so nothing was pushed to its branch. Apply again "+
		"once it is merged, or open again", e.PullRequest.Number, e.PullRequest.URL)
}

// ErrChanged means that people opened, merged or closed the pull request after we read it.
var ErrChanged = errors.New("the pull request was opened, merged or closed in the meantime")

// retries limits how often a run is retried: after the target took the change, if the host has not seen the push yet,
// and if the pull request ended while we pushed.
const retries = 5

// Run finds the pull request, reads the branches, and takes the steps of the [Plan]: our branch becomes one commit on
// top of the target, and one pull request is opened or edited. If the target contains the change, Run closes the open
// pull request. After an error, running again completes it. If the pull request is known by then, the result has it.
//
// known contains the state's facts, or is nil. Run begins again if people opened, merged or closed the pull request
// meanwhile.
func (t *Topic) Run(ctx context.Context, known *Known, change Change) (*Outcome, error) {
	for try := 1; ; try++ {
		outcome, err := t.propose(ctx, known, change)
		early := errors.Is(err, githost.ErrNothingToMerge) || errors.Is(err, githost.ErrBranchNotFound) ||
			errors.Is(err, ErrChanged)
		if !early || try == retries || t.sleep(ctx, try) != nil {
			return outcome, err
		}
	}
}

func (t *Topic) propose(ctx context.Context, known *Known, change Change) (*Outcome, error) {
	found, err := t.Find(ctx, known)
	if err == nil && found != nil && found.Merging { // a read waits for the end of the merge
		found, err = t.Read(ctx, found.Number)
	}
	if err != nil {
		return nil, err
	}
	options, err := change.Begin(ctx, found)
	if err != nil {
		return nil, err
	}
	options.Base = t.OwnBranch.target
	s := Situation{Location: t.Location, Settings: t.Settings, Known: known, PullRequest: found}
	var steps []Step
	var pushed gitbranch.PushResult
	for attempt, err := range t.OwnBranch.branch.Attempts(ctx, options) {
		if err != nil {
			return nil, err
		}
		s.Head = attempt.Base.Commit.String()
		s.Comparison, err = change.Compare(ctx, attempt.Base, attempt.Now)
		if err != nil {
			return nil, attempt.Failed(err)
		}
		if attempt.Base.Commit.IsZero() && s.Comparison.Needed {
			return nil, fmt.Errorf("%s: %w", t.OwnBranch.target, gitbranch.ErrBranchNotFound)
		}
		steps, err = Plan(s)
		if err != nil {
			return nil, err
		}
		var commit *gitbranch.Edit
		switch {
		case !pushes(steps):
		case found != nil && found.Merging:
			return nil, &MergingError{found}
		default:
			commit = t.commit(change, s.Comparison.Contents)
		}
		pushed, err = attempt.Push(ctx, commit)
		if err == nil {
			break
		}
	}
	if pushes(steps) && !pushed.Pushed { // the commit would change nothing
		s.Comparison.Needed = false
		steps, err = Plan(s)
		if err != nil {
			return nil, err
		}
	}
	if err := change.Pushed(ctx); err != nil {
		return nil, err
	}
	outcome := &Outcome{Head: pushed.Commit.String(), Pushed: pushed.Pushed}
	if s.Comparison.Needed {
		outcome.PullRequest = found
	}
	return outcome, t.take(ctx, steps, &s, change, outcome)
}

// commit returns the commit of a change, with the message that the host needs. contents is the part
// of the change on our branch after it.
func (t *Topic) commit(change Change, contents string) *gitbranch.Edit {
	commit := change.Commit()
	commit.Message = t.repo.CommitMessage(commit.Message)
	commit.Trailer = strings.TrimLeft(commit.Trailer+"\n"+Trailer(t.Location.Marker, contents), "\n")
	return commit
}

func pushes(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool { return s.Action == Push })
}

// take takes the steps after the push. It sets the pull request of the result.
func (t *Topic) take(ctx context.Context, steps []Step, s *Situation, change Change, result *Outcome) error {
	for _, step := range steps {
		pr, err := result.PullRequest, error(nil)
		switch step.Action {
		case Push: // done
		case Create:
			content := t.proposal(change.Text(ctx))
			result.Requested = content.Reviewers
			pr, err = t.open(ctx, content)
			if err == nil {
				err = t.checkNotEmpty(ctx, s.Head, change)
			}
		case Update:
			content, known := t.proposal(change.Text(ctx)), s.Known.of(pr)
			result.Requested = content.Reviewers
			if known != nil { // which may list more
				result.Requested = slices.Concat(known.Reviewers, sets.WithoutFold(content.Reviewers, known.Reviewers))
			}
			pr, err = t.edit(ctx, pr.Number, content, known)
		case AutoMerge:
			pr, err = t.mergeWhenReady(ctx, pr, step, s.Known.of(pr))
		case Wait:
			pr, err = t.wait(ctx, pr)
		case Close:
			err = t.close(ctx, step.Number)
		case Delete:
			err = t.OwnBranch.delete(ctx, step.Commit)
		}
		result.PullRequest = pr
		if err != nil {
			return err
		}
		if pr != nil && pr.State == githost.Open { // some hosts show a push late
			pr.HeadCommit = cmp.Or(result.Head, pr.HeadCommit)
		}
	}
	return nil
}

// open opens the pull request. If people opened one meanwhile, the error is [ErrChanged].
func (t *Topic) open(ctx context.Context, p githost.PullRequestContent) (*githost.PullRequest, error) {
	opened, err := t.repo.Open(ctx, p)
	if errors.Is(err, githost.ErrExists) {
		err = fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return opened, err
}

// checkNotEmpty returns [githost.ErrNothingToMerge] if the target took the change since we pushed on top of a commit of
// it: the new pull request is empty, and the next attempt closes it. No host refuses one whose branch has a commit that
// the target lacks. If the target did not move, one look-up of its head says so.
func (t *Topic) checkNotEmpty(ctx context.Context, pushedOn string, change Change) error {
	head, err := t.OwnBranch.target.Head(ctx)
	if err != nil || head.String() == pushedOn {
		return err
	}
	target, err := t.OwnBranch.target.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer target.Close()
	ours, err := t.OwnBranch.branch.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer ours.Close()
	now, err := change.Compare(ctx, target, ours)
	if err == nil && !now.Needed {
		err = &githost.Error{
			Op: "open a pull request of branch " + t.Location.Branch, Kind: githost.ErrNothingToMerge,
			Cause: fmt.Errorf("branch %s contains the change", t.Location.Target),
		}
	}
	return err
}

// edit edits our open pull request. If it was merged or closed after it was found, the error is [ErrChanged].
func (t *Topic) edit(
	ctx context.Context, number int, p githost.PullRequestContent, known *Known,
) (*githost.PullRequest, error) {
	now, err := t.Read(ctx, number)
	switch {
	case err != nil:
		return nil, err
	case now.State != githost.Open:
		return nil, ErrChanged
	case known != nil:
		p.Reviewers = sets.WithoutFold(p.Reviewers, known.Reviewers)
	default:
		p.Reviewers, err = t.repo.MissingReviewers(ctx, *now, p.Reviewers)
		if err != nil {
			return nil, err
		}
	}
	edited, err := t.repo.Edit(ctx, *now, p)
	if err == nil && edited.State != githost.Open {
		err = ErrChanged
	}
	return edited, err
}

// mergeWhenReady enables or disables auto-merge. It keeps an auto-merge that people enabled. If the host does not show
// the method, the state's method is assumed.
func (t *Topic) mergeWhenReady(
	ctx context.Context, pr *githost.PullRequest, step Step, known *Known,
) (*githost.PullRequest, error) {
	if known != nil && known.AutoMerge != "" {
		if pr.AutoMerge == githost.UnknownMethod {
			now := *pr
			now.AutoMerge, pr = known.AutoMerge, &now
		}
		var err error
		pr, err = t.withQueue(ctx, pr)
		if err != nil {
			return pr, err
		}
	}
	merging, err := pr, error(nil)
	switch {
	case step.Method != "" && pr.Queue != nil: // it will be merged
	case step.Method == "" && pr.AutoMerge != step.PreviousMethod:
		merging, err = t.dequeue(ctx, pr)
	default:
		merging, err = t.repo.MergeWhenReady(ctx, *pr, step.Method)
	}
	if errors.Is(err, githost.ErrRejected) || errors.Is(err, githost.ErrNotVisible) { // people may have ended it
		if now, failed := t.repo.Read(ctx, pr.Number); failed == nil && now.State != githost.Open {
			return now, nil
		}
	}
	if err != nil {
		return pr, err
	}
	return merging, nil
}

// wait reads the pull request until it is merged.
func (t *Topic) wait(ctx context.Context, pr *githost.PullRequest) (*githost.PullRequest, error) {
	for try := 1; pr.State == githost.Open; try++ {
		outOfTime := t.sleep(ctx, try) != nil
		read, cancel := FinishContext(ctx)
		now, err := t.Read(read, pr.Number) // even if the time ran out: it may just have been merged
		cancel()
		switch {
		case err != nil && ctx.Err() == nil:
			return pr, err
		case err != nil, outOfTime && now.State == githost.Open:
			return pr, &ReviewError{PullRequest: pr}
		}
		pr = now
	}
	if pr.State == githost.Closed {
		return pr, &ReviewError{PullRequest: pr, Closed: true}
	}
	return pr, nil
}

func (t *Topic) sleep(ctx context.Context, try int) error {
	if t.Sleep != nil {
		return t.Sleep(ctx, try)
	}
	return clock.Sleep(ctx, clock.Backoff(time.Second, 30*time.Second, try))
}

// finishTimeout limits the time for reading the result after the operation's time ran out.
const finishTimeout = 20 * time.Second

// FinishContext returns a context for reading the result: ctx, or a short one if ctx is done.
func FinishContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
}

// Check returns an error if a run must not replace our branch. pr is the pull request that was found, or nil. Check
// contacts no server.
func (t *Topic) Check(pr *githost.PullRequest, c Comparison) error {
	c.Needed = true
	_, err := Plan(Situation{Location: t.Location, Settings: t.Settings, PullRequest: pr, Comparison: c})
	return err
}

// Close closes an open pull request, and the one that the state knows as open. It deletes our branch, unless it has
// foreign commits. If a pull request was merged meanwhile, the error is [ErrChanged].
func (t *Topic) Close(ctx context.Context, pr *githost.PullRequest, known *Known) error {
	steps, err := Plan(Situation{Known: known, PullRequest: pr, Comparison: Comparison{Discard: true}})
	if err != nil {
		return err
	}
	return t.take(ctx, steps, nil, nil, &Outcome{})
}

func (t *Topic) close(ctx context.Context, number int) error {
	closed, err := t.repo.Close(ctx, number)
	if err == nil && closed.State == githost.Merged {
		return ErrChanged
	}
	return err
}
