package describe_test

import (
	"context"
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render"
)

// TestLineGroups: equal changes are shown as one group. Changes that differ only by the names of their folders are one
// group, too.
func TestLineGroups(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lines map[string]string // changed line in the folder of app, by cluster type
		want  []string
	}{
		"equal lines with the name of one folder": {map[string]string{"a": "size: a", "large": "size: large",
			"small": "size: large"}, []string{"in 2 folders", "in 1 folder"}},
		"lines with the names of their folders": {map[string]string{"a": "size: a", "large": "size: large",
			"small": "size: small"}, []string{"in 3 folders, the same, renamed"}},
		"lines with the namespaces of their folders": {map[string]string{"a": "in: dev-a-app", "large": "in: dev-large-app"},
			[]string{"in 2 folders, the same, renamed"}},
		"words that begin with the names of their folders": {map[string]string{"a": "size: az", "large": "size: largez"},
			[]string{"in 1 folder", "in 1 folder"}},
		"different values": {map[string]string{"a": "size: 1", "large": "size: 2", "small": "size: 1"},
			[]string{"in 2 folders", "in 1 folder"}},
	} {
		var folders []comparison.Folder
		for _, ct := range []string{"a", "large", "small"} {
			if test.lines[ct] != "" {
				folders = append(folders, comparison.Folder{ClusterType: ct, Target: "app"})
			}
		}
		files := func(i int, _ *describe.Buffers) (before, after describe.FolderFiles, known bool) {
			ct := folders[i].ClusterType
			of := func(text string) describe.FolderFiles {
				return describe.FolderFiles{Namespace: "dev-" + ct + "-app", Files: []render.File{
					{Path: "f.yaml", Content: []byte("of: " + ct + "\n" + text + "\n")}}}
			}
			return of("none"), of(test.lines[ct]), true
		}
		text := describe.Markdown(describe.RenderingChange{Lines: describe.NewLines(t.Context(), folders, files, nil, nil)})
		var got []string
		for _, found := range regexp.MustCompile("#### `f.yaml` (.*)").FindAllStringSubmatch(text, -1) {
			got = append(got, found[1])
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", name, diff, text)
		}
	}
}

// TestLinesCancelled: the comparison of many folders stops when its context ends.
func TestLinesCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var compared atomic.Int64
	files := func(int, *describe.Buffers) (before, after describe.FolderFiles, known bool) {
		compared.Add(1)
		cancel()
		return before, after, true
	}
	folders := make([]comparison.Folder, 10_000)
	if lines := describe.NewLines(ctx, folders, files, nil, nil); lines != nil || compared.Load() > 100 {
		t.Errorf("%v after %d of %d folders", lines, compared.Load(), len(folders))
	}
}
