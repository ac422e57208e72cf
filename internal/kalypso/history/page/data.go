package page

import (
	"maps"
	"slices"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// Readable returns data with escapes for characters that a reader can't see, such as control characters and line
// breaks, in all texts: they come from teams, clusters and Git.
func Readable(data any) any {
	switch v := data.(type) {
	case string:
		return printable.Line(v)
	case []any:
		return lists.Map(v, Readable)
	case map[string]any:
		all := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) { // two keys may become the same
			all[printable.Line(key)] = Readable(v[key])
		}
		return all
	}
	return data
}

// History is the result of the data source kalypso_deployment_history, with its attributes as JSON. Missing attributes
// are treated like null: older versions of the provider had no attributes that need a store.
type History struct {
	// Name is the name of the environment. If it is empty, the page uses Environment or, if that is empty too, the branch.
	Name          string                 `json:"name"`
	Environment   string                 `json:"environment"`
	GitOpsRepo    Destination            `json:"gitops_repo"`
	ControlPlane  Destination            `json:"control_plane"`
	Since         string                 `json:"since"` // RFC 3339, a duration before Until, or "": 720h
	Until         string                 `json:"until"` // RFC 3339; empty: the time at which the data was read
	Deployments   []Deployment           `json:"deployments"`
	Metrics       Metrics                `json:"metrics"`
	Complete      bool                   `json:"complete"`
	Versions      []history.VersionCount `json:"versions"`
	Runs          []Run                  `json:"runs"`
	Truncated     bool                   `json:"truncated"` // older runs are missing
	RecordedUntil time.Time              `json:"recorded_until"`
}

// Destination is a folder on a branch of a repo.
type Destination struct {
	Repo   string `json:"repo"`
	Branch string `json:"branch"`
	Path   string `json:"path"`
}

// Deployment is a delivery to an environment: the commits of one rollout, or one commit.
type Deployment struct {
	Commit          string    `json:"commit"`
	StartedAt       time.Time `json:"started_at"`
	DeliveredAt     time.Time `json:"delivered_at"`
	Author          string    `json:"author"`
	Kind            string    `json:"kind"`
	PromotedCommit  string    `json:"promoted_commit"`
	CompareURL      string    `json:"compare_url"`
	Commits         *int      `json:"commits"`
	Folders         []string  `json:"folders"`
	Reason          string    `json:"reason"`
	DecidedBy       string    `json:"decided_by"`
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

// Run is the time in which a cluster ran a version of a deployment target in one state.
type Run struct {
	Cluster          string    `json:"cluster"`
	ClusterType      string    `json:"cluster_type"`
	DeploymentTarget string    `json:"deployment_target"`
	Version          string    `json:"version"`
	State            string    `json:"state"`
	Since            time.Time `json:"since"`
	Until            time.Time `json:"until"` // zero: it still runs
	Message          string    `json:"message"`
	Owner
}

// Owner is the workspace and the workload of a deployment target, for the filters. It may be empty.
type Owner struct {
	Workspace string `json:"workspace"`
	Workload  string `json:"workload"`
}

// DeploymentState is the result of the data source kalypso_deployment_state, with its attributes as JSON.
type DeploymentState struct {
	// Name is the name of the environment. If it is empty, the page uses the name of the history of the same location,
	// then Environment, then the branch.
	Name        string                            `json:"name"`
	Environment string                            `json:"environment"`
	GitOpsRepo  Destination                       `json:"gitops_repo"`
	PromotedAt  string                            `json:"promoted_commit"`
	Complete    bool                              `json:"complete"` // no rollout is in progress
	Verdict     string                            `json:"verdict"`
	Summary     string                            `json:"summary"`
	ObservedAt  time.Time                         `json:"observed_at"`
	Folders     map[string]deployment.FolderState `json:"folders"`
	Problems    []deployment.Problem              `json:"problems"`
	Targets     map[string]TargetCounts           `json:"targets"`
	Clusters    map[string][]deployment.Followed  `json:"clusters"`
}

// Promotion is the result of the data source kalypso_promotion, with its attributes as JSON.
type Promotion struct {
	// Name is the name of the environment. If it is empty, the page uses the name of the history or state of the same
	// location, then Environment.
	Name        string      `json:"name"`
	Environment string      `json:"environment"`
	GitOpsRepo  Destination `json:"gitops_repo"`
	Waiting     []Waiting   `json:"waiting"`
}

// Waiting is a closed gate that a commit waits for.
type Waiting struct {
	Commit string `json:"commit"`
	Gate   string `json:"gate"`
	Reason string `json:"reason"`
}

// TargetCounts counts the clusters of a deployment target.
type TargetCounts struct {
	Current  int            `json:"current"`
	Failed   int            `json:"failed"`
	Total    int            `json:"total"`
	Versions map[string]int `json:"versions"`
	Owner
}
