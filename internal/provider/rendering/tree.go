package rendering

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/configuration"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// placed returns the cluster types of each deployment target in a state.
func (m *environmentRenderingModel) placed() map[string][]string {
	all := map[string][]string{}
	for clusterType, v := range m.Assignments.Elements() {
		if targets, ok := v.(types.Map); ok {
			for target := range targets.Elements() {
				all[target] = append(all[target], clusterType)
			}
		}
	}
	for _, clusterTypes := range all {
		slices.Sort(clusterTypes)
	}
	return all
}

// mapOfStrings is the type of the deployment targets of a cluster type: the name of each → the hash of its folder.
var mapOfStrings = types.MapType{ElemType: types.StringType}

// folderType is the type of a cluster type's folder.
var folderType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"path": types.StringType, "tree_hash": types.StringType, "assignments": types.Int64Type,
}}

// setRendered sets the computed attributes that follow from the configuration alone.
func (m *environmentRenderingModel) setRendered(
	r *rendering, decision *delivery.Decision, state *environmentRenderingModel,
) error {
	m.Assignments, m.Folders, m.Summary = r.assignments(), r.folders(), r.summary(decision, state)
	m.AssignmentCount, m.TreeHash = types.Int64Unknown(), types.StringUnknown()
	m.Unscheduled = types.ListUnknown(types.StringType)
	if r.AssignmentsKnown() && r.Certain() || r.Partial() {
		m.AssignmentCount = types.Int64Value(int64(r.Inventory().Count()))
	}
	if r.Tree != nil && len(r.Tree.Schedule.Undecided) == 0 {
		m.Unscheduled = tfvalue.StringListOf(r.Unscheduled())
	}
	if r.Known() {
		m.TreeHash = types.StringValue(r.Inventory().TreeHash().String())
	}
	m.setRollout(r)
	files, err := r.files(state)
	m.Files = files
	return err
}

func (r *rendering) assignments() types.Map {
	switch {
	case r.preview == previewNone, r.preview == previewSummary:
		return types.MapNull(mapOfStrings)
	case r.Tree == nil || !r.Certain() || unknown.Is(r.preview):
		return types.MapUnknown(mapOfStrings)
	}
	return assignmentsOf(r.Inventory())
}

// assignmentsOf returns the deployment targets of each cluster type, with the hashes of their folders.
func assignmentsOf(inv inventory.Folders) types.Map {
	all := make(map[string]attr.Value, len(inv))
	for clusterType, folder := range inv {
		targets := make(map[string]attr.Value, len(folder.Targets))
		for _, target := range folder.Targets {
			targets[target.Name] = types.StringValue(target.Hash.String())
			if target.Unknown {
				targets[target.Name] = types.StringUnknown()
			}
		}
		all[clusterType] = types.MapValueMust(types.StringType, targets)
		if folder.Undecided {
			all[clusterType] = types.MapUnknown(types.StringType)
		}
	}
	return types.MapValueMust(mapOfStrings, all)
}

// summary returns a line for each cluster type.
func (r *rendering) summary(decision *delivery.Decision, state *environmentRenderingModel) types.Map {
	switch {
	case unknown.Is(r.preview):
		return types.MapUnknown(types.StringType)
	case r.preview != previewSummary:
		return types.MapNull(types.StringType)
	case r.Tree == nil || !r.Certain():
		return types.MapUnknown(types.StringType)
	}
	return summaryOf(decision.Summary(r.AppliedTree, state.summary()))
}

// summary returns the lines of a state. It returns none for a nil state.
func (m *environmentRenderingModel) summary() map[string]string {
	if m == nil {
		return nil
	}
	return m.decoder(new(problem.Problems)).StringMap("summary")
}

func summaryOf(lines map[string]string) types.Map {
	all := make(map[string]attr.Value, len(lines))
	for clusterType, line := range lines {
		all[clusterType] = types.StringValue(line)
		if unknown.Is(line) {
			all[clusterType] = types.StringUnknown()
		}
	}
	return types.MapValueMust(types.StringType, all)
}

// The names and paths of folders are known, even if their contents are not.
func (r *rendering) folders() types.Map {
	switch {
	case r.preview == previewSummary:
		return types.MapNull(folderType)
	case !r.Certain() || unknown.Is(r.preview):
		return types.MapUnknown(folderType)
	}
	if r.Tree != nil {
		return foldersOf(r.Destination, r.Inventory())
	}
	if r.Fleet.Incomplete {
		return types.MapUnknown(folderType)
	}
	all := make(map[string]attr.Value, len(r.Fleet.ClusterTypes))
	for _, ct := range r.Fleet.ClusterTypes {
		if unknown.Is(ct.Name) {
			return types.MapUnknown(folderType)
		}
		all[ct.Name] = folderValue(r.Destination, ct.Name, types.StringUnknown(), types.Int64Unknown())
	}
	return types.MapValueMust(folderType, all)
}

// foldersOf returns the folder of each cluster type.
func foldersOf(at record.Destination, inv inventory.Folders) types.Map {
	all := make(map[string]attr.Value, len(inv))
	for name, folder := range inv {
		hash, count := types.StringValue(folder.Hash.String()), types.Int64Value(int64(len(folder.Targets)))
		if folder.Unknown {
			hash = types.StringUnknown()
		}
		if folder.Undecided {
			count = types.Int64Unknown()
		}
		all[name] = folderValue(at, name, hash, count)
	}
	return types.MapValueMust(folderType, all)
}

func folderValue(at record.Destination, name string, hash types.String, assignments types.Int64) attr.Value {
	path := types.StringValue(at.Join(name))
	if unknown.Is(at.Path) {
		path = types.StringUnknown()
	}
	return types.ObjectValueMust(folderType.AttrTypes, map[string]attr.Value{
		"path": path, "tree_hash": hash, "assignments": assignments,
	})
}

// The attribute files is unknown as a whole if unknown values may decide whether a file exists.
func (r *rendering) files(state *environmentRenderingModel) (types.Map, error) {
	notKnown := types.MapUnknown(types.StringType)
	switch {
	case unknown.Is(r.preview):
		return notKnown, nil
	case r.preview != previewManifests:
		return types.MapNull(types.StringType), nil
	case r.Tree == nil || !r.Certain() || configuration.AnyUnknown(r.Destination.Path, r.AppliedPromotedCommit()):
		return notKnown, nil
	}
	all := map[string]attr.Value{}
	if promoted := r.AppliedPromotedCommit(); promoted != "" {
		all[record.PromotedCommitFile] = types.StringValue(promoted)
	}
	kept := r.Stored()
	for _, f := range r.Kept() {
		kept = append(kept, f.ClusterType+"/"+f.DeploymentTarget)
	}
	maps.Copy(all, keptFiles(state, kept, r.Destination))
	for i, folder := range r.Tree.Folders {
		switch applied := r.Inventory()[folder.ClusterType]; {
		case applied.Hash != r.Target()[folder.ClusterType].Hash:
			continue // a later wave
		case applied.Undecided:
			return notKnown, nil
		}
		for f := range r.Tree.Files(i) {
			path := r.Destination.Join(folder.ClusterType + "/" + f.Path)
			switch {
			case f.MayBeAbsent:
				return notKnown, nil
			case f.Unknown:
				all[path] = types.StringUnknown()
			case !utf8.Valid(f.Content):
				return notKnown, fmt.Errorf(
					"the file %s is not UTF-8 text, and Terraform can't show it; use another preview than %q",
					path,
					previewManifests,
				)
			default:
				all[path] = types.StringValue(string(f.Content))
			}
		}
	}
	return types.MapValueMust(types.StringType, all), nil
}

// setFiles sets what the branch contains. If files is nil, or one of them is no text, those of the last apply stay.
func (m *environmentRenderingModel) setFiles(files map[string][]byte, promotedCommit string) {
	if files == nil {
		return
	}
	all := map[string]attr.Value{}
	for path, content := range files {
		if !utf8.Valid(content) {
			return
		}
		all[path] = types.StringValue(string(content))
	}
	if promotedCommit != "" {
		all[record.PromotedCommitFile] = types.StringValue(promotedCommit)
	}
	m.Files = types.MapValueMust(types.StringType, all)
}
