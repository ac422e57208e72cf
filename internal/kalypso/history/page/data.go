package page

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// readable returns data with escapes for characters that a reader can't see, such as control characters and line
// breaks, in all texts: they come from teams, clusters and Git.
func readable(data any) any {
	switch v := data.(type) {
	case string:
		return printable.Line(v)
	case []any:
		return lists.Map(v, readable)
	case map[string]any:
		all := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) { // two keys may become the same
			all[printable.Line(key)] = readable(v[key])
		}
		return all
	}
	return data
}

// Decode reads the attributes of a data source into a structure of the page. Missing attributes are treated like null:
// older versions of the provider had no attributes that need a store. The error begins with the path of the wrong
// value.
func Decode(data, to any) error {
	text, err := jsonv2.Marshal(readable(data))
	if err != nil {
		return fmt.Errorf(": %w", err)
	}
	var wrong *jsonv2.SemanticError
	if err := jsonv2.Unmarshal(text, to, jsonv2.MatchCaseInsensitiveNames(true)); errors.As(err, &wrong) {
		kind := strings.NewReplacer("true", "bool", "false", "bool").Replace(wrong.JSONKind.String())
		return fmt.Errorf("%s: a %s is not possible here", strings.ReplaceAll(string(wrong.JSONPointer), "/", "."), kind)
	} else if err != nil {
		return fmt.Errorf(": %w", err)
	}
	return nil
}

// History is the result of the data source kalypso_deployment_history.
type History struct {
	// Name is the name of the environment. If it is empty, the page uses Environment or, if that is empty too, the branch.
	Name                     string
	Environment              string
	GitOpsRepo, ControlPlane destination.Destination
	Since                    string // RFC 3339, a duration before Until, or "": 720h
	Until                    string // RFC 3339; empty: the time at which the data was read
	Deployments              []history.Delivery
	Metrics                  history.Metrics
	Complete                 bool
	Versions                 []history.VersionCount
	Runs                     []history.Run
	Truncated                bool // older runs are missing
	RecordedUntil            time.Time
}

// DeploymentState is the result of the data source kalypso_deployment_state.
type DeploymentState struct {
	// Name is the name of the environment. If it is empty, the page uses the name of the history of the same location,
	// then Environment, then the branch.
	Name           string
	Environment    string
	GitOpsRepo     destination.Destination
	PromotedCommit string
	Complete       bool // no rollout is in progress
	Verdict        deployment.Verdict
	Summary        string
	ObservedAt     time.Time
	Folders        map[string]deployment.FolderState
	Problems       []deployment.Problem
	Targets        map[string]deployment.TargetCount
	Clusters       map[string][]deployment.Followed
}

// Promotion is the result of the data source kalypso_promotion.
type Promotion struct {
	// Name is the name of the environment. If it is empty, the page uses the name of the history or state of the same
	// location, then Environment.
	Name        string
	Environment string
	GitOpsRepo  destination.Destination
	Waiting     []promotion.Waiting
	Skipped     []promotion.Skipped
}
