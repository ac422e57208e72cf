package rendering

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/provider/resources"
)

// TestKeptFiles: kept folders have the files of the last apply, at the new path.
func TestKeptFiles(t *testing.T) {
	repo := types.ObjectValueMust(
		map[string]attr.Type{"repo": types.StringType, "branch": types.StringType, "path": types.StringType},
		map[string]attr.Value{
			"repo": types.StringValue("https://acme.io/gitops"), "branch": types.StringValue("dev"),
			"path": types.StringValue("old"),
		})
	files := map[string]attr.Value{}
	for _, name := range []string{
		"old/large/README.md", "old/large/a/x.yaml", "old/small/a/x.yaml", "old/small/ab/x.yaml", "old/largest/a/x.yaml",
		"large/a/x.yaml", "older/large/a/x.yaml", ".github/tracking/Promoted_Commit_Id",
	} {
		files[name] = types.StringValue(name)
	}
	state := resources.Model{"gitops_repo": repo, "files": types.MapValueMust(types.StringType, files)}
	for name, tc := range map[string]struct {
		folders []string
		want    []string
	}{
		"a cluster type":      {[]string{"large"}, []string{"new/large/README.md", "new/large/a/x.yaml"}},
		"a deployment target": {[]string{"small/a"}, []string{"new/small/a/x.yaml"}},
		"a cluster type and a target": {[]string{"largest", "small/ab"},
			[]string{"new/largest/a/x.yaml", "new/small/ab/x.yaml"}},
		"no folder": {nil, nil},
	} {
		got := keptFiles(destination.Destination{Path: "new"}, state, tc.folders)
		if diff := cmp.Diff(tc.want, slices.Sorted(maps.Keys(got))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for path, content := range got {
			if old := "old" + path[len("new"):]; content != files[old] {
				t.Errorf("%s: %s contains %s", name, path, content)
			}
		}
	}
}
