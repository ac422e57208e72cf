// Package observe observes a deployment. It reads the GitOps branch, asks the sources of reports concurrently, and lets
// [deployment.Evaluate] decide the verdict.
package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// Source reports on the clusters that follow a rendering.
type Source interface {
	// Name returns the display name of the source.
	Name() string
	// Reports returns all reports of the source. An error that wraps [deployment.ErrNoAnswer] means that the source did
	// not answer; the user must fix any other error.
	Reports(ctx context.Context, of deployment.Rendering) ([]deployment.Report, error)
}

// Request selects the deployment to observe, and configures how.
type Request struct {
	Client  *gitremote.Client
	At      destination.Destination
	Sources []Source
	Rules   deployment.Rules
	Targets bool          // count deployment targets
	Wait    time.Duration // time that the sources have to answer, and again the repos of versions
	// Versions requests the running version of each deployment target. AllowLocal allows to read these from local
	// repos.
	Versions, AllowLocal bool
	Goal                 Goal
}

// Goal is the tree or commit that the branch must contain before a success counts. The zero value accepts anything.
type Goal struct {
	TreeHash string // of the rendering; "": any
	Commit   string // head or one of its ancestors; "": any
}

// Observation contains the state of a deployment at one moment.
type Observation struct {
	Branch     deployment.GitOpsBranch
	Outcome    deployment.Outcome
	TreeHash   string // tree_hash of kalypso_environment_rendering; "" without a head
	At         time.Time
	Unanswered []*SourceError // errors of the sources that did not answer
	Awaits     string         // the missing part of the goal; "": none
	// Versions contains the running versions; nil unless they were requested and there is a head.
	Versions *Versions
}

// Look observes a deployment once. It reads the time from now after all reports arrived. It returns errors that the
// user must fix: errors of the repo, and of sources whose answer could not be used.
func Look(ctx context.Context, req Request, now func() time.Time) (*Observation, error) {
	b, err := openBranch(ctx, req.Client, req.At)
	if err != nil {
		return nil, err
	}
	defer b.close()
	world := deployment.Input{Branch: b.GitOpsBranch, Rules: req.Rules.Printable()}
	if b.Head == "" {
		none := &Observation{Branch: b.GitOpsBranch, At: now()}
		none.Outcome, err = deployment.Evaluate(ctx, world)
		none.Awaits = none.awaits(req.Goal)
		return none, err
	}
	seen := &Observation{TreeHash: b.treeHash()}
	rendering := deployment.Rendering{
		Repo: req.At.Repo, Branch: req.At.Branch, Path: req.At.Path, Folders: b.names, Head: b.Head,
		Tree:     func(folder string) string { return b.Folders[folder].Tree },
		Files:    func(folder string) (map[string][]byte, error) { return b.readManifests(folder) },
		Versions: req.Versions,
	}
	world.Reports, err = ask(ctx, req, rendering, seen)
	if err != nil {
		return nil, err
	}
	for _, silent := range seen.Unanswered {
		world.Unanswered = append(world.Unanswered, silent.Source)
	}
	if req.Targets || req.Versions {
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
	world.Branch = b.GitOpsBranch
	seen.Branch = b.GitOpsBranch
	var found *collector
	if req.Versions {
		found, err = newCollector(b)
		if err != nil {
			return nil, err
		}
		world.Instances, world.TargetOf = found.add, found.targetOf
	}
	seen.Outcome, err = deployment.Evaluate(ctx, world)
	if err != nil {
		return nil, err
	}
	if found != nil {
		silent := slices.Concat(world.Unanswered, unlocated(world))
		seen.Versions, err = found.versions(ctx, req, silent, seen)
		if err != nil {
			return nil, err
		}
		seen.Versions.count(seen.Outcome.Targets)
	}
	seen.Awaits = seen.awaits(req.Goal)
	return seen, nil
}

// awaits describes the missing part of the goal, or returns "".
func (o *Observation) awaits(goal Goal) string {
	switch {
	case goal.Commit != "" && (o.Branch.History == nil || !o.Branch.History.Has(goal.Commit)):
		return fmt.Sprintf("the branch %q does not contain the commit %s", o.Branch.Name, goal.Commit)
	case goal.TreeHash != "" && goal.TreeHash != o.TreeHash:
		if o.TreeHash == "" {
			return fmt.Sprintf("the branch %q contains no rendering, and not the tree %s", o.Branch.Name, goal.TreeHash)
		}
		return fmt.Sprintf("the branch %q contains the tree %s instead of %s", o.Branch.Name, o.TreeHash, goal.TreeHash)
	}
	return ""
}

// SourceError is the error of one source.
type SourceError struct {
	Source string // display name
	Err    error
}

// Error implements error.
func (e *SourceError) Error() string { return e.Source + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *SourceError) Unwrap() error { return e.Err }

// ask asks all sources concurrently.
func ask(
	ctx context.Context,
	req Request,
	rendering deployment.Rendering,
	seen *Observation,
) ([]deployment.Report, error) {
	bounded, cancel := context.WithTimeout(ctx, req.Wait)
	defer cancel()
	reports := make([][]deployment.Report, len(req.Sources))
	errs := make([]error, len(req.Sources))
	n := len(req.Sources)
	parallel.Limited(n, n, func(i int) { reports[i], errs[i] = req.Sources[i].Reports(bounded, rendering) })
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var wrong []error
	for i, source := range req.Sources {
		switch err := errs[i]; {
		case errors.Is(err, deployment.ErrNoAnswer), errors.Is(err, context.DeadlineExceeded):
			seen.Unanswered = append(seen.Unanswered, &SourceError{printable.Line(source.Name()), err})
		case err != nil:
			wrong = append(wrong, &SourceError{source.Name(), err})
		}
	}
	all := slices.Concat(reports...)
	for i := range all {
		all[i] = all[i].Printable()
	}
	return all, errors.Join(wrong...)
}

// Recorded is a source of reports that were stored before this run, such as in a file.
type Recorded []deployment.Report

// Name implements [Source].
func (Recorded) Name() string { return "reports" }

// Reports implements [Source].
func (k Recorded) Reports(context.Context, deployment.Rendering) ([]deployment.Report, error) {
	return k, nil
}
