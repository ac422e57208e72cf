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
	// Snapshot returns the last observation of an environment, or the zero value without one.
	Snapshot(ctx context.Context, environment string) (Snapshot, error)
	// Record adds an observation. Recording it twice adds it once.
	Record(ctx context.Context, r Write) (WriteResult, error)
	// Read returns the recorded runs of an environment.
	Read(ctx context.Context, q Query) (StoredRuns, error)
	// RemovalSteps tells people how to remove the records of an environment after a time, such as those of a clock that
	// was ahead, so that the next record continues from there. It contacts nothing.
	RemovalSteps(environment string, after time.Time) string
}

// Snapshot is the last observation in a store.
type Snapshot struct {
	Hash       string // see [observation.Observation.Hash]; "": there is none
	ObservedAt time.Time
	// Repo, Branch and Path are the place of the environment.
	Repo, Branch, Path string
}

// Write is an observation to record.
type Write struct {
	Observation *observation.Observation
	// Previous is the last recorded observation from the state; nil: there is none.
	Previous   *observation.Observation
	Deliveries []DeliveryRow // for a store with a table of deliveries
}

// WriteResult is the result of a write.
type WriteResult struct {
	// Present are the current instances as far as the store knows: those of the observation, and the earlier ones of
	// sources that did not answer.
	Present *observation.Observation
	Changes int
	// StoredAt is the time of the observation in the store, if the store has one that is not older. Then nothing was
	// written. Differs reports whether its content differs.
	StoredAt time.Time
	Differs  bool
}

// Plan is a write with its changes, so that several attempts compute them once.
type Plan struct {
	Write
	present      *observation.Observation // as far as the state tells
	hash         string                   // of present
	previousHash string                   // "": the state contains nothing
	changes      []InstanceChange         // between Previous and present
}

// Prepare computes what all attempts to write share.
func (r Write) Prepare() *Plan {
	p := &Plan{Write: r, present: Carry(r.Previous, r.Observation)}
	p.hash = p.present.Hash()
	if r.Previous != nil {
		p.previousHash, p.changes = r.Previous.Hash(), Compare(r.Previous, p.present)
	}
	return p
}

// Expected returns the changes that a store writes after its last record if the state agrees with the store; none if it
// does not. The store can prepare for them before it loads the conditions of instances.
func (p *Plan) Expected(last Snapshot) []InstanceChange {
	if p.previousHash == "" || p.previousHash != last.Hash || !p.Observation.ObservedAt.After(last.ObservedAt) ||
		!last.IsAt(p.Observation.Repo, p.Observation.Branch, p.Observation.Path) {
		return nil
	}
	return p.changes
}

// Rows are the rows that a store writes.
type Rows struct {
	Write    bool   // false: the store has the observation already, or a newer one
	Complete bool   // the store did not contain what the state contains, so everything was compared
	Hash     string // of the observation
	Changes  []InstanceChange
	Result   WriteResult
}

// Rows returns the rows that a store writes after its last record. load returns the latest condition of each instance
// in some, or of all instances if some is nil, see [Compare].
//
// If state and store agree, only the instances that change are compared. Otherwise all are.
func (p *Plan) Rows(
	last Snapshot, load func(some []InstanceChange) (*observation.Observation, error),
) (Rows, error) {
	n := Rows{Hash: p.hash, Result: WriteResult{Present: p.present}}
	known := last.Hash == p.hash && last.ObservedAt.Equal(p.Observation.ObservedAt)
	switch {
	case last.Hash != "" && !last.IsAt(p.Observation.Repo, p.Observation.Branch, p.Observation.Path):
		return n, &PlaceError{Environment: p.Observation.Environment, Stored: last}
	case known:
		return n, nil
	case last.Hash != "" && !p.Observation.ObservedAt.After(last.ObservedAt):
		n.Result.StoredAt, n.Result.Differs = last.ObservedAt, last.Hash != p.hash
		return n, nil
	}
	n.Write, n.Complete = true, p.previousHash == "" || p.previousHash != last.Hash
	if !n.Complete && p.changes == nil {
		return n, nil
	}
	var some []InstanceChange
	if !n.Complete {
		some = p.changes
	}
	present, err := load(some)
	if err != nil {
		return n, err
	}
	if n.Complete {
		n.Result.Present = Carry(present, p.Observation)
		n.Changes = Compare(present, n.Result.Present)
		if n.Result.Present != p.present {
			n.Hash = n.Result.Present.Hash()
		}
	} else {
		n.Changes = Compare(Only(present, some), Only(p.present, some))
	}
	n.Result.Changes = Count(n.Changes)
	return n, nil
}

// IsAt reports whether the environment lies at a place.
func (l Snapshot) IsAt(repo, branch, path string) bool {
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

// StoredRuns contains the runs and versions of an environment in a store.
type StoredRuns struct {
	Environment   string
	RecordedUntil time.Time // zero: nothing was recorded
	Runs          []Run     // newest first
	Truncated     bool      // there are more runs than the limit
	Versions      []VersionCount
	// from Since on, and earlier ones that the evaluation of deliveries since then needs; oldest first
	Observed []RecordedVerdict
}

// VersionCount is a version of a deployment target on some clusters, at a moment.
type VersionCount struct {
	Target, Version, State string
	Clusters               int
	Since                  time.Time // the earliest
	// Workload and Workspace belong to the deployment target, if a descriptor names them. If several descriptors do, the
	// names that sort last count.
	Workload, Workspace string
}

// Compare sorts by target, version and state.
func (v VersionCount) Compare(other VersionCount) int {
	return cmp.Or(cmp.Compare(v.Target, other.Target), cmp.Compare(v.Version, other.Version),
		cmp.Compare(v.State, other.State))
}

// RecordedVerdict is the verdict about an environment in one record.
type RecordedVerdict struct {
	At             time.Time
	Head           string
	PromotedCommit string
	Verdict        string
	VerdictSince   time.Time
}

// PlaceError means that an environment in a store has another place than the observation.
type PlaceError struct {
	Environment string
	Stored      Snapshot
}

// Error implements error.
func (e *PlaceError) Error() string {
	return fmt.Sprintf("environment %q in the store is of branch %q, path %q, of %s; set environment to another name for "+
		"this place", e.Environment, e.Stored.Branch, e.Stored.Path, e.Stored.Repo)
}

// Errors of stores.
var (
	// ErrTooLarge means that a store has no room for as much.
	ErrTooLarge = errors.New("too large for this store; use the store postgres")
	// ErrUnavailable means that a store does not answer.
	ErrUnavailable = errors.New("the store does not answer")
)
