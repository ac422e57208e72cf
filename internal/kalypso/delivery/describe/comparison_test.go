package describe_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
)

// TestComparison: each difference is listed once, with its folders. Names and values of teams are in code spans.
func TestComparison(t *testing.T) {
	folders := func(clusterType string, n int) (all []comparison.Folder) {
		for i := range n {
			all = append(all, comparison.Folder{ClusterType: clusterType, Target: fmt.Sprintf("app-%03d", i)})
		}
		return all
	}
	c := &comparison.Comparison{
		Environments: comparison.Pair[string]{Left: "stage", Right: "prod"},
		Promoted:     comparison.Pair[string]{Left: strings.Repeat("a", 40)},
		Targets:      comparison.Pair[[]string]{Left: []string{"@acme/all"}},
		Placements:   map[string]comparison.Pair[[]string]{"web": {Left: []string{"large"}, Right: []string{"small"}}},
		Configs: []comparison.ConfigDifference{
			{Key: "MANY", Values: comparison.Pair[*string]{Left: text("a|`b`\nc"), Right: text("d")},
				Folders: append(folders("large", 280), folders("small", 32)...)},
			{Key: "FEW", Values: comparison.Pair[*string]{Right: text("(hidden)")}, Folders: folders("large", 1)},
		},
		Files: []comparison.FileDifference{{Name: "reconciler.yaml", Folders: folders("small", 2)}},
	}
	const want = "## `stage` and `prod`\n\n**Promoted commit:** `aaaaaaa`, none\n\n" +
		"### Deployment targets\n\n- only in `stage`: `@acme/all`\n\n" +
		"### Placement\n\n- `web`: only in `stage`: `large`; only in `prod`: `small`\n\n" +
		"### Config values\n\n" +
		"- `MANY`: ``a|`b`↵c`` → `d` in 312 folders (`large/*`: 280, `small/*`: 32)\n" +
		"- `FEW`: none → `(hidden)` in `large/app-000`\n\n" +
		"### Other files\n\n- `reconciler.yaml` in `small/app-000`, `small/app-001`\n"
	if diff := cmp.Diff(want, describe.Comparison(c)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range 1000 {
		c.Configs = append(c.Configs, comparison.ConfigDifference{
			Key: fmt.Sprint("KEY", i), Values: comparison.Pair[*string]{Left: text("x")}, Folders: folders("large", 1),
		})
	}
	c.Unlisted = 10_000
	got := describe.Comparison(c)
	shown := strings.Count(got, "\n- ")
	if len([]rune(got)) > delivery.DefaultMaxLength ||
		!strings.HasSuffix(got, fmt.Sprintf("\n… and %d more differences.\n", 1005+10_000-shown)) {
		t.Errorf("%d characters, %d shown: %s", len([]rune(got)), shown, got[len(got)-200:])
	}
	equal := &comparison.Comparison{Environments: comparison.Pair[string]{Left: "dev", Right: "dev"}}
	if got := describe.Comparison(equal); !strings.Contains(got, "`dev` (left) and `dev` (right)") ||
		!strings.Contains(got, "are equal") {
		t.Error(got)
	}
}
