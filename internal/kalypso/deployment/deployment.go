// Package deployment judges whether the tree of a GitOps branch runs: what clusters report, held against the branch's
// history and what is expected, gives a verdict per cluster type folder and one of the whole. It does no I/O. The packages
// below it read the branch and the sources of reports.
//
// What is unclear never makes a success: it counts as progressing, stale or missing, and is named.
package deployment

import (
	"errors"
	"path"
	"strings"
	"time"
)

// ErrNoAnswer means that a source did not answer in time: nothing is known of it this time.
var ErrNoAnswer = errors.New("no answer in time")

// Health is what a source says of an object that syncs a folder to a cluster.
type Health string

// The values of [Health].
const (
	Healthy     Health = "current"     // it is synced, and what it synced is healthy
	Progressing Health = "progressing" // it is on its way
	Failed      Health = "failed"
	Suspended   Health = "suspended"
	Offline     Health = "offline" // the cluster is not connected, or does not answer
)

// ReportStates are the values of [Health] that people hand in as the state of a report.
var ReportStates = []Health{Healthy, Progressing, Failed, Suspended}

// Report is what a source says of one object on one cluster.
type Report struct {
	Cluster string
	// Folder is the cluster type's folder that the cluster follows, by its path below the rendering's. "" with Offline:
	// the source can't tell.
	Folder string
	// Object names what on the cluster says so, such as "Kustomization flux-system/fleet"; "": the cluster as a whole.
	Object string
	// Revision is what was synced: branch@sha1:hash, branch/hash or a hash; see [ParseRevision].
	Revision string
	Health   Health
	// Within says that the object stands in the folder: its health counts, and it has no revision of the branch.
	Within  bool
	Message string

	// Time is when the cluster said so. Zero: the source was asked just now.
	Time time.Time
	// Since is the last transition of the condition behind Health. Zero: not known.
	Since time.Time
	// Now is the time by the clock that Time and Since are of.
	Now time.Time
	// Kept says that the report was kept by somebody, so that [Rules.StaleAfter] bounds its age.
	Kept bool
}

// State is what one cluster counts as in one folder.
type State string

// The states, as the table of a folder's counts has them.
const (
	StateCurrent     State = "current"
	StateProgressing State = "progressing"
	StateFailed      State = "failed"
	StateSuspended   State = "suspended"
	StateStale       State = "stale"
	StateOffline     State = "offline"
	StateMissing     State = "missing"
	// StateUnexpected is a cluster that is named and not counted.
	StateUnexpected State = "unexpected"
)

// Verdict of a folder, or of all.
type Verdict string

// The verdicts.
const (
	Success Verdict = "success"
	Pending Verdict = "pending"
	Failure Verdict = "failure"
)

// Expectation says which clusters have to follow a folder.
type Expectation struct {
	Clusters []string // by name; none: whoever reports
	Minimum  *int     // of clusters that are current; nil: one
}

// Defaults of [Rules].
const (
	DefaultDeadline   = time.Hour
	DefaultStaleAfter = time.Hour
)

// MaxSkew is how far in the future of its own clock a report may be.
const MaxSkew = 5 * time.Minute

// Rules are what a verdict is found by.
type Rules struct {
	Expected       map[string]Expectation // by cluster type; none: one cluster of each
	Deadline       time.Duration          // until what is progressing counts as failed
	StaleAfter     time.Duration          // of kept reports
	MaxFailed      Limit                  // of a folder's clusters
	MaxUnavailable Limit                  // of a folder's clusters: stale, offline, suspended or missing
}

// Branch is what a GitOps branch holds of a rendering.
type Branch struct {
	Name           string
	Head           string // full hash; "": the branch, or the record on it, is not there
	PromotedCommit string // of the record; "": none
	Complete       bool   // no rollout is under way
	Folders        map[string]Folder
	History        *History // of the folders; nil where there is no head
}

// Folder is the folder of a cluster type at the branch's head.
type Folder struct {
	Tree    string   // hash; "": the record lists it, and the branch does not hold it
	Targets []string // its deployment targets, sorted
}

// World is all that a verdict follows from.
type World struct {
	Branch     Branch
	Reports    []Report
	Unanswered []string // the sources that did not answer, for people
	Rules      Rules
}

// Counts of a folder's clusters.
type Counts struct {
	Total, Current, Progressing, Failed, Suspended, Stale, Offline, Missing int
}

// FolderState is the verdict of a folder, and how it came about.
type FolderState struct {
	Tree string
	Counts
	Verdict Verdict
	Since   time.Time // when it came to its verdict, as far as reports say; zero: they do not
}

// Problem is one thing that is named.
type Problem struct {
	Cluster  string // "": the folder as a whole
	Folder   string // "": the cluster as a whole
	State    State
	Revision string
	Message  string
}

// Followed is what a cluster follows.
type Followed struct {
	Folder   string
	Revision string
	State    State
}

// TargetCount says on how many clusters a deployment target is current.
type TargetCount struct{ Current, Total int }

// Outcome is the state of a deployment.
type Outcome struct {
	Verdict  Verdict
	Summary  string
	Folders  map[string]FolderState
	Problems []Problem // all of them, in their order; see [MaxProblems]
	Targets  map[string]TargetCount
	Clusters map[string][]Followed
}

// MaxProblems is how many problems are shown.
const MaxProblems = 100

// Rendering is what a source is asked about.
type Rendering struct {
	Repo    string // URL, in any form
	Branch  string
	Path    string   // of the rendering, from the repo's root, clean
	Folders []string // its cluster types, sorted
	// Files are the contents of the YAML files in a folder at head, by path. It may be called side by side.
	Files func(folder string) (map[string][]byte, error)
}

// FolderOf is a path from the repo's root as one below the rendering's path. ok is false where it lies elsewhere.
func (r Rendering) FolderOf(from string) (folder string, ok bool) {
	clean := strings.TrimPrefix(path.Clean("/"+from), "/")
	if r.Path == "." {
		return clean, clean != ""
	}
	folder, ok = strings.CutPrefix(clean, r.Path+"/")
	return folder, ok && folder != ""
}
