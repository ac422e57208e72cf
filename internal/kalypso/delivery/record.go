package delivery

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/rollout"
)

// RecordFile is the path of the record below a rendering's path.
const RecordFile = ".kalypso/rendering.json"

const recordVersion = 1

// Record says which folders at a path belong to a rendering. It is committed with the tree.
type Record struct {
	Version        int      `json:"version"`
	Environment    string   `json:"environment"`
	ClusterTypes   []string `json:"cluster_types"`             // the folders, sorted
	PromotedCommit string   `json:"promoted_commit,omitempty"` // empty if there is none
	// Promotion says why that commit was promoted. It is nil if the reason is unknown.
	Promotion *Promotion `json:"promotion,omitempty"`
	// Promoting says why the commit of the rollout under way is taken. With the last wave it becomes Promotion.
	Promoting *Promotion `json:"promoting,omitempty"`
	// Origins are the files that the objects were read from: repo@branch:path[#name], or repo@commit:path[#name]; sorted.
	Origins []string `json:"origins,omitempty"`
	// Sources are the commits at which the folders of the origins were read.
	Sources origin.Sources `json:"sources,omitempty"`
	// Decisions are the decisions of placement, which the next run keeps.
	Decisions placement.Decisions `json:"decisions,omitempty"`
	// Rollout is how far the tree reached the cluster types in waves; nil: all of it is on the branch.
	Rollout *rollout.Progress `json:"rollout,omitempty"`
	// Kept are the assignments that fail to render and are as the branch held them before. LeftOut are those that fail
	// and that it did not hold.
	Kept    []FailedAssignment `json:"kept,omitempty"`
	LeftOut []FailedAssignment `json:"left_out,omitempty"`
}

// NewRecord returns the record of a rendering.
func NewRecord(
	environment string, clusterTypes []string, promotedCommit string, origins []string, sources origin.Sources,
) Record {
	r := Record{
		Version: recordVersion, Environment: environment, ClusterTypes: slices.Sorted(slices.Values(clusterTypes)),
		PromotedCommit: promotedCommit, Origins: slices.Sorted(slices.Values(origins)), Sources: sources,
	}
	if r.ClusterTypes == nil {
		r.ClusterTypes = []string{}
	}
	return r
}

// Marshal returns the record as committed.
func (r Record) Marshal() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		panic(err) // strings always marshal
	}
	return b.Bytes()
}

// hash returns the hash of the record's blob.
func (r Record) hash() string { return blobHash(r.Marshal()) }

// blobHash returns the Git hash of a file with the text.
func blobHash(text []byte) string { return plumbing.ComputeHash(plumbing.BlobObject, text).String() }

// ParseRecord reads a record. The rendering removes the folders that it lists. So it rejects names that lead out of
// the path.
func ParseRecord(data []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("it was changed (%w); restore it from the branch's history", err)
	}
	if r.Version > recordVersion {
		return r, fmt.Errorf(
			"it has version %d, and this provider supports version %d; use a newer provider", r.Version, recordVersion)
	}
	for _, name := range r.ClusterTypes {
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			return r, fmt.Errorf("%q in it is not the folder of a cluster type; restore it from the branch's history", name)
		}
	}
	if r.Version < recordVersion || r.Environment == "" {
		return r, errors.New("it lacks its version or environment; restore it from the branch's history")
	}
	return r, nil
}

// same reports whether both are equal. It ignores origins, sources and the reason of the promotion: a change of them
// alone makes no commit.
func (r Record) same(other Record) bool {
	return r.Environment == other.Environment && r.PromotedCommit == other.PromotedCommit &&
		slices.Equal(r.ClusterTypes, other.ClusterTypes) && r.Decisions.Equal(other.Decisions) &&
		r.Rollout.UnderWay() == other.Rollout.UnderWay() && r.sameFailures(other)
}

// sameFailures reports whether both list the same assignments that fail to render.
func (r Record) sameFailures(other Record) bool {
	return slices.EqualFunc(r.Kept, other.Kept, FailedAssignment.same) &&
		slices.EqualFunc(r.LeftOut, other.LeftOut, FailedAssignment.same)
}

// failsSince returns since when an assignment fails to render, or "" if the record does not list it.
func (r *Record) failsSince(f FailedAssignment) string {
	if r == nil {
		return ""
	}
	for _, list := range [][]FailedAssignment{r.Kept, r.LeftOut} {
		if i, found := slices.BinarySearchFunc(list, f, FailedAssignment.compare); found {
			return list[i].Since
		}
	}
	return ""
}

// FailsSince returns since when a deployment target fails to render on a cluster type, or "" if the record does not
// list it. If the cluster type is empty, it returns the earliest time of any.
func (r *Record) FailsSince(clusterType, target string) (since string) {
	if clusterType != "" {
		return r.failsSince(FailedAssignment{ClusterType: clusterType, DeploymentTarget: target})
	}
	for _, f := range slices.Concat(r.Kept, r.LeftOut) {
		if f.DeploymentTarget == target && f.Since != "" && (since == "" || f.Since < since) {
			since = f.Since
		}
	}
	return since
}

// setSince sets since when the assignments fail: as before, or since the commit of the record.
func (r *Record) setSince(before *Record, committed time.Time) {
	for _, list := range [][]FailedAssignment{r.Kept, r.LeftOut} {
		for i := range list {
			list[i].Since = cmp.Or(before.failsSince(list[i]), list[i].Since, committed.UTC().Format(time.RFC3339))
		}
	}
}
