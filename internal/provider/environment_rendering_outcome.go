package provider

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/engine"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/tree"
)

// renderingOutcome is what the fleet of a request renders to, as far as it is known.
type renderingOutcome struct {
	*renderingRequest
	tree *tree.Tree // nil: the assignments are not known yet

	review     delivery.Review
	reviewable bool // the review is known
}

// outcome takes the fleet through the engine, which renders what was not rendered before. With an error among the problems
// there is none, unless the assignments are not known yet.
func (r *renderingRequest) outcome(ctx context.Context, before *delivery.State) (*renderingOutcome, fleet.Problems) {
	progress := logProgress(ctx, logEvery)
	made, ps := engine.Run(ctx, r.fleet, engine.Options{
		Rendered: before.Rendered(),
		Progress: func(done, total int) { progress("render", done, total) },
	})
	o := &renderingOutcome{renderingRequest: r, tree: made.Tree}
	switch {
	case !made.Decided:
		if r.requireKnown {
			ps = append(ps, fleet.Problem{
				Path:    []fleet.Step{fleet.Attr("guardrails"), fleet.Attr("require_known")},
				Summary: "Assignments not known",
				Detail: "The assignments depend on values that are known after apply: an environment, a name, a label or a selector, or YAML. " +
					"guardrails.require_known refuses such a plan. Apply what gives those values first, or take them from what is known.",
			})
		}
		return o, ps
	case ps.HasErrors():
		return nil, ps
	}
	return o, slices.Concat(ps, o.judgeUnscheduled(), o.judgePath())
}

// judgePath reports a path at which the promoted commit's file would be in the way.
func (o *renderingOutcome) judgePath() fleet.Problems {
	if anyUnknown(o.place.Path, o.promoted) {
		return nil
	}
	if err := delivery.CheckPromotedCommit(o.place, o.tree, o.promoted); err != nil {
		return fleet.Problems{{
			Path:    []fleet.Step{fleet.Attr("gitops_repo"), fleet.Attr("path")},
			Summary: "Path of the promoted commit", Detail: fleet.Sentence(err), Err: err,
		}}
	}
	return nil
}

func (o *renderingOutcome) judgeUnscheduled() fleet.Problems {
	targets := o.unscheduledTargets()
	if len(targets) == 0 || o.unscheduled == unscheduledIgnore || fleet.IsUnknown(o.unscheduled) {
		return nil
	}
	p := fleet.Problem{
		Severity: fleet.Warning,
		Path:     []fleet.Step{fleet.Attr("unscheduled")},
		Summary:  "Deployment targets that no policy places",
		Detail: fmt.Sprintf("No scheduling policy places %d of %d deployment targets of environment %q:\n%s\nCompare their labels and workspace with the policies' deployment_target_selector, and the labels of the cluster types with cluster_type_selector.",
			len(targets), len(o.tree.Schedule.Targets), o.fleet.Environment, fleet.Lines(targets, shown)),
	}
	if o.unscheduled == unscheduledError {
		p.Severity = fleet.Error
	}
	return fleet.Problems{p}
}

// decided reports whether the assignments are known.
func (o *renderingOutcome) decided() bool { return o.tree != nil }

// known reports whether the tree is known to the last file.
func (o *renderingOutcome) known() bool { return o.decided() && !o.tree.Unknown }

func (o *renderingOutcome) unscheduledTargets() []string {
	names := make([]string, len(o.tree.Schedule.Unscheduled))
	for i, t := range o.tree.Schedule.Unscheduled {
		names[i] = t.Name
	}
	return names
}

// set sets the computed attributes that follow from the configuration alone.
func (o *renderingOutcome) set(values map[string]attr.Value) error {
	values["assignments"] = o.assignments()
	values["folders"] = o.folders()
	values["assignment_count"] = types.Int64Unknown()
	values["unscheduled"] = types.ListUnknown(types.StringType)
	values["tree_hash"] = types.StringUnknown()
	if o.decided() {
		values["assignment_count"] = types.Int64Value(int64(o.tree.Schedule.Count))
		values["unscheduled"] = stringListOf(o.unscheduledTargets())
	}
	if o.known() {
		values["tree_hash"] = types.StringValue(o.tree.Hash.String())
	}
	files, err := o.files()
	values["files"] = files
	return err
}

func (o *renderingOutcome) assignments() types.Map {
	switch {
	case o.preview == previewNone:
		return types.MapNull(listOfStrings)
	case !o.decided() || fleet.IsUnknown(o.preview):
		return types.MapUnknown(listOfStrings)
	}
	all := make(map[string]attr.Value, len(o.tree.Folders))
	for _, placement := range o.tree.Schedule.Placements {
		targets := make([]string, len(placement.Assignments))
		for i, a := range placement.Assignments {
			targets[i] = a.Target.Name
		}
		all[placement.ClusterType.Name] = stringListOf(targets)
	}
	return types.MapValueMust(listOfStrings, all)
}

// folders follow from the names of the cluster types and the path alone.
func (o *renderingOutcome) folders() types.Map {
	unknown := types.MapUnknown(types.StringType)
	if o.fleet.Incomplete || fleet.IsUnknown(o.place.Path) {
		return unknown
	}
	all := make(map[string]attr.Value, len(o.fleet.ClusterTypes))
	for _, ct := range o.fleet.ClusterTypes {
		if fleet.IsUnknown(ct.Name) {
			return unknown
		}
		all[ct.Name] = types.StringValue(o.place.Join(ct.Name))
	}
	return types.MapValueMust(types.StringType, all)
}

// files are unknown as a whole where something not known yet may decide whether a file exists.
func (o *renderingOutcome) files() (types.Map, error) {
	unknown := types.MapUnknown(types.StringType)
	switch {
	case fleet.IsUnknown(o.preview):
		return unknown, nil
	case o.preview != previewManifests:
		return types.MapNull(types.StringType), nil
	case !o.decided() || anyUnknown(o.place.Path, o.promoted):
		return unknown, nil
	}
	all := map[string]attr.Value{}
	if o.promoted != "" {
		all[tree.PromotedCommitFile] = types.StringValue(o.promoted)
	}
	for i, folder := range o.tree.Folders {
		for f := range o.tree.Files(i) {
			path := o.place.Join(folder.ClusterType + "/" + f.Path)
			switch {
			case f.MayLack:
				return unknown, nil
			case f.Unknown:
				all[path] = types.StringUnknown()
			case !utf8.Valid(f.Content):
				return unknown, fmt.Errorf("the file %s is no UTF-8 text, which Terraform can't show; use another preview than %q", path, previewManifests)
			default:
				all[path] = types.StringValue(string(f.Content))
			}
		}
	}
	return types.MapValueMust(types.StringType, all), nil
}

// writes says whether an apply writes to the branch.
type writes int

const (
	writesNothing writes = iota
	writesMaybe          // it depends on what is not known yet
	writesChange
)

// writesAfter decides by the configuration and by what the last apply left alone: the same answer at plan and at apply.
func (o *renderingOutcome) writesAfter(state map[string]attr.Value, before *delivery.State) writes {
	hash, _ := state["tree_hash"].(types.String)
	promoted, _ := state["promoted_commit"].(types.String)
	commit, _ := state["commit_sha"].(types.String)
	delivered := before.Current()
	switch {
	case fleet.IsUnknown(o.strategy):
		return writesMaybe
	case o.strategy == strategyPush && (commit.IsNull() || !delivered || before.Drifted()),
		o.strategy == strategyPullRequest && (!delivered || o.proposes(state, before)),
		o.strategy == strategyNone && (!commit.IsNull() || before != nil && before.Proposal != nil),
		o.known() && hash.ValueString() != o.tree.Hash.String(),
		delivered && !fleet.IsUnknown(o.fleet.Environment) && before.Aim() != o.fleet.Environment,
		delivered && o.placed() && !before.Place.Same(o.place),
		!fleet.IsUnknown(o.promoted) && promoted.ValueString() != o.promoted:
		return writesChange
	case !o.known() || !o.placed() || fleet.IsUnknown(o.promoted):
		return writesMaybe
	}
	return writesNothing
}

// changesAfter are what an apply does to the targets.
func (o *renderingOutcome) changesAfter(before *delivery.State) types.Map {
	if !o.known() || !o.comparable(before) {
		return types.MapUnknown(types.StringType)
	}
	return stringMapOf(delivery.Changes(before.Found(), delivery.FootprintOf(o.tree)))
}

// comparable reports whether before says what there is to compare with.
func (o *renderingOutcome) comparable(before *delivery.State) bool {
	return before != nil && before.Seen != nil && (!o.delivers() || before.Current())
}

// nullable is a text, or null where it is empty.
func nullable(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

func stringMapOf(m map[string]string) types.Map {
	all := make(map[string]attr.Value, len(m))
	for k, v := range m {
		all[k] = types.StringValue(v)
	}
	return types.MapValueMust(types.StringType, all)
}

func stringListOf(texts []string) types.List {
	all := make([]attr.Value, len(texts))
	for i, s := range texts {
		all[i] = types.StringValue(s)
	}
	return types.ListValueMust(types.StringType, all)
}

// shown is how many names a diagnostic lists.
const shown = 20
