// Package record reads and writes the files of a rendering beside its folders: the record, which lists the folders that
// it owns, and the file of the promoted commit.
package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule/placement"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// File is the path of the record below a rendering's path.
const File = destination.RecordFile

// PromotedCommitFile is the path of the file with the promoted commit, from the repo's root. All renderings of a branch
// share it.
const PromotedCommitFile = ".github/tracking/Promoted_Commit_Id"

const version = 1

// Record says which folders at a path belong to a rendering. It is committed with the tree.
type Record struct {
	Version        int      `json:"version"`
	Environment    string   `json:"environment"`
	ClusterTypes   []string `json:"cluster_types"`             // the folders, sorted
	PromotedCommit string   `json:"promoted_commit,omitempty"` // empty if there is none
	// Promotion is the reason why that commit was promoted. It is zero if the reason is unknown.
	Promotion promotion.Reason `json:"promotion,omitzero"`
	// Promoting is the reason of the commit of an incomplete rollout. With the last wave it becomes Promotion.
	Promoting promotion.Reason `json:"promoting,omitzero"`
	// Origins are the files that the objects were read from: repo@branch:path[#name], or repo@commit:path[#name]; sorted.
	Origins []string `json:"origins,omitempty"`
	// Sources are the commits at which the folders of the origins were read.
	Sources origin.Sources `json:"sources,omitempty"`
	// Verified are the signers of the commits in Sources and of the promoted one, as far as they were verified.
	Verified map[string]string `json:"verified,omitempty"`
	// Decisions are the decisions of placement, which the next run keeps.
	Decisions placement.Decisions `json:"decisions,omitempty"`
	// Rollout is the progress of the tree in waves; nil: the whole tree is on the branch.
	Rollout *rollout.Progress `json:"rollout,omitempty"`
	// Kept are the assignments that fail to render and whose folders stay on the branch. LeftOut are those that fail
	// and that it did not contain.
	Kept    []FailedAssignment `json:"kept,omitempty"`
	LeftOut []FailedAssignment `json:"left_out,omitempty"`
}

// New returns the record of a rendering.
func New(
	environment string, clusterTypes []string, promotedCommit string, origins []string, sources origin.Sources,
) Record {
	r := Record{
		Version: version, Environment: environment, ClusterTypes: slices.Sorted(slices.Values(clusterTypes)),
		PromotedCommit: promotedCommit, Origins: slices.Sorted(slices.Values(origins)), Sources: sources,
	}
	if r.ClusterTypes == nil {
		r.ClusterTypes = []string{}
	}
	return r
}

// Marshal returns the bytes of the record's file.
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

// Hash returns the hash of the record's blob.
func (r Record) Hash() string { return blobHash(r.Marshal()) }

// PromotedCommitHash returns the hash of the blob of [PromotedCommitFile] with a commit.
func PromotedCommitHash(commit string) string { return blobHash([]byte(commit)) }

func blobHash(text []byte) string { return plumbing.ComputeHash(plumbing.BlobObject, text).String() }

// ErrNewer means that a newer version of the provider wrote a record. What such a record says is unknown, so nothing
// may be written beside it or in place of it.
var ErrNewer = errors.New("a newer version of the provider wrote it")

// Parse reads a record. The rendering removes the folders that it lists. So it rejects names that lead out of
// the path. The error of a record of a newer version is [ErrNewer].
func Parse(data []byte) (Record, error) {
	var r Record
	err := json.Unmarshal(data, &r)
	if err != nil { // a newer version may have fields of other types
		var only struct {
			Version int `json:"version"`
		}
		if json.Unmarshal(data, &only) == nil {
			r.Version = only.Version
		}
	}
	var wrong *json.UnmarshalTypeError // its text has Go's types
	switch {
	case r.Version > version:
		return r, fmt.Errorf("%w: it has version %d, and this provider supports version %d; upgrade the provider",
			ErrNewer, r.Version, version)
	case errors.As(err, &wrong):
		return r, fmt.Errorf("it was changed (%s is of the wrong type: %s); restore it from the branch's history",
			cmp.Or(wrong.Field, "the whole file"), wrong.Value)
	case err != nil:
		return r, fmt.Errorf("it was changed (%w); restore it from the branch's history", err)
	}
	for _, name := range r.ClusterTypes {
		if len(validation.IsDNS1123Subdomain(name)) > 0 {
			return r, fmt.Errorf("%q in it is not the folder of a cluster type; restore it from the branch's history", name)
		}
	}
	for _, text := range []string{r.Environment, r.PromotedCommit} {
		if printable.Line(text) != text {
			return r, fmt.Errorf("%q in it has control characters; restore it from the branch's history", text)
		}
	}
	if r.Version < version || r.Environment == "" {
		return r, errors.New("it lacks its version or environment; restore it from the branch's history")
	}
	return r, nil
}

// Same reports whether both are equal. It ignores origins, sources, signers and the reason of the promotion: a change
// of them alone makes no commit.
func (r Record) Same(other Record) bool {
	return r.Environment == other.Environment && r.PromotedCommit == other.PromotedCommit &&
		slices.Equal(r.ClusterTypes, other.ClusterTypes) && r.Decisions.Equal(other.Decisions) &&
		r.Rollout.UnderWay() == other.Rollout.UnderWay() && r.SameFailures(other)
}

// SameExceptFailures reports whether both are equal, except for the assignments that fail to render.
func (r Record) SameExceptFailures(other Record) bool {
	r.Kept, r.LeftOut, other.Kept, other.LeftOut = nil, nil, nil, nil
	return r.Hash() == other.Hash()
}

// SameFailures reports whether both list the same assignments that fail to render.
func (r Record) SameFailures(other Record) bool {
	return slices.EqualFunc(r.Kept, other.Kept, FailedAssignment.same) &&
		slices.EqualFunc(r.LeftOut, other.LeftOut, FailedAssignment.same)
}
