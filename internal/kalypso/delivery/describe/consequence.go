package describe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Orphan is a deployment target that leaves its last cluster types, see [delivery.Orphans].
type Orphan struct {
	Target string
	From   []string
	Reason string // "": not known
}

// maxConsequences limits the rows below one consequence. A reader sees the first screen of a phone before all else.
const maxConsequences = 6

// consequences writes what a reviewer must know first: what is lost.
func (w *writer) consequences() {
	c := w.change
	if c.Removal {
		return // the summary says it
	}
	named := map[string]bool{}
	from := map[string]bool{}
	for _, o := range c.Orphans {
		named[o.Target] = true
		for _, ct := range o.From {
			from[ct] = true
		}
	}
	if n := len(c.Orphans); n > 0 {
		on := problem.Count(len(from), "cluster type")
		text := fmt.Sprintf("%d targets leave %s and then run nowhere", n, on)
		if n == 1 {
			text = "1 target leaves " + on + " and then runs nowhere"
		}
		w.consequence(text, lists.Map(c.Orphans, w.orphan))
	}
	for _, r := range c.Renamed {
		named[r.Old] = true
	}
	if n := len(c.Renamed); n > 0 {
		w.consequence(problem.OneOrMany(n, "1 target has another name", "%d targets have other names")+
			": clusters delete the old namespaces with all data in them, and create new ones",
			lists.Map(c.Renamed, w.rename))
	}
	moves := c.moves()
	for _, m := range moves {
		named[m.Target] = true
	}
	if empty := c.emptied(); len(empty) > 0 {
		w.line("**%s:** %s.\n", problem.OneOrMany(len(empty), "1 cluster type loses all its targets",
			"%d cluster types lose all their targets"),
			names(empty, min(w.names, maxConsequences), func(ct inventory.ClusterType) string {
				return code(ct.Name) + ct.Kind.Note()
			}))
	}
	targets, on := map[string]bool{}, 0
	for _, ct := range c.ClusterTypes {
		others := slices.DeleteFunc(slices.Clone(ct.Removed), func(name string) bool { return named[name] })
		for _, name := range others {
			targets[name] = true
		}
		if len(others) > 0 {
			on++
		}
	}
	if n := len(targets); n > 0 {
		one, many := "1 target leaves ", "%d targets leave "
		if len(c.Orphans)+len(c.Renamed) > 0 {
			one, many = "1 other target leaves ", "%d other targets leave "
		}
		w.consequence(problem.OneOrMany(n, one, many)+problem.Count(on, "cluster type"), nil)
	}
}

// consequence writes one consequence, and its first rows.
func (w *writer) consequence(text string, all []string) {
	if len(all) == 0 || w.rows == 0 {
		w.line("**%s.**\n", text)
		return
	}
	w.line("**%s:**\n", text)
	most := min(w.rows, maxConsequences)
	for _, row := range first(all, most) {
		w.line("- %s", row)
	}
	if left := len(all) - most; left > 0 {
		w.line("- … and %d more", left)
	}
	w.line("")
}

func (w *writer) orphan(o Orphan) string {
	text := code(o.Target) + " leaves " + names(o.From, min(w.names, 2), code)
	if o.Reason != "" {
		text += ": " + code(strings.TrimSuffix(o.Reason, "."))
	}
	return text
}

func (w *writer) rename(r TargetRename) string {
	return fmt.Sprintf("%s → %s, so %s %s", code(r.Old), code(r.New),
		problem.OneOrMany(len(r.Namespaces), "this namespace goes:", "%d namespaces go:"),
		names(r.Namespaces, min(w.names, 2), code))
}

// moves returns the deployment targets that leave cluster types while they join others, by name.
func (c *RenderingChange) moves() (all []delivery.TargetMove) {
	from, to := map[string][]string{}, map[string][]string{}
	for _, ct := range c.ClusterTypes {
		for _, name := range ct.Removed {
			from[name] = append(from[name], ct.Name)
		}
		for _, name := range ct.Added {
			to[name] = append(to[name], ct.Name)
		}
	}
	for name, left := range from {
		if len(to[name]) > 0 {
			all = append(all, delivery.TargetMove{Target: name, From: left, To: to[name]})
		}
	}
	slices.SortFunc(all, func(a, b delivery.TargetMove) int { return strings.Compare(a.Target, b.Target) })
	return all
}

// emptied returns the cluster types that are gone, or lose all their deployment targets.
func (c *RenderingChange) emptied() (all []inventory.ClusterType) {
	for _, ct := range c.ClusterTypes {
		if ct.Kind == inventory.Removed || len(ct.Removed) > 0 && len(ct.Added)+len(ct.Changed)+len(ct.Unchanged) == 0 {
			all = append(all, ct)
		}
	}
	return all
}

// sections lists all changes by their kind: what clusters delete, what is new, what moves, and what changes.
func (w *writer) sections() {
	if w.rows == 0 {
		return
	}
	w.kind("Removed", inventory.Removed, func(ct inventory.ClusterType) []string { return ct.Removed })
	w.kind("New", inventory.Added, func(ct inventory.ClusterType) []string { return ct.Added })
	rows(w, "Moved", "deployment target", w.change.moves(), func(m delivery.TargetMove) string {
		return code(m.Target) + " from " + w.list(m.From) + " to " + w.list(m.To)
	})
	w.kind("Changed", -1, func(ct inventory.ClusterType) []string { return ct.Changed })
}

// kind lists the deployment targets of one kind of change, by cluster type. A cluster type of the kind is listed
// even without any.
func (w *writer) kind(heading string, kind inventory.Kind, of func(inventory.ClusterType) []string) {
	all := slices.DeleteFunc(slices.Clone(w.change.ClusterTypes), func(ct inventory.ClusterType) bool {
		return len(of(ct)) == 0 && ct.Kind != kind
	})
	rows(w, heading, "cluster type", all, func(ct inventory.ClusterType) string {
		text := code(ct.Name) + ct.Kind.Note()
		if targets := of(ct); len(targets) > 0 {
			text += ": " + w.list(targets)
		}
		return text
	})
}
