package rollout

import (
	"fmt"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// awaited describes the report or time that a cluster type waits for.
func (w *wave) awaited(name string) string {
	var o deployment.FolderState
	reported := false
	if w.Observed != nil {
		o, reported = w.Observed.Folders[name]
	}
	switch {
	case w.Observed == nil:
		return name + ": rollout.observed is null, so nothing says whether its clusters run the change"
	case !reported || w.nothingReported(name):
		return name + ": no cluster has reported it yet"
	case w.outdated():
		return fmt.Sprintf("%s: it was last observed at %s, before the last commit of the rollout",
			name, stamp(w.Observed.At))
	case o.Tree != w.Target[name].Hash:
		return name + ": it was observed with another tree on the branch"
	}
	return fmt.Sprintf("%s: %d of %s current%s", name, o.Current, problem.Count(o.Total, "cluster"), w.problemOf(name))
}

// nothingReported reports whether the only news of a folder is that its clusters report nothing.
func (w *wave) nothingReported(name string) bool {
	if w.Observed.Folders[name].Current > 0 {
		return false
	}
	missing := 0
	for _, p := range w.Observed.Problems {
		switch {
		case p.Folder != name:
		case p.State != deployment.StateMissing:
			return false
		default:
			missing++
		}
	}
	return missing > 0
}

// problemOf returns the first problem of a folder.
func (w *wave) problemOf(name string) string {
	for _, p := range w.Observed.Problems {
		if p.Folder == name {
			return "; " + problemText(p)
		}
	}
	return ""
}

// failure describes why a cluster type failed.
func (w *wave) failure(name string) []string {
	o := w.Observed.Folders[name]
	lines := []string{fmt.Sprintf("%s: %d of %s current", name, o.Current, problem.Count(o.Total, "cluster"))}
	for _, p := range w.Observed.Problems {
		if p.Folder == name {
			lines = append(lines, "  "+problemText(p))
		}
	}
	return lines
}

func problemText(p deployment.Problem) string {
	parts := []string{}
	for _, part := range []string{p.Cluster, string(p.State)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	text := strings.Join(parts, " ")
	if p.Message != "" {
		text += ": " + p.Message
	}
	return text
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
