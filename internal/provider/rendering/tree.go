package rendering

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/tfvalue"
)

// placed returns the cluster types of each deployment target in the attribute assignments.
func placed(assignments attr.Value) map[string][]string {
	all := map[string][]string{}
	clusterTypes, _ := tfvalue.Members(assignments)
	for clusterType, v := range clusterTypes {
		targets, _ := tfvalue.Members(v)
		for target := range targets {
			all[target] = append(all[target], clusterType)
		}
	}
	for _, clusterTypes := range all {
		slices.Sort(clusterTypes)
	}
	return all
}

// mapOfStrings is the type of the deployment targets of a cluster type: the name of each → the hash of its folder.
var mapOfStrings = types.MapType{ElemType: types.StringType}

// detailed lists the previews that show each deployment target.
var detailed = []string{previewAssignments, previewManifests}

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

// textsOf returns texts, of which some may not be known yet.
func textsOf(texts map[string]string) types.Map {
	return types.MapValueMust(types.StringType, sets.MapValues(texts, func(text string) attr.Value {
		if unknown.Is(text) {
			return types.StringUnknown()
		}
		return tfvalue.Text(text)
	}))
}

// plannedFolders returns the folder of each cluster type, and whether all cluster types are known. The names and paths
// of folders are known, even if the hashes of their files are not.
func plannedFolders(t *delivery.NextTree) (folders inventory.Folders, known bool) {
	if t.Rendered.Tree != nil {
		return t.Folders, true
	}
	folders = inventory.Folders{}
	for _, ct := range t.Args.Fleet.ClusterTypes {
		folders[ct.Name] = inventory.Folder{Known: inventory.Unread}
	}
	_, unnamed := folders[unknown.Text]
	return folders, !unnamed && !t.Args.Fleet.Incomplete
}

// foldersOf returns the folder of each cluster type.
func foldersOf(at destination.Destination, inv inventory.Folders) map[string]tfvalue.Values {
	all := make(map[string]tfvalue.Values, len(inv))
	for name, folder := range inv {
		values := tfvalue.Values{
			"path": at.Join(name), "tree_hash": folder.Hash.String(), "assignments": len(folder.Targets),
		}
		if unknown.Is(at.Path) {
			values["path"] = types.StringUnknown()
		}
		if folder.Known < inventory.Whole {
			values["tree_hash"] = types.StringUnknown()
		}
		if folder.Known == inventory.Unread {
			values["assignments"] = types.Int64Unknown()
		}
		all[name] = values
	}
	return all
}

// plannedFiles returns the files of a tree. They are unknown as a whole if unknown values may decide whether a file
// exists.
func plannedFiles(t *delivery.NextTree, state resources.Model) (types.Map, error) {
	notKnown := types.MapUnknown(types.StringType)
	all := map[string]attr.Value{}
	if promoted := t.Record.PromotedCommit; promoted != "" {
		all[record.PromotedCommitFile] = types.StringValue(promoted)
	}
	kept := t.Stored()
	if t.Failing != nil {
		for _, f := range t.Failing.Kept {
			kept = append(kept, f.ClusterType+"/"+f.DeploymentTarget)
		}
	}
	maps.Copy(all, keptFiles(t.Args.Destination, state, kept))
	for i, folder := range t.Rendered.Tree.Folders {
		switch applied := t.Folders[folder.ClusterType]; {
		case applied.Hash != t.Target()[folder.ClusterType].Hash:
			continue // a later wave
		case applied.Known == inventory.Unread:
			return notKnown, nil
		}
		for f := range t.Rendered.Tree.Files(i) {
			path := t.Args.Destination.Join(folder.ClusterType + "/" + f.Path)
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

// branchFiles returns the attribute files for the files on the branch. ok is false if files is nil, or if one of them
// is not text.
func branchFiles(files map[string][]byte, promotedCommit string) (all map[string]attr.Value, ok bool) {
	all = map[string]attr.Value{}
	for path, content := range files {
		if !utf8.Valid(content) {
			return nil, false
		}
		all[path] = types.StringValue(string(content))
	}
	if promotedCommit != "" {
		all[record.PromotedCommitFile] = types.StringValue(promotedCommit)
	}
	return all, files != nil
}
