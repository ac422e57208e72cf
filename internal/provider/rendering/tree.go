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

// placed returns the cluster types of each deployment target in the attribute assignments.
func placed(assignments types.Map) map[string][]string {
	all := map[string][]string{}
	for clusterType, v := range assignments.Elements() {
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

// setRendered sets the computed attributes that depend only on the configuration.
func (m *environmentRenderingModel) setRendered(
	r *rendering, decision *delivery.Decision, state *environmentRenderingModel,
) error {
	m.Assignments, m.Folders, m.Summary = r.assignments(), r.folders(), r.summary(decision, state)
	m.AssignmentCount, m.TreeHash = types.Int64Unknown(), types.StringUnknown()
	m.Unscheduled = types.ListUnknown(types.StringType)
	if r.Next.Rendered.Tree != nil && r.Next.Known > inventory.Unread && r.Next.Folders.Known() > inventory.Unread {
		m.AssignmentCount = types.Int64Value(int64(r.Next.Folders.Count()))
	}
	if r.Next.Rendered.Tree != nil && len(r.Next.Rendered.Tree.Schedule.Undecided) == 0 {
		m.Unscheduled = tfvalue.StringListOf(r.Next.Rendered.Unscheduled())
	}
	if r.Next.Known == inventory.Whole {
		m.TreeHash = types.StringValue(r.Next.Folders.TreeHash().String())
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
	case r.Next.Rendered.Tree == nil || r.Next.Known == inventory.Unread || unknown.Is(r.preview):
		return types.MapUnknown(mapOfStrings)
	}
	return assignmentsOf(r.Next.Folders)
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
		if folder.Known == inventory.Unread {
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
	case r.Next.Rendered.Tree == nil || r.Next.Known == inventory.Unread:
		return types.MapUnknown(types.StringType)
	}
	return summaryOf(decision.Summary(r.Next, state.summary()))
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

// The names and paths of folders are known, even if the hashes of their files are not.
func (r *rendering) folders() types.Map {
	switch {
	case r.preview == previewNone, r.preview == previewSummary:
		return types.MapNull(folderType)
	case r.Next.Known == inventory.Unread || unknown.Is(r.preview):
		return types.MapUnknown(folderType)
	}
	if r.Next.Rendered.Tree != nil {
		return foldersOf(r.Next.Wish.Destination, r.Next.Folders)
	}
	if r.Next.Wish.Fleet.Incomplete {
		return types.MapUnknown(folderType)
	}
	all := make(map[string]attr.Value, len(r.Next.Wish.Fleet.ClusterTypes))
	for _, ct := range r.Next.Wish.Fleet.ClusterTypes {
		if unknown.Is(ct.Name) {
			return types.MapUnknown(folderType)
		}
		all[ct.Name] = folderValue(r.Next.Wish.Destination, ct.Name, types.StringUnknown(), types.Int64Unknown())
	}
	return types.MapValueMust(folderType, all)
}

// foldersOf returns the folder of each cluster type.
func foldersOf(at record.Destination, inv inventory.Folders) types.Map {
	all := make(map[string]attr.Value, len(inv))
	for name, folder := range inv {
		hash, count := types.StringValue(folder.Hash.String()), types.Int64Value(int64(len(folder.Targets)))
		if folder.Known < inventory.Whole {
			hash = types.StringUnknown()
		}
		if folder.Known == inventory.Unread {
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
	case r.Next.Rendered.Tree == nil || r.Next.Known == inventory.Unread ||
		configuration.AnyUnknown(r.Next.Wish.Destination.Path, r.Next.Record.PromotedCommit):
		return notKnown, nil
	}
	all := map[string]attr.Value{}
	if promoted := r.Next.Record.PromotedCommit; promoted != "" {
		all[record.PromotedCommitFile] = types.StringValue(promoted)
	}
	kept := r.Next.Stored()
	if failing := r.Next.Failing; failing != nil {
		for _, f := range failing.Kept {
			kept = append(kept, f.ClusterType+"/"+f.DeploymentTarget)
		}
	}
	maps.Copy(all, r.keptFiles(state, kept))
	for i, folder := range r.Next.Rendered.Tree.Folders {
		switch applied := r.Next.Folders[folder.ClusterType]; {
		case applied.Hash != r.Next.Target()[folder.ClusterType].Hash:
			continue // a later wave
		case applied.Known == inventory.Unread:
			return notKnown, nil
		}
		for f := range r.Next.Rendered.Tree.Files(i) {
			path := r.Next.Wish.Destination.Join(folder.ClusterType + "/" + f.Path)
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

// setFiles sets the attribute files to the files on the branch. If files is nil, or one of them is not text, the
// attribute keeps the files of the last apply.
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
