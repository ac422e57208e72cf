package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
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
	// RemovalSteps describes for people how to remove the records of an environment after a time, for example because the
	// clock was ahead. The next record then continues from that time. RemovalSteps contacts no server.
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
	// Previous is the last recorded observation according to the state, or nil.
	Previous   *observation.Observation
	Deliveries []Delivery // ignored by a store without a table of deliveries
}

// WriteResult is the result of a write.
type WriteResult struct {
	// Present contains the current instances as far as they are known: the instances of the observation, and for sources
	// that did not answer the last known instances.
	Present *observation.Observation
	Changes int
	// StoredAt is set if nothing was written, because the store already has an observation that is not older. It is the
	// time of that observation. Differs reports whether its content differs.
	StoredAt time.Time
	Differs  bool
}

// Plan is a write with its changes, so that these are computed once for all attempts.
type Plan struct {
	Write
	present      *observation.Observation // as far as the state knows
	hash         string                   // of present
	previousHash string                   // "": the state contains nothing
	changes      []InstanceChange         // between Previous and present
}

// Prepare computes the part of a write that is the same in all attempts.
func (r Write) Prepare() *Plan {
	p := &Plan{Write: r, present: Carry(r.Previous, r.Observation)}
	p.hash = p.present.Hash()
	if r.Previous != nil {
		p.previousHash, p.changes = r.Previous.Hash(), Compare(r.Previous, p.present)
	}
	return p
}

// Rows are the rows that a store writes.
type Rows struct {
	Write    bool   // false if the store already has this observation or a newer one
	Complete bool   // state and store disagreed, so all instances were compared
	Hash     string // of the observation
	Changes  []InstanceChange
	Result   WriteResult
}

// Rows returns the rows that a store writes after its last record. load returns the latest condition of each instance
// in some, or of all instances if some is nil, see [Compare].
//
// If state and store agree, it compares only the instances that change. Otherwise it compares all instances.
func (p *Plan) Rows(
	last Snapshot, load func(some []InstanceChange) (*observation.Observation, error),
) (Rows, error) {
	n := Rows{Hash: p.hash, Result: WriteResult{Present: p.present}}
	known := last.Hash == p.hash && last.ObservedAt.Equal(p.Observation.ObservedAt)
	switch {
	case last.Hash != "" && !last.IsAt(p.Observation.Repo, p.Observation.Branch, p.Observation.Path):
		return n, fmt.Errorf("environment %q in the store belongs to branch %q, path %q, of %s; %w",
			p.Observation.Environment, last.Branch, last.Path, last.Repo, ErrPlace)
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
		n.Changes = Compare(only(present, some), only(p.present, some))
	}
	n.Result.Changes = Count(n.Changes)
	return n, nil
}

// IsAt reports whether the environment lies at a place.
func (l Snapshot) IsAt(repo, branch, path string) bool {
	return destination.Destination{Repo: l.Repo, Branch: l.Branch, Path: l.Path}.Same(
		destination.Destination{Repo: repo, Branch: branch, Path: path})
}

// Query selects the runs and versions to read.
type Query struct {
	Environment string // "": find it by its place
	// Repo, Branch and Path are the place of the environment.
	Repo, Branch, Path string
	// The result contains the runs that overlap [Since, Until), and the versions at Until.
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
	// Observed lists the verdicts since Since, and the earlier verdicts that are needed to evaluate the deliveries since
	// Since, oldest first.
	Observed []RecordedVerdict
}

// VersionCount is a version of a deployment target on some clusters, at a moment.
type VersionCount struct {
	Target         string `json:"deployment_target" attribute:"deployment_target,empty"`
	Version, State string
	Clusters       int
	Since          time.Time // the earliest
	// Workload and Workspace belong to the deployment target, if a descriptor names them. If several descriptors name
	// them, the names that sort last are used.
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

// Errors of stores.
var (
	// ErrTooLarge means that a store has no room for so much data.
	ErrTooLarge = errors.New("too large for this store; use the store postgres")
	// ErrPlace means that the place of an environment differs between the store and the observation. It is the end of an
	// error.
	ErrPlace = errors.New("set environment to another name")
	// ErrUnavailable means that a store does not answer.
	ErrUnavailable = errors.New("the store does not answer")
)
