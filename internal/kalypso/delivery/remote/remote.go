package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Operations reads and writes branches and pull requests for Terraform's operations: [Operations.Check] for a plan,
// [Operations.Apply], [Operations.Refresh] and [Operations.Destroy].
type Operations struct {
	Git *gitremote.Client
	// Host returns the host of the pull requests. It is called only if a pull request is read or written.
	Host     func() (githost.Host, error)
	Claims   *Claims
	Progress delivery.Progress
	// NewProofKey returns a new [delivery.ProofKey]. If it is nil, commits have no proof.
	NewProofKey func() string
}

// CheckHost returns an error if the host can't do what the pull request is configured for; see
// [githost.Traits.CheckSupport]. It contacts no server.
func (r Operations) CheckHost(a *delivery.Arguments) error {
	if a.Strategy != destination.PullRequest || a.Known < inventory.Whole {
		return nil
	}
	repo, err := r.hosted(a.Destination.Repo)
	switch {
	case errors.Is(err, githost.ErrOtherHost): // which Check reports
		return nil
	case err != nil:
		return err
	}
	return pullrequest.CheckHost(repo, a.AllReviewers())
}

// CheckSettings returns errors if the host refuses the settings of the pull request that the apply opens or edits: see
// [githost.Repo]. It may contact the host.
func (r Operations) CheckSettings(ctx context.Context, plan delivery.Plan) []error {
	a := plan.All().Args
	_, writes := plan.(*delivery.Write)
	if !writes || a.Strategy != destination.PullRequest || a.Known < inventory.Whole || !a.Located() {
		return nil
	}
	repo, err := r.hosted(a.Destination.Repo)
	if err != nil { // which CheckHost and Check report
		return nil
	}
	return pullrequest.CheckSettings(ctx, repo, a.Destination.Branch, a.AllReviewers())
}

// hosted returns the repo of a URL on its host.
func (r Operations) hosted(url string) (repo githost.Repo, err error) {
	host, err := r.Host()
	if err != nil {
		return repo, err
	}
	return host.Repo(url)
}

// Checked contains the facts that a plan read from the branch.
type Checked struct {
	// Recovered is a branch with foreign changes that was read in place of an unreadable private state: see [Result].
	Recovered *delivery.State
	// Open is a pull request that an unfinished apply opened and that this one continues with, or nil.
	Open   *githost.PullRequest
	Change *delivery.Change // the change of the apply there; nil if the state shows it, or without a tree
	// Effects describe the change, if the state does not know the branch.
	Effects []string
}

// Check reads the facts from the branch that the plan needs and the state lacks. It returns an error if the apply
// would fail, together with the facts that it has read. If accepted_changes can allow all errors so far, Check goes on,
// so that one plan lists all refusals. It does not repeat a refusal of the plan. It writes nothing.
func (r Operations) Check(ctx context.Context, plan delivery.Plan) (checked Checked, err error) {
	p := plan.All()
	applied, s := p.Next, p.State
	if p.Recovers() && delivery.Writes(plan) {
		s, checked.Recovered, err = r.recoverForChange(ctx, p.Situation)
		if err != nil && delivery.Acceptable(err) == "" {
			return checked, err
		}
	}
	if !delivery.Writes(plan) || !p.ReadsBranch() || !p.AllAcceptable() {
		return checked, err
	}
	if applied.Args.Strategy == destination.PullRequest {
		var failed error
		checked.Open, failed = r.pullRequests(applied.Args).Check(ctx, applied, s)
		if failed != nil {
			return checked, problem.Join(err, failed)
		}
	}
	change, effects, failed := Check(ctx, r.Git, applied, s)
	if err = problem.Join(err, newRefusals(failed, p)); err == nil && len(p.Errors) == 0 {
		checked.Change, checked.Effects = change, effects
	}
	return checked, err
}

// newRefusals returns err without the refusals that the plan contains.
func newRefusals(err error, p *delivery.Basis) error {
	var all problem.Errors
	if !errors.As(err, &all) {
		return err
	}
	refused := p.Refused()
	return problem.Join(slices.DeleteFunc(slices.Clone(all), func(err error) bool {
		return slices.Contains(refused, delivery.Acceptable(err))
	})...)
}

// Apply carries out the plan. With an error, it may have written a part: applying again completes it.
func (r Operations) Apply(ctx context.Context, plan delivery.Plan) (*Result, error) {
	p := plan.All()
	applied, s := p.Next, p.State
	switch plan := plan.(type) {
	case *delivery.Rest:
		if p.Prior == nil {
			return &Result{Applied: applied}, nil
		}
		return &Result{Applied: applied, State: s}, nil
	case *delivery.Withhold:
		result, err := r.pullRequests(p.Args).Withhold(ctx, s, plan.Withheld)
		if err != nil {
			return nil, err
		}
		result.Applied = applied
		return result, nil
	case *delivery.Keep:
		return &Result{Applied: applied, State: p.Args.WithInputs(s).WithTarget(applied.TargetTreeHash())}, nil
	case *delivery.RemoveOld:
		after, removals, err := r.pullRequests(p.Args).RemoveOld(ctx, s)
		if err != nil {
			return nil, err
		}
		after = p.Args.WithInputs(after).WithTarget(applied.TargetTreeHash())
		return &Result{Applied: applied, State: after, Removals: removals}, nil
	case *delivery.Write, *delivery.Undecided:
		return r.write(ctx, p)
	}
	panic(fmt.Sprintf("%T is no plan", plan))
}

// write carries out a plan that writes the tree.
func (r Operations) write(ctx context.Context, p *delivery.Basis) (*Result, error) {
	applied, s := p.Next, p.State
	if p.Case == delivery.Computed {
		return &Result{Applied: applied, State: delivery.ComputedState(applied), Before: cmp.Or(s, &delivery.State{})}, nil
	}
	var recovered *delivery.State
	var err error
	if p.Recovers() {
		s, recovered, err = r.recoverForChange(ctx, p.Situation)
		if err != nil {
			return nil, err
		}
	}
	if err := r.Claims.deliver(p.Args.Destination); err != nil {
		return nil, err
	}
	result, err := r.deliver(ctx, applied, s)
	if err != nil {
		return nil, err
	}
	result.State, result.Recovered = r.withNewProofKey(result.State), recovered
	if result.Applied == nil {
		result.Applied = applied
	}
	return result, nil
}

// withNewProofKey returns the state with a key that no commit has used.
func (r Operations) withNewProofKey(s *delivery.State) *delivery.State {
	if r.NewProofKey == nil {
		return s
	}
	now := *s
	now.ProofKey = delivery.ProofKey(r.NewProofKey())
	return &now
}

// deliver delivers the tree by its strategy. After a change of the strategy to [Push], it closes the pull requests.
func (r Operations) deliver(ctx context.Context, applied *delivery.NextTree, s *delivery.State) (*Result, error) {
	pulls := r.pullRequests(applied.Args)
	if applied.Args.Strategy == destination.PullRequest {
		return pulls.Propose(ctx, applied, s)
	}
	reviewed := s.Current() && s.Reviewed()
	if reviewed { // without a host, nothing is pushed
		if _, err := r.Host(); err != nil {
			return nil, err
		}
	}
	result, err := Deliver(ctx, r.Git, applied, s, r.Progress)
	if err != nil || !reviewed {
		return result, err
	}
	return result, pulls.ClosePullRequests(ctx, s)
}

// Refreshed is the result of a refresh.
type Refreshed struct {
	State       *delivery.State      // to keep from now on; nil if the branch contains no record of the rendering
	Changed     bool                 // State differs from the state before
	Removed     bool                 // nothing of the rendering is left
	BranchGone  bool                 // nor is its branch
	Commit      string               // the commit on the branch that contains the tree; empty if none does
	Delivered   bool                 // the branch still contains the tree
	PullRequest *githost.PullRequest // nil if none was read
}

// Refresh reads the current state of the branch and of the pull request. It returns nil if nothing was delivered.
func (r Operations) Refresh(ctx context.Context, p *delivery.Prior, s *delivery.State) (*Refreshed, error) {
	if !p.DeliveredBefore() {
		return nil, nil
	}
	found := &Refreshed{}
	var err error
	if s.Known() < inventory.Whole {
		found.State, err = Recover(ctx, r.Git, p)
		found.Changed = true
	} else {
		renamed := s
		if at := p.Destination; s.Destination != at && s.Destination.Same(at) { // under another URL
			renamed = new(*s)
			renamed.Destination = at
		}
		found.State, found.PullRequest, err = r.follow(ctx, renamed)
		if err == nil && p.Strategy == destination.PullRequest {
			found.State, err = r.provenByOwnBranch(ctx, p, found.State)
		}
		if err == nil {
			found.State = knownRevert(renamed, found.State)
			if proposal := found.State.Proposal; proposal.Open() { // which was read anew
				proposal.UnwantedDraft = found.PullRequest.Draft && !p.PullRequest.Draft && proposal.Withheld == ""
			}
		}
		found.Changed = found.State != s
	}
	switch {
	case errors.Is(err, ErrRemoved):
		return &Refreshed{Removed: true}, nil
	case errors.Is(err, gitbranch.ErrBranchNotFound):
		return &Refreshed{Removed: true, BranchGone: true}, nil
	case errors.Is(err, delivery.ErrNoRendering):
		return nil, nil // the plan delivers it again
	case err != nil:
		return nil, err
	}
	if found.State.ProofKey == "" { // after an import, or of an earlier version of the provider
		if keyed := r.withNewProofKey(found.State); keyed != found.State {
			found.State, found.Changed = keyed, true
		}
	}
	found.Commit, found.Delivered = foundCommit(p, found.State, found.PullRequest)
	return found, nil
}

// Files returns the contents of the rendering's files on the branch, by path. They are nil if the branch moved after s
// was read.
func (r Operations) Files(ctx context.Context, s *delivery.State) (map[string][]byte, error) {
	snapshot, err := gitbranch.ReadHead(ctx, r.Git, s.Destination.Repo, s.Destination.Branch)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	if snapshot.Commit.String() != s.LastRead.Head {
		return nil, nil
	}
	var paths []string
	walker := snapshot.Walker()
	for _, name := range s.OwnFolders().Names() {
		err := walker.Walk(s.Destination.Join(name), func(path string, _ object.TreeEntry) error {
			paths = append(paths, path)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return snapshot.ReadFiles(paths)
}

// Destroyed is the result of a destroy.
type Destroyed struct {
	// OccupiedDestination is the destination if another rendering of the configuration writes there. Then nothing was
	// removed.
	OccupiedDestination *destination.Destination
	Removals            []Removal // the pull requests that remove the delivered trees
}

// Destroy removes the delivered trees. With an error, it returns the state to keep, or nil.
func (r Operations) Destroy(
	ctx context.Context, a *delivery.Arguments, p *delivery.Prior, s *delivery.State,
) (*delivery.State, Destroyed, error) {
	if a.KeepOnDestroy || !p.DeliveredBefore() {
		return nil, Destroyed{}, nil
	}
	if !s.Current() {
		s = &delivery.State{Destination: a.Destination, Environment: a.Environment}
	}
	if r.Claims.isClaimed(s.Destination) {
		// A resource that was renamed without a moved block, or is replaced with create_before_destroy.
		return nil, Destroyed{OccupiedDestination: &s.Destination}, nil
	}
	if a.Strategy == destination.Push {
		commit := RemovalCommit{Message: removalMessage(s), Author: a.Author}
		return nil, Destroyed{}, Remove(ctx, r.Git, s, commit)
	}
	if _, err := r.Host(); err != nil {
		return nil, Destroyed{}, err
	}
	after, removals, err := r.pullRequests(a).Destroy(ctx, s)
	if err != nil {
		return after, Destroyed{}, err
	}
	return nil, Destroyed{Removals: removals}, nil
}

// recoverForChange is [Recover] for a change. drifted is the recovered state if the branch has foreign
// changes. If the apply must not overwrite them, the error is a *DriftError, with the recovered state. The state is nil
// if nothing of the rendering is left.
func (r Operations) recoverForChange(
	ctx context.Context, now *delivery.Situation,
) (s, drifted *delivery.State, err error) {
	s, err = Recover(ctx, r.Git, now.Prior)
	gone := errors.Is(err, gitbranch.ErrBranchNotFound) || errors.Is(err, delivery.ErrNoRendering)
	if err != nil && !gone {
		return nil, nil, err
	}
	if s != nil && s.Drifted() {
		drifted = s // also if the record was removed
	}
	if gone {
		s = nil
	}
	if drifted != nil {
		on := now.Args.ReactionTo(drifted)
		if on != drift.Overwrite && !unknown.Is(string(on)) {
			return s, nil, &delivery.DriftError{State: drifted}
		}
	}
	return s, drifted, nil
}
