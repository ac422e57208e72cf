// Package deployment decides whether clusters run the tree of a GitOps branch. It compares the clusters' reports with
// the history of the branch and with the expected clusters, and returns a verdict for each cluster type folder and one
// for all of them. It does no I/O. The packages below it read the branch and the sources of reports.
//
// An unclear report never counts as a success. It counts as progressing, stale or missing, and becomes a [Problem].
package deployment

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/limit"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
)

// ErrNoAnswer means that a source did not answer in time, so its clusters are unknown.
var ErrNoAnswer = errors.New("no answer in time")

// Health is the health of an object that syncs a folder to a cluster, as its source reports it.
type Health string

// The values of [Health].
const (
	Healthy     Health = "current"     // synced, and everything in it is healthy
	Progressing Health = "progressing" // not synced or not healthy yet
	Failed      Health = "failed"
	Suspended   Health = "suspended"
	Offline     Health = "offline" // the cluster is disconnected or does not answer
	// Elsewhere marks an object that would sync the folder, but from something else than the branch. It is no report of
	// the folder: its message is the reason if the cluster has none.
	Elsewhere Health = "elsewhere"
)

// ReportStates lists the values of [Health] that a user may set as the state of a report.
var ReportStates = []Health{Healthy, Progressing, Failed, Suspended}

// WorseThan reports whether this health decides over another one, if an object depends on both.
func (h Health) WorseThan(other Health) bool {
	return severity[ClusterState(h)] > severity[ClusterState(other)]
}

// ParseTime returns a time as Kubernetes writes it, or the zero time.
func ParseTime(text string) time.Time {
	at, _ := time.Parse(time.RFC3339, text) // zero if it fails
	return at
}

// Report is the report of a source on one object on one cluster.
type Report struct {
	Cluster string
	// Folder contains the path of the cluster type's folder that the cluster follows, relative to the rendering's path.
	// It is "" with Offline if the source does not know it.
	Folder string
	// Object names the reporting object on the cluster, such as "Kustomization flux-system/fleet". "" means the whole
	// cluster.
	Object string
	// Revision is the synced revision, as branch@sha1:hash, branch/hash or a hash; see [ParseRevision].
	Revision string
	Health   Health `attribute:"state"`
	// Nested marks an object that the folder contains. Its health counts. Its Revision is not one of the branch: it is
	// the revision that the object applied, if [Rendering.Versions] is set.
	Nested bool
	// Recorded marks a report that was stored before this run, so that [Rules.StaleAfter] limits its age.
	Recorded bool
	Message  string
	Targets  []TargetReport // the reports on deployment targets

	// Time is the time of the report. Zero means that the source was queried just now.
	Time time.Time
	// Since is the time from which Health applies. It does not move while a controller reconciles or retries. Zero
	// means unknown, or since the folder's last commit.
	Since time.Time
	// Now is the current time of the clock that set Time and Since.
	Now time.Time
}

// Printable returns the report with escapes for control characters and invalid UTF-8 in all texts: a cluster or a file
// may report any text, and a store refuses some.
func (r Report) Printable() Report {
	r.Cluster, r.Folder, r.Object = printable.Line(r.Cluster), printable.Line(r.Folder), printable.Line(r.Object)
	r.Revision, r.Message = printable.Text(r.Revision), printable.Text(r.Message)
	r.Targets = lists.Map(r.Targets, func(t TargetReport) TargetReport {
		return TargetReport{
			Name: printable.Line(t.Name), Revision: printable.Text(t.Revision), Version: printable.Text(t.Version),
			Health: t.Health, Message: printable.Text(t.Message),
		}
	})
	return r
}

// TargetReport is a cluster's report on a deployment target.
type TargetReport struct {
	Name     string
	Revision string // of the target's own repo, as in [ParseRevision], or of a chart or artifact; "": unknown
	Version  string // "": unknown
	Health   Health `attribute:"state"` // "": that of the cluster
	Message  string
}

// ClusterState is the state of one cluster in one folder.
type ClusterState string

// The values of [ClusterState]. [Counts] counts all but StateUnexpected.
const (
	StateCurrent     ClusterState = "current"
	StateProgressing ClusterState = "progressing"
	StateFailed      ClusterState = "failed"
	StateSuspended   ClusterState = "suspended"
	StateStale       ClusterState = "stale"
	StateOffline     ClusterState = "offline"
	StateMissing     ClusterState = "missing"
	// StateUnexpected marks a cluster that is listed as a problem but not counted.
	StateUnexpected ClusterState = "unexpected"
)

// Verdict is the verdict on the deployment of one folder, or of all folders.
type Verdict string

// The values of [Verdict].
const (
	Success Verdict = "success"
	Pending Verdict = "pending"
	Failure Verdict = "failure"
)

// Expectation lists the clusters that must follow a folder.
type Expectation struct {
	Clusters []string // their names; empty: any cluster that reports
	Minimum  *int     // number of current clusters; nil: one
}

// The defaults of [Rules].
const (
	DefaultDeadline   = time.Hour
	DefaultStaleAfter = time.Hour
)

// MaxSkew limits how far the time of a report or a commit status may be ahead of its server's clock, because the clocks
// of a server's machines differ.
const MaxSkew = 5 * time.Minute

// Rules configure how verdicts are decided.
type Rules struct {
	Expected       map[string]Expectation `attribute:"-"`                 // by cluster type; default: one cluster each
	Deadline       time.Duration          `attribute:"progress_deadline"` // after which progressing counts as failed
	StaleAfter     time.Duration          // age at which a recorded report counts as stale
	MaxFailed      limit.Limit            // of a folder's clusters: failed
	MaxUnavailable limit.Limit            // of a folder's clusters: stale, offline, suspended or missing
}

// Printable returns the rules with the names of clusters escaped as in [Report.Printable].
func (r Rules) Printable() Rules {
	r.Expected = maps.Clone(r.Expected)
	for folder, expected := range r.Expected {
		expected.Clusters = lists.Map(expected.Clusters, printable.Line)
		r.Expected[folder] = expected
	}
	return r
}

// GitOpsBranch describes the part of a GitOps branch that belongs to a rendering.
type GitOpsBranch struct {
	Name           string
	Environment    string // from the record
	Head           string // full hash; "": the branch or its record does not exist
	PromotedCommit string // from the record; "": none
	Complete       bool   // no rollout is in progress
	Folders        map[string]ExpectedFolder
	History        *History // of the folders; nil without a head
}

// ExpectedFolder describes the folder of a cluster type at the branch's head.
type ExpectedFolder struct {
	Tree    string   // hash; "": the record lists the folder but the branch lacks it
	Targets []string // deployment targets, sorted
}

// Input contains everything that decides the verdicts.
type Input struct {
	Branch     GitOpsBranch
	Reports    []Report
	Unanswered []string // display names of the sources that did not answer
	Rules      Rules

	// Instances is called with the instances of each counted cluster, in any order; it may be nil.
	Instances func(Instance)
	// TargetOf returns the deployment target whose folder contains an object, named as in [Report.Object]; "": none. It
	// is only called for Instances.
	TargetOf func(folder, object string) string

	reported map[place]bool             // for instances: they got the cluster's reports on the folder
	listed   map[string]map[string]bool // the keys of the expected clusters, by folder
}

// Counts contains the number of a folder's clusters in each state.
type Counts struct {
	Total, Current, Progressing, Failed, Suspended, Stale, Offline, Missing int
	// Failing counts the progressing clusters that report a failure: they become failed at the deadline.
	Failing int
}

// FolderState contains the verdict of a folder and the counts that led to it.
type FolderState struct {
	Tree string `attribute:"tree_hash"`
	Counts
	Verdict Verdict
	Since   time.Time // the time at which the verdict was reached, as far as reports show; zero: unknown
}

// Failure says that a folder fails, and since when.
func (f FolderState) Failure(name string) string {
	if f.Since.IsZero() {
		return fmt.Sprintf("folder %q fails", printable.Line(name))
	}
	return fmt.Sprintf("folder %q has been failing since %s", printable.Line(name), clock.Stamp(f.Since))
}

// Problem describes a cluster or a folder that is not current.
type Problem struct {
	Cluster  string // "": the whole folder
	Folder   string // "": the whole cluster
	State    ClusterState
	Revision string
	Message  string
	Failing  bool // as in [Counts]
}

// Observation is the state of the clusters at a time, as an argument observed passes it.
type Observation struct {
	Head     string                 // the commit of the GitOps branch that was observed; "": unknown
	At       time.Time              `attribute:"observed_at"`
	Verdict  Verdict                // of all folders
	Folders  map[string]FolderState // by cluster type
	Problems []Problem
}

// Followed describes a folder that a cluster follows.
type Followed struct {
	Folder   string `attribute:",empty"`
	Revision string
	State    ClusterState
}

// TargetCount counts the clusters of a deployment target. It is current with the folder that contains it, unless the
// cluster reports that the target itself has failed. Failed are those that report a failure of either, before the
// deadline too.
type TargetCount struct {
	Current, Failed, Total int
	Versions               map[string]int // the clusters by the version that they run; nil: unknown
}

// Outcome contains the state of a deployment.
type Outcome struct {
	Verdict  Verdict
	Summary  string
	Folders  map[string]FolderState
	Problems []Problem // all of them, sorted; see [MaxProblems]
	Targets  map[string]TargetCount
	Clusters map[string][]Followed
}

// MaxProblems limits how many problems are shown.
const MaxProblems = 100

// Rendering names the folders that a source reports on.
type Rendering struct {
	Repo    string // URL, in any form
	Branch  string
	Path    string   // of the rendering, relative to the repo's root, clean
	Folders []string // cluster types, sorted
	Head    string   // full hash of the branch's commit
	// Versions asks for the revisions that nested objects applied.
	Versions bool
	// Tree returns the hash of a folder at Head, or "".
	Tree func(folder string) string
	// Files returns the contents of the YAML files in a folder at head, by path. It is safe for concurrent use.
	Files func(folder string) (map[string][]byte, error)
}

// FolderOf turns a path below the repo's root into one below the rendering's path. ok is false if it is not below that.
func (r Rendering) FolderOf(from string) (folder string, ok bool) {
	clean := strings.TrimPrefix(path.Clean("/"+from), "/")
	if r.Path == "." {
		return clean, clean != ""
	}
	folder, ok = strings.CutPrefix(clean, r.Path+"/")
	return folder, ok && folder != ""
}

// FirstSource returns the index of the source of an Argo CD Application that gives its version: the first one with a
// path, or else the first one.
func FirstSource[S any](sources []S, path func(S) string) int {
	return max(0, slices.IndexFunc(sources, func(s S) bool { return path(s) != "" }))
}
