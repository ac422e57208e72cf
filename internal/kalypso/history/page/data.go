package page

import (
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// Text is a text from teams, clusters or Git. Decoding escapes characters that a reader can't see, such as control
// characters.
type Text string

// UnmarshalText escapes control characters, line breaks and invisible characters. It never fails.
func (t *Text) UnmarshalText(text []byte) error {
	*t = Text(text).line()
	return nil
}

func (t Text) line() Text { return Text(printable.Line(string(t))) }

// History is the result of the data source kalypso_deployment_history, with its attributes as JSON. Missing attributes
// are treated like null: older versions of the provider had no attributes that need a store.
type History struct {
	// Name is the name of the environment. If it is empty, the page uses Environment or, if that is empty too, the branch.
	Name          Text         `json:"name"`
	Environment   Text         `json:"environment"`
	GitOpsRepo    Destination  `json:"gitops_repo"`
	ControlPlane  Destination  `json:"control_plane"`
	Since         Text         `json:"since"` // RFC 3339, a duration before Until, or "": 720h
	Until         Text         `json:"until"` // RFC 3339; empty: the time at which the data was read
	Deployments   []Deployment `json:"deployments"`
	Metrics       Metrics      `json:"metrics"`
	Complete      bool         `json:"complete"`
	Versions      []Version    `json:"versions"`
	Runs          []Run        `json:"runs"`
	Truncated     bool         `json:"truncated"` // older runs are missing
	RecordedUntil time.Time    `json:"recorded_until"`
}

// Destination is a folder on a branch of a repo.
type Destination struct {
	Repo   Text `json:"repo"`
	Branch Text `json:"branch"`
	Path   Text `json:"path"`
}

// Deployment is a delivery to an environment: the commits of one rollout, or one commit.
type Deployment struct {
	Commit          Text      `json:"commit"`
	StartedAt       time.Time `json:"started_at"`
	DeliveredAt     time.Time `json:"delivered_at"`
	Author          Text      `json:"author"`
	Kind            Text      `json:"kind"`
	PromotedCommit  Text      `json:"promoted_commit"`
	CompareURL      Text      `json:"compare_url"`
	Commits         *int      `json:"commits"`
	Folders         []Text    `json:"folders"`
	Reason          Text      `json:"reason"`
	DecidedBy       Text      `json:"decided_by"`
	LeadTimeSeconds *int64    `json:"lead_time_seconds"`
	Failed          bool      `json:"failed"`
	FailedAt        time.Time `json:"failed_at"`
	RestoredAt      time.Time `json:"restored_at"`
}

// Metrics contains the four metrics of a window. A value is nil if there is nothing to count.
type Metrics struct {
	Deployments          int      `json:"deployments"`
	DeploymentsPerDay    *float64 `json:"deployments_per_day"`
	LeadTimeSeconds      *int64   `json:"lead_time_seconds"`
	ChangeFailureRate    *float64 `json:"change_failure_rate"` // 0 to 1
	TimeToRestoreSeconds *int64   `json:"time_to_restore_seconds"`
}

// Version counts the clusters that run a version of a deployment target. An empty Target means the cluster type's own
// folder.
type Version struct {
	DeploymentTarget Text      `json:"deployment_target"`
	Version          Text      `json:"version"`
	State            Text      `json:"state"`
	Clusters         int       `json:"clusters"`
	Since            time.Time `json:"since"`
	Owner
}

// Run is the time in which a cluster ran a version of a deployment target in one state.
type Run struct {
	Cluster          Text      `json:"cluster"`
	ClusterType      Text      `json:"cluster_type"`
	DeploymentTarget Text      `json:"deployment_target"`
	Version          Text      `json:"version"`
	State            Text      `json:"state"`
	Since            time.Time `json:"since"`
	Until            time.Time `json:"until"` // zero: it still runs
	Message          Text      `json:"message"`
	Owner
}

// Owner is the workspace and the workload of a deployment target, for the filters. It may be empty.
type Owner struct {
	Workspace Text `json:"workspace"`
	Workload  Text `json:"workload"`
}

// DeploymentState is the result of the data source kalypso_deployment_state, with its attributes as JSON.
type DeploymentState struct {
	// Name is the name of the environment. If it is empty, the page uses the name of the history of the same location,
	// then Environment, then the branch.
	Name        Text                  `json:"name"`
	Environment Text                  `json:"environment"`
	GitOpsRepo  Destination           `json:"gitops_repo"`
	PromotedAt  Text                  `json:"promoted_commit"`
	Complete    bool                  `json:"complete"` // no rollout is in progress
	Verdict     Text                  `json:"verdict"`
	Summary     Text                  `json:"summary"`
	ObservedAt  time.Time             `json:"observed_at"`
	Folders     map[Text]FolderCounts `json:"folders"`
	Problems    []Problem             `json:"problems"`
	Targets     map[Text]TargetCounts `json:"targets"`
	Clusters    map[Text][]Followed   `json:"clusters"`
}

// Promotion is the result of the data source kalypso_promotion, with its attributes as JSON.
type Promotion struct {
	// Name is the name of the environment. If it is empty, the page uses the name of the history or state of the same
	// location, then Environment.
	Name        Text        `json:"name"`
	Environment Text        `json:"environment"`
	GitOpsRepo  Destination `json:"gitops_repo"`
	Waiting     []Waiting   `json:"waiting"`
}

// Waiting is a closed gate that a commit waits for.
type Waiting struct {
	Commit Text `json:"commit"`
	Gate   Text `json:"gate"`
	Reason Text `json:"reason"`
}

// FolderCounts counts the clusters that follow the folder of a cluster type, by their states.
type FolderCounts struct {
	Total       int       `json:"total"`
	Current     int       `json:"current"`
	Progressing int       `json:"progressing"`
	Failing     int       `json:"failing"` // the clusters in Progressing that report a failure
	Failed      int       `json:"failed"`
	Suspended   int       `json:"suspended"`
	Stale       int       `json:"stale"`
	Offline     int       `json:"offline"`
	Missing     int       `json:"missing"`
	Verdict     Text      `json:"verdict"`
	Since       time.Time `json:"since"`
}

// Problem is a cluster that does not run its version. If Cluster is empty, the problem is with the whole folder.
type Problem struct {
	Cluster Text `json:"cluster"`
	Folder  Text `json:"folder"`
	State   Text `json:"state"`
	Message Text `json:"message"`
	Failing bool `json:"failing"` // it is progressing, and reports a failure
}

// TargetCounts counts the clusters of a deployment target.
type TargetCounts struct {
	Current  int          `json:"current"`
	Failed   int          `json:"failed"`
	Total    int          `json:"total"`
	Versions map[Text]int `json:"versions"`
	Owner
}

// Followed is a folder that a cluster follows.
type Followed struct {
	Folder Text `json:"folder"`
	State  Text `json:"state"`
}
