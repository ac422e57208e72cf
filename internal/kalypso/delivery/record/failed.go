package record

import (
	"cmp"
	"slices"
	"time"
)

// FailedAssignment is a deployment target that fails to render on a cluster type.
type FailedAssignment struct {
	ClusterType      string `json:"cluster_type,omitempty"` // empty: on every cluster type
	DeploymentTarget string `json:"deployment_target"`
	// Since is the time of the commit whose record listed it first, by RFC 3339. It is empty until then.
	Since string `json:"since,omitempty"`
}

// Compare orders assignments by cluster type and deployment target.
func (f FailedAssignment) Compare(other FailedAssignment) int {
	return cmp.Or(cmp.Compare(f.ClusterType, other.ClusterType), cmp.Compare(f.DeploymentTarget, other.DeploymentTarget))
}

func (f FailedAssignment) same(other FailedAssignment) bool { return f.Compare(other) == 0 }

// String names the assignment in lists.
func (f FailedAssignment) String() string {
	if f.ClusterType == "" {
		return f.DeploymentTarget
	}
	return f.ClusterType + " / " + f.DeploymentTarget
}

// Since returns since when an assignment fails to render, or "" if the record does not list it.
func (r *Record) Since(f FailedAssignment) string {
	if r == nil {
		return ""
	}
	for _, list := range [][]FailedAssignment{r.Kept, r.LeftOut} {
		if i, found := slices.BinarySearchFunc(list, f, FailedAssignment.Compare); found {
			return list[i].Since
		}
	}
	return ""
}

// FailsSince returns since when a deployment target fails to render on a cluster type, or "" if the record does not
// list it. If the cluster type is empty, it returns the earliest time of any.
func (r *Record) FailsSince(clusterType, target string) (since string) {
	for _, f := range slices.Concat(r.Kept, r.LeftOut) {
		if f.DeploymentTarget == target && (clusterType == "" || f.ClusterType == clusterType) && f.Since != "" &&
			(since == "" || f.Since < since) {
			since = f.Since
		}
	}
	return since
}

// SetSince sets since when the assignments fail: as before, or since the commit of the record.
func (r *Record) SetSince(before *Record, committed time.Time) {
	for _, list := range [][]FailedAssignment{r.Kept, r.LeftOut} {
		for i := range list {
			list[i].Since = cmp.Or(before.Since(list[i]), list[i].Since, committed.UTC().Format(time.RFC3339))
		}
	}
}
