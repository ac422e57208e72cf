// Package observation describes which versions of deployment targets the clusters of an environment ran at a moment,
// and in which states. It encodes an observation as a short text, so that Terraform handles one value instead of one
// for each cluster and target. It is a pure function of its input.
package observation

import (
	"cmp"
	"slices"
	"time"
)

// Observation contains the instances on the clusters of an environment at a moment.
type Observation struct {
	Environment string `json:"environment,omitempty"` // from the record on the branch
	// Repo, Branch and Path locate the rendering in the GitOps repo.
	Repo           string    `json:"gitops_repo,omitempty"`
	Branch         string    `json:"branch,omitempty"`
	Path           string    `json:"path,omitempty"`
	ObservedAt     time.Time `json:"-"`                         // in milliseconds
	Head           string    `json:"head,omitempty"`            // commit of the branch
	PromotedCommit string    `json:"promoted_commit,omitempty"` // "": none
	Verdict        string    `json:"verdict,omitempty"`         // success, pending or failure
	VerdictSince   time.Time `json:"-"`                         // zero: unknown
	// Unanswered lists the sources that did not answer, sorted. Their objects are missing here, but they may still run.
	Unanswered []string `json:"unanswered,omitempty"`
	// Groups contain the instances. An instance is one deployment target on one cluster, through one cluster type. Each
	// instance belongs to one group. If several groups contain it, the encoding keeps only the first.
	Groups []Group `json:"-"`
}

// Group contains the instances at a place that run the same version in the same state.
type Group struct {
	Place
	Condition
	Members []Member
}

// Place names a deployment target of a cluster type.
type Place struct {
	ClusterType string `json:"cluster_type"`
	// Target is "" for the folder of the cluster type itself.
	Target string `json:"deployment_target" attribute:"deployment_target,empty"`
}

// Compare sorts by cluster type and target.
func (p Place) Compare(other Place) int {
	return cmp.Or(cmp.Compare(p.ClusterType, other.ClusterType), cmp.Compare(p.Target, other.Target))
}

// Condition is the version and the state of an instance.
type Condition struct {
	Version Version `json:",embed"`
	State   string  `json:"state"` // as in a deployment.State
}

// Version identifies what an instance runs. Empty fields are unknown; the zero value belongs to an instance that
// reports nothing.
type Version struct {
	Version string `json:"version,omitempty"` // for people
	// Content identifies what runs: two commits with equal content are one version. It is the hash of a tree, a
	// revision of a chart or artifact, or a commit whose tree could not be read.
	Content     string    `json:"content,omitempty"`
	Commit      string    `json:"commit,omitempty"`
	CommittedAt time.Time `json:"committed_at,omitzero"`
	Repo        string    `json:"repo,omitempty"`
	Path        string    `json:"path,omitempty"`
	Workload    string    `json:"workload,omitempty"`
	Application string    `json:"application,omitempty"`
	Workspace   string    `json:"workspace,omitempty"`
	Build       string    `json:"build,omitempty"`
	BuiltAt     time.Time `json:"built_at,omitzero"`
}

// shortHash is the number of digits of a commit or tree that is used as a version if there is no better one.
const shortHash = 12

// Short returns the first digits of a hash.
func Short(hash string) string { return hash[:min(len(hash), shortHash)] }

// OfCommit reports whether the version is the start of the commit's hash. Such a version changes with each commit, even
// if the content stays the same.
func (v Version) OfCommit() bool { return v.Commit != "" && v.Version == Short(v.Commit) }

// Identity returns v with only the fields whose change means that something else runs: the content and the version. The
// version is left out if it is only a part of the commit's hash, see [Version.OfCommit].
func (v Version) Identity() Version {
	if v.OfCommit() {
		return Version{Content: v.Content}
	}
	return Version{Content: v.Content, Version: v.Version}
}

// Member is one cluster of a group.
type Member struct {
	Cluster string
	// Since is the time at which the state began or, if that is unknown, at which the cluster reported it. It is in
	// milliseconds of Unix time; 0 means unknown.
	Since   int64
	Message string // why the instance is not current; "": it is, or no reason is known
}

// Time converts a [Member.Since] to a time. It returns the zero time for 0.
func Time(since int64) time.Time {
	if since == 0 {
		return time.Time{}
	}
	return time.UnixMilli(since).UTC()
}

// Millis converts a time to a [Member.Since].
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// compareGroups orders groups by all fields of their key.
func compareGroups(a, b Group) int {
	return cmp.Or(
		a.Compare(b.Place), compareVersions(a.Version, b.Version), cmp.Compare(a.State, b.State),
	)
}

func compareVersions(a, b Version) int {
	return cmp.Or(
		cmp.Compare(a.Version, b.Version), cmp.Compare(a.Content, b.Content), cmp.Compare(a.Commit, b.Commit),
		a.CommittedAt.Compare(b.CommittedAt), cmp.Compare(a.Repo, b.Repo), cmp.Compare(a.Path, b.Path),
		cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Application, b.Application),
		cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Build, b.Build), a.BuiltAt.Compare(b.BuiltAt),
	)
}

// Sort orders the groups and their members, and merges groups that differ only in their members.
func (o *Observation) Sort() {
	slices.SortStableFunc(o.Groups, compareGroups)
	var sorted []Group
	for _, g := range o.Groups {
		if n := len(sorted); n > 0 && compareGroups(sorted[n-1], g) == 0 {
			g.Members = slices.Concat(sorted[n-1].Members, g.Members)
			sorted = sorted[:n-1]
		}
		sorted = append(sorted, g)
	}
	for i, g := range sorted {
		if !slices.IsSortedFunc(g.Members, compareMembers) {
			sorted[i].Members = slices.SortedFunc(slices.Values(g.Members), compareMembers)
		}
	}
	o.Groups = slices.DeleteFunc(sorted, func(g Group) bool { return len(g.Members) == 0 })
}

func compareMembers(a, b Member) int {
	return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Since, b.Since), cmp.Compare(a.Message, b.Message))
}
