// Package observe looks at a deployment: it reads the GitOps branch, asks the sources of reports side by side, and has
// [deployment.Judge] find the verdict.
package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/gitremote"
)

// Source gives reports of the clusters that follow a rendering.
type Source interface {
	// Name is the source's, for people.
	Name() string
	// Reports are all that the source knows. An error that unwraps to [deployment.ErrNoAnswer] says that nothing is known of it this
	// time; any other one is for people to mend.
	Reports(ctx context.Context, of deployment.Rendering) ([]deployment.Report, error)
}

// Request says what to look at.
type Request struct {
	Client  *gitremote.Client
	At      delivery.Destination
	Sources []Source
	Rules   deployment.Rules
	Targets bool          // whether to count deployment targets
	Wait    time.Duration // how long the sources have to answer
	Goal    Goal
}

// Goal is what the branch has to hold for a success to count. The zero value is whatever it holds.
type Goal struct {
	TreeHash string // of the rendering; "": whichever
	Commit   string // that the head is, or leads to; "": whichever
}

// Observation is what was seen.
type Observation struct {
	deployment.Branch
	deployment.Outcome
	TreeHash string // as kalypso_environment_rendering has it; "" without a head
	At       time.Time
	Silent   []*SourceError // of the sources that did not answer
	Awaits   string         // what of the goal the branch does not hold yet; "": nothing
}

// Look looks once. now is the clock; it is asked when all is read. An error is for people to mend: of the repo, or of a
// source that answered and could not be understood.
func Look(ctx context.Context, req Request, now func() time.Time) (*Observation, error) {
	b, err := openBranch(ctx, req.Client, req.At)
	if err != nil {
		return nil, err
	}
	defer b.close()
	world := deployment.World{Branch: b.Branch, Rules: req.Rules}
	if b.Head == "" {
		none := &Observation{Branch: b.Branch, Outcome: deployment.Judge(world), At: now()}
		none.Awaits = none.awaits(req.Goal)
		return none, nil
	}
	seen := &Observation{TreeHash: b.treeHash()}
	rendering := deployment.Rendering{
		Repo: req.At.Repo, Branch: req.At.Branch, Path: req.At.Path, Folders: b.names, Files: b.manifests,
	}
	if world.Reports, err = ask(ctx, req, rendering, seen); err != nil {
		return nil, err
	}
	for _, silent := range seen.Silent {
		world.Unanswered = append(world.Unanswered, silent.Source)
	}
	if req.Targets {
		if err := b.readTargets(); err != nil {
			return nil, err
		}
	}
	if err := b.readHistory(world.Reports, req.Goal.Commit); err != nil {
		return nil, err
	}
	seen.At = now()
	for i, r := range world.Reports {
		if r.Now.IsZero() {
			world.Reports[i].Now = seen.At
		}
	}
	world.Branch = b.Branch
	seen.Branch, seen.Outcome = b.Branch, deployment.Judge(world)
	seen.Awaits = seen.awaits(req.Goal)
	return seen, nil
}

// awaits says what of the goal the branch does not hold yet; "" where it holds all.
func (o *Observation) awaits(goal Goal) string {
	switch {
	case goal.Commit != "" && (o.History == nil || !o.History.Has(goal.Commit)):
		return fmt.Sprintf("the branch %q does not hold the commit %s", o.Name, goal.Commit)
	case goal.TreeHash != "" && goal.TreeHash != o.TreeHash:
		return fmt.Sprintf("the branch %q holds the tree %s, and not %s", o.Name, cmp.Or(o.TreeHash, "of no rendering"), goal.TreeHash)
	}
	return ""
}

// SourceError is what went wrong with a source.
type SourceError struct {
	Source string // its name
	Err    error
}

// Error implements error.
func (e *SourceError) Error() string { return e.Source + ": " + e.Err.Error() }

// Unwrap has errors.Is find the cause.
func (e *SourceError) Unwrap() error { return e.Err }

// ask asks all sources side by side.
func ask(ctx context.Context, req Request, rendering deployment.Rendering, seen *Observation) ([]deployment.Report, error) {
	bounded, cancel := context.WithTimeout(ctx, req.Wait)
	defer cancel()
	reports := make([][]deployment.Report, len(req.Sources))
	errs := make([]error, len(req.Sources))
	var wg sync.WaitGroup
	for i, source := range req.Sources {
		wg.Go(func() { reports[i], errs[i] = source.Reports(bounded, rendering) })
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var all []deployment.Report
	var wrong []error
	for i, source := range req.Sources {
		switch err := errs[i]; {
		case errors.Is(err, deployment.ErrNoAnswer), errors.Is(err, context.DeadlineExceeded):
			seen.Silent = append(seen.Silent, &SourceError{source.Name(), err})
		case err != nil:
			wrong = append(wrong, &SourceError{source.Name(), err})
		}
		all = append(all, reports[i]...)
	}
	return all, errors.Join(wrong...)
}

// Kept is a source of reports that somebody kept, such as in a file.
type Kept []deployment.Report

// Name implements [Source].
func (Kept) Name() string { return "reports" }

// Reports implements [Source].
func (k Kept) Reports(context.Context, deployment.Rendering) ([]deployment.Report, error) {
	return k, nil
}
