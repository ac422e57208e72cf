package describe

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// maxNamed limits the names that a difference lists, or the folders and cluster types that a change reaches.
const maxNamed = 20

// Comparison describes the differences of two environments in Markdown: each difference once, with its folders. It has
// at most [delivery.DefaultMaxLength] characters; the last line counts the differences that do not fit.
func Comparison(c *comparison.Comparison) string {
	left, right := code(cmp.Or(c.Environments.Left, "left")), code(cmp.Or(c.Environments.Right, "right"))
	if left == right {
		left, right = left+" (left)", right+" (right)"
	}
	w, unlisted := &writer{}, c.Unlisted
	w.line("## %s and %s", left, right)
	if c.Promoted != (comparison.Pair[string]{}) {
		w.line("\n**Promoted commit:** %s, %s%s", codeOrNone(short(c.Promoted.Left)), codeOrNone(short(c.Promoted.Right)),
			between(c.Between, left, right))
	}
	if c.Equal() {
		w.line("\nTheir targets, placements, config values and files are equal.")
	}
	unlisted += w.section("Deployment targets", onSides(left, right, c.Targets))
	unlisted += w.section("Placement", lists.Map(slices.Sorted(maps.Keys(c.Placements)), func(target string) string {
		return fmt.Sprintf("%s: %s", code(target), strings.Join(onSides(left, right, c.Placements[target]), "; "))
	}))
	unlisted += w.section("Config values", lists.Map(c.Configs, func(d comparison.ConfigDifference) string {
		return fmt.Sprintf("%s: %s → %s in %s", code(d.Key), valueOrNone(d.Values.Left), valueOrNone(d.Values.Right),
			inFolders(d.Folders))
	}))
	unlisted += w.section("Other files", lists.Map(c.Files, func(d comparison.FileDifference) string {
		return fmt.Sprintf("%s in %s", code(d.Name), inFolders(d.Folders))
	}))
	if unlisted > 0 {
		w.line("\n… and %s.", problem.Count(unlisted, "more difference"))
	}
	return w.b.String()
}

// section writes the lines of a section as a list, as far as they fit, and returns the number of those left out.
func (w *writer) section(heading string, lines []string) (left int) {
	const forEnd = 200 // characters of the heading and of the last line
	room := delivery.DefaultMaxLength - forEnd - length(w.b.String())
	for i, line := range lines {
		text := "- " + line
		room -= length(text) + 1
		if room < 0 {
			return len(lines) - i
		}
		if i == 0 {
			w.line("\n### %s\n", heading)
		}
		w.line("%s", text)
	}
	return 0
}

func onSides(left, right string, only comparison.Pair[[]string]) (texts []string) {
	for _, side := range []struct {
		name string
		only []string
	}{{left, only.Left}, {right, only.Right}} {
		if len(side.only) > 0 {
			texts = append(texts, "only in "+side.name+": "+names(side.only, maxNamed, code))
		}
	}
	return texts
}

// inFolders describes folders: a few by their names, many by their cluster types.
func inFolders(all []comparison.Folder) string {
	if len(all) <= maxNamed {
		return names(all, maxNamed, func(f comparison.Folder) string { return code(f.String()) })
	}
	types := perClusterType(all, func(f comparison.Folder) string { return f.ClusterType })
	return fmt.Sprintf("%d folders (%s)", len(all), problem.First(types, maxNamed))
}

// perClusterType counts the folders of each cluster type. The folders are sorted.
func perClusterType[T any](folders []T, clusterType func(T) string) (texts []string) {
	for same := range lists.Runs(folders, clusterType) {
		texts = append(texts, fmt.Sprintf("%s: %d", code(clusterType(same[0])+"/*"), len(same)))
	}
	return texts
}

func valueOrNone(v *string) string {
	if v == nil {
		return "none"
	}
	return code(delivery.Truncate(*v))
}

// between says how far the promoted commits are apart.
func between(commits *int, left, right string) string {
	switch {
	case commits == nil:
		return ""
	case *commits > 0:
		return fmt.Sprintf("; %s is %s ahead", left, problem.Count(*commits, "commit"))
	case *commits < 0:
		return fmt.Sprintf("; %s is %s ahead", right, problem.Count(-*commits, "commit"))
	}
	return ""
}
