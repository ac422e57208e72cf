package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
)

// Store keeps the runs on clusters. Its errors name the store.
type Store interface {
	// Last returns the last observation of an environment, or the zero value without one.
	Last(ctx context.Context, environment string) (Last, error)
	// Record adds an observation. Recording it twice adds it once.
	Record(ctx context.Context, r Recording) (Recorded, error)
	// Read returns the recorded runs of an environment.
	Read(ctx context.Context, q Query) (Past, error)
	// RemovalSteps tells people how to remove the records of an environment after a time, such as those of a clock that
	// was ahead, so that the next record continues from there. It contacts nothing.
	RemovalSteps(environment string, after time.Time) string
}

// Last is the last observation in a store.
type Last struct {
	Hash       string // see [observation.Observation.Hash]; "": there is none
	ObservedAt time.Time
	// Repo, Branch and Path are the place of the environment.
	Repo, Branch, Path string
}

// Recording is an observation to record.
type Recording struct {
	Now *observation.Observation
	// Was is the last recorded observation from the state; nil: there is none.
	Was        *observation.Observation
	Deliveries []DeliveryRow // for a store with a table of deliveries
}

// Recorded is the result of a recording.
type Recorded struct {
	// Present are the current instances as far as the store knows: those of the observation, and the earlier ones of
	// sources that did not answer.
	Present *observation.Observation
	Changes int
	// Newer is the time of the observation in the store, if that is not older. Then nothing was written. Differs
	// reports whether its content differs.
	Newer   time.Time
	Differs bool
}

// Prepared is a recording with its changes, so that several attempts compute them once.
type Prepared struct {
	Recording
	present *observation.Observation // as far as the state tells
	hash    string                   // of present
	wasHash string                   // "": the state contains nothing
	changes []InstanceChange         // between Was and present
}

// Prepare computes the parts that all attempts to record share.
func (r Recording) Prepare() *Prepared {
	p := &Prepared{Recording: r, present: Carry(r.Was, r.Now)}
	p.hash = p.present.Hash()
	if r.Was != nil {
		p.wasHash, p.changes = r.Was.Hash(), Compare(r.Was, p.present)
	}
	return p
}

// Expected returns the changes that a store writes after its last record if the state agrees with the store; none if it
// does not. The store can prepare for them before it loads the conditions of instances.
func (p *Prepared) Expected(last Last) []InstanceChange {
	if p.wasHash == "" || p.wasHash != last.Hash || !p.Now.ObservedAt.After(last.ObservedAt) ||
		!last.IsAt(p.Now.Repo, p.Now.Branch, p.Now.Path) {
		return nil
	}
	return p.changes
}

// Next contains the rows that a store writes.
type Next struct {
	Write   bool   // false: the store has the observation already, or a newer one
	Whole   bool   // the store did not contain what the state contains, so everything was compared
	Hash    string // of the observation
	Changes []InstanceChange
	Done    Recorded
}

// Next returns the rows that a store writes after its last record. load returns the last conditions of instances with
// their latest times, see [Compare]: of those of some changes, or of all if it gets nil.
//
// If state and store agree, only the instances that change are compared. Otherwise all are.
func (p *Prepared) Next(
	last Last, load func(some []InstanceChange) (*observation.Observation, error),
) (Next, error) {
	n := Next{Hash: p.hash, Done: Recorded{Present: p.present}}
	known := last.Hash == p.hash && last.ObservedAt.Equal(p.Now.ObservedAt)
	switch {
	case last.Hash != "" && !last.IsAt(p.Now.Repo, p.Now.Branch, p.Now.Path):
		return n, &PlaceError{Environment: p.Now.Environment, Last: last}
	case known:
		return n, nil
	case last.Hash != "" && !p.Now.ObservedAt.After(last.ObservedAt):
		n.Done.Newer, n.Done.Differs = last.ObservedAt, last.Hash != p.hash
		return n, nil
	}
	n.Write, n.Whole = true, p.wasHash == "" || p.wasHash != last.Hash
	if !n.Whole && p.changes == nil {
		return n, nil
	}
	var some []InstanceChange
	if !n.Whole {
		some = p.changes
	}
	present, err := load(some)
	if err != nil {
		return n, err
	}
	if n.Whole {
		n.Done.Present = Carry(present, p.Now)
		n.Changes = Compare(present, n.Done.Present)
		if n.Done.Present != p.present {
			n.Hash = n.Done.Present.Hash()
		}
	} else {
		n.Changes = Compare(Only(present, some), Only(p.present, some))
	}
	n.Done.Changes = Count(n.Changes)
	return n, nil
}

// IsAt reports whether the environment lies at a place.
func (l Last) IsAt(repo, branch, path string) bool {
	return record.Destination{Repo: l.Repo, Branch: l.Branch, Path: l.Path}.Same(
		record.Destination{Repo: repo, Branch: branch, Path: path})
}

// Query selects the runs and versions to read.
type Query struct {
	Environment string // "": find it by its place
	// Repo, Branch and Path are the place of the environment.
	Repo, Branch, Path string
	// Runs are those that overlap [Since, Until). Versions are those at Until.
	Since, Until    time.Time
	Cluster, Target *string // nil: all
	Limit           int     // of runs
}

// Past contains the runs and versions of an environment in a store.
type Past struct {
	Environment   string
	RecordedUntil time.Time // zero: nothing was recorded
	Runs          []Run     // newest first
	Truncated     bool      // there are more runs than the limit
	Versions      []VersionCount
	// from Since on, and earlier ones that the evaluation of deliveries since then needs; oldest first
	Observed []Observed
}

// VersionCount is a version of a deployment target on some clusters, at a moment.
type VersionCount struct {
	Target, Version, State string
	Clusters               int
	Since                  time.Time // the earliest
	// Workload and Workspace are those of the deployment target, if a descriptor names them; of several, the last ones
	// by the bytes of their names.
	Workload, Workspace string
}

// Compare sorts by target, version and state.
func (v VersionCount) Compare(other VersionCount) int {
	return cmp.Or(cmp.Compare(v.Target, other.Target), cmp.Compare(v.Version, other.Version),
		cmp.Compare(v.State, other.State))
}

// Observed is the environment's part of one record.
type Observed struct {
	At             time.Time
	Head           string
	PromotedCommit string
	Verdict        string
	VerdictSince   time.Time
}

// PlaceError means that an environment in a store has another place than the observation.
type PlaceError struct {
	Environment string
	Last        Last
}

// Error implements error.
func (e *PlaceError) Error() string {
	return fmt.Sprintf("environment %q in the store is of branch %q, path %q, of %s; set environment to another name for "+
		"this place", e.Environment, e.Last.Branch, e.Last.Path, e.Last.Repo)
}

// Errors of stores.
var (
	// ErrTooLarge means that a store has no room for as much.
	ErrTooLarge = errors.New("too large for this store; use the store postgres")
	// ErrUnavailable means that a store does not answer.
	ErrUnavailable = errors.New("the store does not answer")
)
