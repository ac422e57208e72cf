// Package rollout decides which folders of a changed tree belong to the next wave. An apply commits only these.
package rollout

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/windows"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/limit"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Rollout configures how a tree reaches the cluster types: stage by stage, in waves.
type Rollout struct {
	Stages   []Stage
	Observed *deployment.Observation // nil: nothing was observed
	// Skip is the hash of a tree that all cluster types get at once; "": none.
	Skip string
	// Pause is the reason why no further wave follows; "": it may. Folders that return to an earlier tree are still
	// written.
	Pause string
	// ReturnOnFailure says that the folders of the rollout return to their trees from before it if one of them fails.
	ReturnOnFailure bool
	// Window says whether the windows were open when the clusters were observed. Closed windows are a pause.
	Window windows.State
	// StagesUnknown, ObservedUnknown, SkipUnknown, PauseUnknown and OnFailureUnknown say which arguments are not known
	// yet.
	StagesUnknown, ObservedUnknown, SkipUnknown, PauseUnknown, OnFailureUnknown bool
}

// UseWindows sets whether the windows are open at the time of the observation, so a plan and its apply decide the same.
// If the windows or the observation are not known yet, neither is the pause. UseWindows returns false if there are
// windows, but no observation.
func (r *Rollout) UseWindows(all windows.Windows, known bool) bool {
	switch {
	case known && len(all) == 0:
	case !known || r.ObservedUnknown:
		r.PauseUnknown = r.PauseUnknown || r.Pause == ""
	case r.Observed == nil:
		return false
	default:
		r.Window = all.At(r.Observed.At)
	}
	return true
}

// Paused returns the reason why no further wave follows, or "" if there is none or it is not known yet.
func (r *Rollout) Paused() string {
	switch {
	case r.PauseUnknown:
		return ""
	case r.Pause == "" && r.Window.Closed != "":
		return "its windows are " + r.Window.Closed
	}
	return r.Pause
}

// Stage is a group of cluster types that change together.
type Stage struct {
	Name     string
	Selector fleet.Selector // of cluster types
	// MaxConcurrency limits how many cluster types of the stage may be changed but not settled; nil: unlimited.
	MaxConcurrency *limit.Limit
	// Soak is how long the clusters of the stage must run the change before the next stage begins.
	Soak time.Duration
}

// Progress is the progress of a rollout. The record on the branch contains it.
type Progress struct {
	TargetTreeHash string `json:"target_tree_hash"` // the tree that the fleet renders to
	PromotedCommit string `json:"promoted_commit,omitempty"`
	Stage          string `json:"stage"` // of the last commit; "": all cluster types got it at once
	// Complete says that the branch contains the target.
	Complete bool `json:"complete"`
	// EarlierHashes are those of the folders that the rollout has written, from before it; "": the folder was absent.
	EarlierHashes map[string]string `json:"from,omitempty"`
	// RestoresOnFailure says that the folders return to EarlierHashes if one of them fails. Then these stay after the
	// last wave.
	RestoresOnFailure bool `json:"returns,omitempty"`
	// RolledBack says why the rollout was rolled back to EarlierHashes and its target is not retried. It is empty
	// without a rollback.
	RolledBack string `json:"rolled_back,omitempty"`
	// Interrupted are the promoted commits of earlier rollouts that did not complete: folders may still contain them.
	Interrupted []string `json:"interrupted,omitempty"`
}

// UnderWay reports whether the branch contains only a part of the target.
func (p *Progress) UnderWay() bool { return p != nil && !p.Complete && p.RolledBack == "" }

// StoredProgress is a rollout's progress, with facts that only the private state contains.
type StoredProgress struct {
	Progress
	Wave int       `json:"wave,omitempty"` // of the stage, counted from 1; 0: not known
	At   time.Time `json:"at,omitzero"`    // time of the last commit
}

// Status returns the stage and the wave of the last commit, or "" without a rollout. It says "stage" before the name,
// since a stage may have the name "all at once".
func (s *StoredProgress) Status() string {
	if s == nil || s.Stage == "" {
		return s.StageAndWave()
	}
	return "stage " + s.StageAndWave()
}

// StageAndWave returns the stage and the wave of the last commit as its message names them, or "" without a rollout.
func (s *StoredProgress) StageAndWave() string {
	switch {
	case s == nil:
		return ""
	case s.RolledBack != "":
		return s.Stage + ", rolled back"
	case s.Stage == "":
		return "all at once"
	case s.Wave == 0:
		return s.Stage
	}
	return fmt.Sprintf("%s, wave %d", s.Stage, s.Wave)
}

// UnderWay reports whether the branch contains only a part of the target.
func (s *StoredProgress) UnderWay() bool { return s.Record().UnderWay() }

// Record returns the progress of s as the record contains it, or nil if there is none.
func (s *StoredProgress) Record() *Progress {
	if s == nil {
		return nil
	}
	return &s.Progress
}

// removalStage is the name of the stage that removes the folders of removed cluster types.
const removalStage = "removed cluster types"

// Validate checks the stages, and that each cluster type belongs to one. path leads to the rollout.
func (r *Rollout) Validate(clusterTypes []*fleet.ClusterType, path ...problem.Step) (ps problem.Problems) {
	if r.StagesUnknown {
		return nil
	}
	report := func(summary, detail string, steps ...problem.Step) {
		ps = append(ps, problem.Problem{Summary: summary, Detail: detail, Path: slices.Concat(path, steps)})
	}
	stages := problem.Attr("stages")
	if len(r.Stages) == 0 {
		report("Missing stages", "A rollout needs at least one stage.", stages)
		return ps
	}
	index := map[string]int{}
	for i, s := range r.Stages {
		at := []problem.Step{stages, problem.Index(i)}
		other, twice := index[s.Name]
		switch {
		case unknown.Is(s.Name):
		case strings.TrimSpace(s.Name) == "":
			report("Missing name", "Each stage needs a name: plans and commit messages name it.",
				append(at, problem.Attr("name"))...)
		case twice:
			report("Duplicate stage name", fmt.Sprintf(
				"Stages %d and %d both have the name %q. Give each stage a name of its own.", other+1, i+1, s.Name),
				append(at, problem.Attr("name"))...)
		default:
			index[s.Name] = i
		}
		selector := slices.Concat(path, at, []problem.Step{problem.Attr("cluster_type_selector")})
		ps = append(ps, fleet.ValidateSelector(&s.Selector, selector...)...)
		if l := s.MaxConcurrency; l != nil && l.Number == 0 {
			report("Invalid limit",
				"max_concurrency lets no cluster type change, so the rollout would never end. Set at least 1, or 1%.",
				append(at, problem.Attr("max_concurrency"))...)
		}
	}
	if len(ps) > 0 {
		return ps
	}
	var unmatched []string
	for _, ct := range clusterTypes {
		if _, ok, known := r.stageOf(ct.Labels); !ok && known {
			unmatched = append(unmatched, ct.Name)
		}
	}
	if len(unmatched) > 0 {
		slices.Sort(unmatched)
		report("Cluster types in no stage", fmt.Sprintf("No stage selects these cluster types:\n%s\n"+
			"Add a last stage with cluster_type_selector = { match_all = true }, or compare their labels with the selectors.",
			problem.IndentedList(unmatched, problem.MaxListed)), stages)
	}
	return ps
}

// stageOf returns the first stage whose selector matches the labels. known is false if the match depends on values that
// are not known yet.
func (r *Rollout) stageOf(labels map[string]string) (index int, ok, known bool) {
	for i, s := range r.Stages {
		if fleet.SelectorUnknown(&s.Selector) || unknown.Any(labels) && selects(&s.Selector) {
			return 0, false, false
		}
		if matches, err := fleet.SelectorMatches("", &s.Selector, labels); err == nil && matches {
			return i, true, true
		}
	}
	return 0, false, true
}

// selects reports whether a selector depends on labels.
func selects(s *fleet.Selector) bool { return len(s.MatchLabels)+len(s.MatchExpressions) > 0 }
