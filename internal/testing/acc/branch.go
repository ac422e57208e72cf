package acc

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/golden"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// RecordPath is the path of the record, below the path of a rendering.
const RecordPath = ".kalypso/rendering.json"

// PromotedCommitPath is the path of the file with the promoted commit.
const PromotedCommitPath = ".github/tracking/Promoted_Commit_Id"

// ReadTree returns the content of every file of a folder, by path.
func ReadTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := golden.Files(os.DirFS(dir))
	must.Succeed(t, err)
	return files
}

// RenderedFiles returns the content of every file of a branch except our record, by path.
func RenderedFiles(t *testing.T, repo, branch string) map[string]string {
	t.Helper()
	files := gitserver.Tree(t, repo, branch)
	delete(files, RecordPath)
	return files
}

// KeepForeign adds the foreign files among existing to wanted, since a delivery keeps them.
func KeepForeign(existing, wanted map[string]string) {
	for path, content := range existing {
		if _, ours := wanted[path[:strings.Index(path, "/")+1]+"README.md"]; !ours && path != PromotedCommitPath {
			wanted[path] = content
		}
	}
}

// SeedDelivery commits a rendering of environment stage to the path fleet on the branch "stage". Each folder of a
// cluster type has one target, with a file of this content. record contains more attributes of the record.
func SeedDelivery(t *testing.T, repo string, record map[string]any, folders map[string]string) string {
	t.Helper()
	all := map[string]any{"version": 1, "environment": "stage", "promoted_commit": strings.Repeat("c", 40)}
	files, names := map[string]string{"README.md": "GitOps\n"}, []string{}
	for name, content := range folders {
		names = append(names, name)
		files["fleet/"+name+"/shop-web/namespace.yaml"] = content
	}
	all["cluster_types"] = names
	maps.Copy(all, record)
	files["fleet/"+RecordPath] = ToJSON(t, all)
	return gitserver.Seed(t, repo, "stage", files)
}
