package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// maxSummary limits the lines of a summary, after the first.
const maxSummary = 50

// Summary describes changes in lines, for people.
func Summary(changes []InstanceChange) string {
	type line struct{ target, from, to, state string }
	clusters := map[string]bool{}
	counts := map[line]int{}
	for _, c := range changes {
		target := c.ClusterType
		if c.Target != "" {
			target += "/" + c.Target
		}
		counts[line{target, versionText(c.From), versionText(c.To), c.To.State}] += len(c.Members)
		for _, m := range c.Members {
			clusters[m.Cluster] = true
		}
	}
	lines := slices.SortedFunc(maps.Keys(counts), func(a, b line) int {
		return cmp.Or(cmp.Compare(a.target, b.target), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to),
			cmp.Compare(a.state, b.state))
	})
	texts := []string{problem.Count(Count(changes), "change") + " on " + problem.Count(len(clusters), "cluster")}
	for i, l := range lines {
		if i == maxSummary-1 && len(lines) > maxSummary {
			texts = append(texts, fmt.Sprintf("and %d more lines", len(lines)-i))
			break
		}
		texts = append(texts, fmt.Sprintf("%s: %s → %s on %s (%s)", l.target, l.from, l.to,
			problem.Count(counts[l], "cluster"), l.state))
	}
	for i, text := range texts {
		texts[i] = printable.Line(text)
	}
	return strings.Join(texts, "\n")
}

func versionText(c observation.Condition) string {
	return cmp.Or(c.Version.Version, "none")
}
