// Package describe writes the description of a change in Markdown, for pull requests and plans. Equal changes give
// equal text, regardless of the order of their parts.
package describe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest/owners"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// RenderingChange is a change of a rendering.
type RenderingChange struct {
	Environment string
	At          destination.Destination // zero if the tree is only computed
	Removal     bool                    // the rendering is removed
	// MovedFrom is the previous destination and ReplacedEnvironment the previous environment. Both are zero if
	// unchanged.
	MovedFrom           destination.Destination
	ReplacedEnvironment string

	// Before and After are the hashes of the tree; "" if there is none.
	Before, After string

	// ClusterTypes are the changed cluster types. One without changed deployment targets is only drawn, if there is room,
	// unless it is added or removed.
	ClusterTypes []inventory.ClusterType
	// Orphans are the deployment targets that leave their last cluster types, with a reason for the first of them. Renamed
	// are those that have other names.
	Orphans []Orphan
	Renamed []TargetRename
	// Policies returns the names of the policies that assign a target to a cluster type.
	Policies func(clusterType, target string) []string
	// Requires returns the names of the targets on a cluster type that a target requires there. Nil: there are none.
	Requires func(clusterType, target string) []string

	Configs  []ConfigChange
	Secrets  []ConfigChange  // references to secrets
	Promoted PromotionChange // zero if the promoted commit is unchanged
	// RolledBack says why folders return to their trees from before a rollout; "": they do not.
	RolledBack string
	Sources    []SourceChange // see [SourceChanges]
	// Kept and LeftOut list the assignments that fail to render, as cluster type / deployment target. The branch contains
	// and keeps the former, and does not contain the latter.
	Kept, LeftOut []string
	Owners        []owners.Reached // of the changed folders
	// NotCompared lists the parts of the previous state that are unknown, such as "configuration". Their changes are
	// unknown too.
	NotCompared []string
	// Lines are the lines of the rendered files that change. Nil: they are not shown.
	Lines *Lines

	Links githost.Links

	Marker    string // always the last line
	MaxLength int    // in characters; 0: unlimited
}

// destination names a destination. It leaves out the repo of the change.
func (w *writer) destination(at destination.Destination) string {
	text := "branch " + code(at.Branch)
	if at.Path != "" && at.Path != "." {
		text += ", path " + code(at.Path)
	}
	if !giturl.Same(at.Repo, w.change.At.Repo) {
		text += " of " + code(repoName(at.Repo))
	}
	return text
}

// detailLevels limit the rows of a list, the names in a row and the nodes of the graph. The first level that fits is
// used.
var detailLevels = []struct{ rows, names, nodes int }{
	{1000, 20, MaxNodes}, {300, 10, MaxNodes}, {100, 10, MaxNodes}, {50, 5, 20}, {20, 3, 10}, {5, 1, 0}, {0, 0, 0},
}

// Markdown returns the description of a change.
func Markdown(c RenderingChange) string {
	var text string
	c.Configs, c.Secrets = byName(c.Configs), byName(c.Secrets)
	c.Sources = slices.SortedFunc(slices.Values(c.Sources), func(a, b SourceChange) int {
		return cmp.Or(cmp.Compare(a.Repo, b.Repo), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	var same []inventory.ClusterType
	c.ClusterTypes, same = split(c.ClusterTypes)
	placed := c.placed()
	lines := c.Lines.markdown(c.MaxLength / 2) // the lists leave them this much
	for _, l := range detailLevels {
		w := &writer{change: c, same: same, rows: l.rows, names: l.names, nodes: l.nodes}
		lists := w.write(placed, "")
		if c.MaxLength == 0 || length(lists)+length(lines) <= c.MaxLength {
			if lines != "" && c.MaxLength > 0 {
				lines = c.Lines.markdown(c.MaxLength - length(lists))
			}
			return w.write(placed, lines)
		}
		text = lists
	}
	return text
}

// Promote returns the description of a change that is only a promotion: a file on a branch names another commit.
func Promote(file, branch string, p PromotionChange, links githost.Links) string {
	w := &writer{change: RenderingChange{Promoted: p, Links: links}}
	w.line("Sets the commit of the base in %s on branch %s.", code(file), code(branch))
	w.promoted()
	return w.b.String()
}

// PromotionMessage returns the message of a commit that is only a promotion: a branch gets another base. facts, if not
// empty, are the reasons.
func PromotionMessage(branch, commit, facts string) string {
	const digits = 12 // of the hash, in the first line
	commit = printable.Line(commit)
	text := fmt.Sprintf("Set the base of %s to %.*s\n\nPromoted commit: %s\n", branch, digits, commit, commit)
	if facts != "" {
		text += "\n" + facts
	}
	return text
}

func byName(changes []ConfigChange) []ConfigChange {
	return slices.SortedFunc(slices.Values(changes), func(a, b ConfigChange) int { return cmp.Compare(a.Name, b.Name) })
}

// split returns the cluster types that change, and those that do not, sorted.
func split(all []inventory.ClusterType) (changed, same []inventory.ClusterType) {
	for _, ct := range all {
		if ct.Kind == inventory.Changed && len(ct.Added)+len(ct.Removed)+len(ct.Changed) == 0 {
			same = append(same, ct)
		} else {
			changed = append(changed, ct)
		}
	}
	byName := func(a, b inventory.ClusterType) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(changed, byName)
	slices.SortFunc(same, byName)
	return changed, same
}

// length counts UTF-16 code units, the strictest count that hosts use.
func length(s string) int { return len(utf16.Encode([]rune(s))) }

type writer struct {
	change             RenderingChange
	same               []inventory.ClusterType // those that do not change, for the graph
	rows, names, nodes int
	b                  strings.Builder
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

// write writes the lists, and the changed lines after them.
func (w *writer) write(placed map[string]map[string]int, lines string) string {
	w.b.Reset()
	w.consequences()
	w.summary()
	w.failed()
	w.sections()
	w.graph()
	rows(w, "Owners of the changed folders", "owner", w.change.Owners, w.owner)
	w.promoted()
	if why := w.change.RolledBack; why != "" {
		w.line("\n**Rolled back, to the trees from before the rollout:** %s", code(why))
	}
	rows(w, "Sources", "source", w.change.Sources, w.source)
	w.placements(placed)
	rows(w, "Configuration", "config", w.change.Configs, w.config)
	rows(w, "References to secrets", "platform secret", w.change.Secrets, w.config)
	w.b.WriteString(lines)
	if parts := w.change.NotCompared; len(parts) > 0 {
		w.line("\nNot compared: the %s, whose previous version is not known here.", strings.Join(parts, " and the "))
	}
	// Two different changes may have the same text otherwise.
	w.line("\n**Tree:** %s → %s", codeOrNone(w.change.Before), codeOrNone(w.change.After))
	if w.change.Marker != "" {
		w.line("\n%s", w.change.Marker)
	}
	return w.b.String()
}

func (w *writer) summary() {
	at := w.destination(w.change.At)
	switch {
	case w.change.Removal:
		w.line("Removes what was rendered for environment %s from %s.", code(w.change.Environment), at)
	case w.change.At.Branch == "":
		w.line("Renders environment %s.", code(w.change.Environment))
	default:
		w.line("Renders environment %s to %s.", code(w.change.Environment), at)
	}
	if w.change.ReplacedEnvironment != "" {
		w.line("It replaces environment %s.", code(w.change.ReplacedEnvironment))
	}
	if w.change.MovedFrom.Branch != "" {
		w.line("It moves from %s.", w.destination(w.change.MovedFrom))
	}
	if len(w.change.ClusterTypes) == 0 {
		w.line("\nNo deployment target changes.")
		return
	}
	var added, removed, changed int
	for _, ct := range w.change.ClusterTypes {
		added, removed, changed = added+len(ct.Added), removed+len(ct.Removed), changed+len(ct.Changed)
	}
	w.line("\n**Deployment targets:** %d added, %d removed, %d changed on %s.", added, removed, changed,
		problem.Count(len(w.change.ClusterTypes), "cluster type"))
}

// failed lists the assignments that fail to render.
func (w *writer) failed() {
	kept := lists.Map(w.change.Kept, func(name string) string { return code(name) + ": kept as it is on the branch" })
	left := lists.Map(w.change.LeftOut, func(name string) string { return code(name) + ": left out" })
	if w.rows == 0 && len(kept)+len(left) > 0 {
		w.line("\n### Fails to render\n\n%d kept, %d left out.", len(kept), len(left))
		return
	}
	rows(w, "Fails to render", "deployment target", slices.Concat(kept, left), func(row string) string { return row })
}

// list formats names for a cell.
func (w *writer) list(all []string) string {
	if w.names == 0 && len(all) > 0 {
		return fmt.Sprint(len(all))
	}
	return names(all, w.names, code)
}

// names lists the names of the first elements, and counts those left out.
func names[T any](all []T, most int, name func(T) string) string {
	listed := strings.Join(lists.Map(first(all, most), name), ", ")
	if left := len(all) - most; left > 0 {
		listed += fmt.Sprintf(" and %d more", left)
	}
	return listed
}

// rows writes a list under a heading, as far as its rows fit.
func rows[T any](w *writer, heading, what string, all []T, row func(T) string) {
	if len(all) == 0 {
		return
	}
	w.line("\n### %s", heading)
	if w.rows > 0 {
		w.line("")
	}
	for _, one := range first(all, w.rows) {
		w.line("- %s", row(one))
	}
	w.more(len(all), what)
}

// more writes the number of rows left out.
func (w *writer) more(n int, what string) {
	if left := n - w.rows; left > 0 {
		w.line("\n… and %s.", problem.Count(left, "more "+what))
	}
}

// maxReasons limits the lines of the reason why a commit was promoted.
const maxReasons = 25

func (w *writer) promoted() {
	if p := w.change.Promoted; p != (PromotionChange{}) {
		w.line("\n**Promoted commit:** %s", w.move(p.Repo, p.From, p.To))
		if p.Explanation != "" {
			w.line("")
		}
		for _, line := range first(strings.Split(p.Explanation, "\n"), maxReasons) {
			if line != "" {
				w.line("- %s", code(strings.TrimPrefix(line, "- ")))
			}
		}
	}
}

func (w *writer) source(m SourceChange) string {
	text := code(repoName(m.Repo)) + ": " + w.move(m.Repo, m.From, m.To)
	if len(m.Registrations) > 0 && w.names > 0 {
		text = w.list(m.Registrations) + " from " + text
	}
	if len(m.Paths) > 0 {
		text += " (" + w.list(m.Paths) + ")"
	}
	return text
}

// move formats a commit, or a change from one commit to another, with links.
func (w *writer) move(repo, from, to string) string {
	commit := func(hash string) string {
		text := code(short(hash))
		if w.change.Links.Commit == nil || repo == "" {
			return text
		}
		return link(text, w.change.Links.Commit(repo, hash))
	}
	switch {
	case from == "":
		return commit(to)
	case to == "":
		return commit(from) + " → none"
	}
	text := commit(from) + " → " + commit(to)
	if w.change.Links.Compare != nil && repo != "" {
		if page := w.change.Links.Compare(repo, from, to); page != "" {
			text += ", " + link("compare", page)
		}
	}
	return text
}
