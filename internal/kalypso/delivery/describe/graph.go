package describe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// MaxNodes limits the nodes of a graph.
const MaxNodes = 40

// change is the kind of change that an edge or a node shows, in the order of the legend.
type change int

const (
	added change = iota
	removed
	changed
	unchanged
)

// styles lists how the graph draws each kind: the arrow, its style and the style of a node, and its legend. The arrows
// differ in shape too, for those who do not see the colours. The colours work on a light and on a dark background.
var styles = [...]struct{ name, arrow, color, more, legend string }{
	added:     {"added", "==>", "#2da44e", "stroke-width:3px", "green and thick: added"},
	removed:   {"removed", "-.->", "#e5534b", "stroke-dasharray:4", "red and dotted: removed, or loses targets"},
	changed:   {"changed", "-->", "#d4a72c", "stroke-width:2px", "yellow: changed"},
	unchanged: {"unchanged", "---", "#8c959f", "stroke-width:1px", "grey: unchanged"},
}

// graph draws the assignments that change, in Mermaid, and beside them the unchanged ones if there is room. If too many
// change, it draws only the cluster types, or nothing.
func (w *writer) graph() {
	g := &graph{most: w.nodes}
	if g.drawAssignments(w.change.ClusterTypes, w.same) {
		g.drawRequired(slices.Concat(w.change.ClusterTypes, w.same), w.change.Requires)
	} else {
		g = &graph{most: w.nodes}
		if !g.drawClusterTypes(w.change.ClusterTypes) {
			return
		}
	}
	w.line("\n%s", g)
}

// graph is a Mermaid flowchart.
type graph struct {
	most    int // nodes
	nodes   []string
	ids     map[string]string // of nodes, by key
	edges   []string
	byKind  [len(styles)][]string // numbers of edges
	classes [len(styles)][]string // ids of nodes
}

// node returns the ID of the node with a key, and adds the node if needed.
func (g *graph) node(key, shape, label string) string {
	if id, ok := g.ids[key]; ok {
		return id
	}
	if g.ids == nil {
		g.ids = map[string]string{}
	}
	id := fmt.Sprintf("%s%d", key[:1], len(g.nodes))
	g.ids[key] = id
	open, shut, _ := strings.Cut(shape, " ")
	g.nodes = append(g.nodes, fmt.Sprintf(`%s%s"%s"%s`, id, open, label, shut))
	return id
}

// The keys begin with the letter of the ids. It is neither o nor x, which Mermaid reads as the head of an arrow.
func clusterTypeKey(name string) string { return "c " + name }
func targetKey(name string) string      { return "t " + name }

func (g *graph) clusterType(ct inventory.ClusterType, label string) string {
	id := g.node(clusterTypeKey(ct.Name), "[ ]", label)
	switch {
	case ct.Kind == inventory.Added:
		g.classes[added] = append(g.classes[added], id)
	case ct.Kind == inventory.Removed, len(ct.Removed) > 0:
		g.classes[removed] = append(g.classes[removed], id)
	}
	return id
}

func (g *graph) assign(target, clusterType string, kind change) {
	g.byKind[kind] = append(g.byKind[kind], fmt.Sprint(len(g.edges)))
	g.edges = append(
		g.edges,
		fmt.Sprintf("%s %s %s", g.node(targetKey(target), "([ ])", mermaid(target)), styles[kind].arrow, clusterType),
	)
}

// drawAssignments draws the targets and the cluster types that they are on. It returns false if the changes do not fit.
func (g *graph) drawAssignments(changes, same []inventory.ClusterType) bool {
	keys := map[string]bool{}
	for _, ct := range changes {
		keys[clusterTypeKey(ct.Name)] = true
		for _, target := range slices.Concat(ct.Added, ct.Removed, ct.Changed) {
			keys[targetKey(target)] = true
		}
	}
	if len(keys) == 0 || len(keys) > g.most {
		return false
	}
	for _, ct := range changes {
		id := g.clusterType(ct, mermaid(ct.Name))
		for kind, targets := range [][]string{added: ct.Added, removed: ct.Removed, changed: ct.Changed} {
			for _, target := range targets {
				g.assign(target, id, change(kind))
			}
		}
	}
	for _, ct := range slices.Concat(changes, same) {
		g.drawUnchanged(ct)
	}
	return true
}

// drawUnchanged draws the unchanged targets of a cluster type, all or none.
func (g *graph) drawUnchanged(ct inventory.ClusterType) {
	keys := append([]string{clusterTypeKey(ct.Name)}, lists.Map(ct.Unchanged, targetKey)...)
	known := func(key string) bool { return g.ids[key] != "" }
	if room := g.most - len(g.nodes); len(slices.DeleteFunc(keys, known)) > room {
		return
	}
	id := g.ids[clusterTypeKey(ct.Name)]
	if id == "" {
		id = g.clusterType(ct, mermaid(ct.Name))
	}
	for _, target := range ct.Unchanged {
		g.assign(target, id, unchanged)
	}
}

// drawRequired draws the targets that others require on a cluster type, if both are drawn.
func (g *graph) drawRequired(clusterTypes []inventory.ClusterType, of func(clusterType, target string) []string) {
	if of == nil {
		return
	}
	drawn := map[string]bool{}
	for _, ct := range clusterTypes {
		for _, target := range slices.Concat(ct.Added, ct.Changed, ct.Unchanged) {
			from := g.ids[targetKey(target)]
			if from == "" {
				continue
			}
			for _, required := range of(ct.Name, target) {
				to := g.ids[targetKey(required)]
				if edge := from + " -->|requires| " + to; to != "" && !drawn[edge] {
					drawn[edge] = true
					g.edges = append(g.edges, edge)
				}
			}
		}
	}
}

// drawClusterTypes draws each cluster type with the numbers of its targets that change. It returns false if they do
// not fit.
func (g *graph) drawClusterTypes(changes []inventory.ClusterType) bool {
	if len(changes) == 0 || len(changes) > g.most {
		return false
	}
	for _, ct := range changes {
		label := fmt.Sprintf("%s: +%d -%d ~%d", mermaid(ct.Name), len(ct.Added), len(ct.Removed), len(ct.Changed))
		if id := g.clusterType(ct, label); ct.Kind == inventory.Changed && len(ct.Removed) == 0 {
			g.classes[changed] = append(g.classes[changed], id)
		}
	}
	return true
}

// String returns the graph as Markdown, with a legend of the kinds that it shows.
func (g *graph) String() string {
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart LR\n")
	for _, line := range slices.Concat(g.nodes, g.edges) {
		b.WriteString("  " + line + "\n")
	}
	var legend []string
	for kind, style := range styles {
		css := "stroke:" + style.color + "," + style.more
		if numbers := g.byKind[kind]; len(numbers) > 0 {
			fmt.Fprintf(&b, "  linkStyle %s %s\n", strings.Join(numbers, ","), css)
		}
		if ids := g.classes[kind]; len(ids) > 0 {
			fmt.Fprintf(&b, "  classDef %s %s\n  class %s %[1]s\n", style.name, css, strings.Join(ids, ","))
		}
		if len(g.byKind[kind])+len(g.classes[kind]) > 0 {
			legend = append(legend, style.legend)
		}
	}
	text := strings.Join(legend, ", ")
	b.WriteString("```\n\n" + strings.ToUpper(text[:1]) + text[1:] + ".")
	return b.String()
}

// mermaid escapes a quoted text of a Mermaid graph.
func mermaid(s string) string {
	var b strings.Builder
	for _, r := range printable.Line(s) {
		if strings.ContainsRune("\"#<>&`;\\", r) {
			fmt.Fprintf(&b, "#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
