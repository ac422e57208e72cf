package render

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// The functions that instrument adds to the parse tree. Their names can't be written in a template.
const (
	presentFunc = "kalypso_present"
	tickFunc    = "kalypso_tick"
)

// manifestName is the name under which text/template knows a manifest; it stands in its errors.
const manifestName = "manifest"

// scope says on what a piece of a template depends: it is rendered once for each combination of these.
type scope uint8

const (
	ofClusterType scope = 1 << iota
	ofTarget
	ofValues
	ofAssignment
)

// fields are the data of a template by name, with their scope; those of the environment have none.
var fields = map[string]scope{
	"Environment":          0,
	"ClusterType":          ofClusterType,
	"DeploymentTargetName": ofTarget,
	"Workspace":            ofTarget,
	"Workload":             ofTarget,
	"Labels":               ofTarget,
	"Manifests":            ofTarget,
	"Repo":                 ofTarget,
	"Branch":               ofTarget,
	"Path":                 ofTarget,
	"ConfigData":           ofValues,
	"Namespace":            ofAssignment,
}

const everything = ofClusterType | ofTarget | ofValues | ofAssignment

// manifest is a parsed template text, cut at its top level into pieces by what they depend on, so that what depends on
// the cluster type, the target or the values alone is rendered once for each of them.
type manifest struct {
	pieces []piece
	needs  needs
	// prints says that there is literal text at the top level: the result is not empty, whatever the data.
	prints bool
}

// piece is a part of a manifest: literal text, the namespace, or what tmpl renders.
type piece struct {
	text      string
	namespace bool
	tmpl      *template.Template
	scope     scope
	mutates   bool
}

// needs are the maps of the data that a template reads, and which keys: nil means that it may read any.
type needs map[string]map[string]bool

func (n needs) whole(field string) { n[field] = nil }

func (n needs) key(field, key string) {
	keys, seen := n[field]
	if seen && keys == nil {
		return
	}
	if keys == nil {
		keys = map[string]bool{}
		n[field] = keys
	}
	keys[key] = true
}

// parseManifest parses one manifest. An error carries the line.
func parseManifest(text string) (*manifest, error) {
	if !strings.Contains(text, "{{") {
		return &manifest{pieces: []piece{{text: text}}, needs: needs{}, prints: strings.TrimSpace(text) != ""}, nil
	}
	root, err := template.New(manifestName).Funcs(functions).Parse(text)
	if err != nil {
		return nil, lineOf(err)
	}
	m := &manifest{needs: needs{}}
	if root.Tree == nil { // nothing but definitions
		return m, nil
	}
	splittable := true
	for _, node := range root.Root.Nodes {
		action, ok := node.(*parse.ActionNode)
		splittable = splittable && !(ok && len(action.Pipe.Decl) > 0)
	}
	dependencies := make([]dependency, len(root.Root.Nodes))
	for i, node := range root.Root.Nodes {
		dependencies[i].visit(node, true, m.needs)
		splittable = splittable && !dependencies[i].mutates
		if t, ok := node.(*parse.TextNode); ok && strings.TrimSpace(string(t.Text)) != "" {
			m.prints = true
		}
	}
	namespaces := make([]bool, len(root.Root.Nodes))
	for i, node := range root.Root.Nodes {
		namespaces[i] = isNamespace(node)
	}
	for _, t := range root.Templates() {
		if t.Tree != nil {
			instrument(t.Root)
		}
	}
	if !splittable {
		whole := piece{tmpl: root, scope: everything}
		for _, t := range root.Templates() {
			var d dependency
			d.visit(t.Root, false, needs{})
			whole.mutates = whole.mutates || d.mutates
		}
		m.pieces = []piece{whole}
		return m, nil
	}
	return m, m.split(root, dependencies, namespaces)
}

// split groups the nodes at the top level into pieces.
func (m *manifest) split(root *template.Template, dependencies []dependency, namespaces []bool) error {
	var group []parse.Node
	var groupScope scope
	flush := func() error {
		if len(group) == 0 {
			return nil
		}
		defer func() { group, groupScope = nil, 0 }()
		if text, ok := literal(group); ok {
			m.pieces = append(m.pieces, piece{text: text})
			return nil
		}
		tree := root.Tree.Copy()
		tree.Root.Nodes = group
		tmpl, err := root.AddParseTree(fmt.Sprintf("%s#%d", manifestName, len(m.pieces)), tree)
		if err != nil {
			return err
		}
		m.pieces = append(m.pieces, piece{tmpl: tmpl, scope: groupScope})
		return nil
	}
	for i, node := range root.Root.Nodes {
		s := dependencies[i].scope
		joins := len(group) == 0 || groupScope&ofAssignment == 0 && (s == groupScope || s == 0 || groupScope == 0)
		if !joins || namespaces[i] {
			if err := flush(); err != nil {
				return err
			}
		}
		if namespaces[i] {
			m.pieces = append(m.pieces, piece{namespace: true})
			continue
		}
		group = append(group, node)
		groupScope |= s
	}
	return flush()
}

func literal(nodes []parse.Node) (string, bool) {
	var b strings.Builder
	for _, n := range nodes {
		t, ok := n.(*parse.TextNode)
		if !ok {
			return "", false
		}
		b.Write(t.Text)
	}
	return b.String(), true
}

// isNamespace reports whether the node is {{ .Namespace }}, the one part of most templates that each assignment has of
// its own.
func isNamespace(node parse.Node) bool {
	a, ok := node.(*parse.ActionNode)
	if !ok || len(a.Pipe.Cmds) != 1 || len(a.Pipe.Cmds[0].Args) != 1 {
		return false
	}
	f, ok := a.Pipe.Cmds[0].Args[0].(*parse.FieldNode)
	return ok && len(f.Ident) == 1 && f.Ident[0] == "Namespace"
}

// dependency is what a node depends on.
type dependency struct {
	scope   scope
	mutates bool
}

// visit adds what node depends on. Where dot is not the data but an element of it, the pipeline that gave it was
// visited.
func (d *dependency) visit(node parse.Node, dotIsData bool, n needs) {
	switch node := node.(type) {
	case *parse.ListNode:
		if node != nil {
			for _, child := range node.Nodes {
				d.visit(child, dotIsData, n)
			}
		}
	case *parse.ActionNode:
		d.visit(node.Pipe, dotIsData, n)
	case *parse.PipeNode:
		if node != nil {
			for _, cmd := range node.Cmds {
				d.visit(cmd, dotIsData, n)
			}
		}
	case *parse.CommandNode:
		for _, arg := range node.Args {
			d.visit(arg, dotIsData, n)
		}
	case *parse.IfNode:
		d.branch(&node.BranchNode, dotIsData, dotIsData, n)
	case *parse.RangeNode:
		d.branch(&node.BranchNode, dotIsData, false, n)
	case *parse.WithNode:
		d.branch(&node.BranchNode, dotIsData, false, n)
	case *parse.TemplateNode:
		d.visit(node.Pipe, dotIsData, n)
	case *parse.ChainNode:
		d.visit(node.Node, dotIsData, n)
	case *parse.DotNode:
		if dotIsData {
			d.all(n)
		}
	case *parse.FieldNode:
		if dotIsData {
			d.field(node.Ident, n)
		}
	case *parse.VariableNode:
		switch {
		case node.Ident[0] != "$":
		case len(node.Ident) == 1:
			d.all(n)
		default:
			d.field(node.Ident[1:], n)
		}
	case *parse.IdentifierNode:
		d.mutates = d.mutates || mutating[node.Ident]
	}
}

func (d *dependency) branch(b *parse.BranchNode, dotIsData, inner bool, n needs) {
	d.visit(b.Pipe, dotIsData, n)
	d.visit(b.List, inner, n)
	d.visit(b.ElseList, dotIsData, n)
}

func (d *dependency) all(n needs) {
	d.scope = everything
	for field := range fields {
		n.whole(field)
	}
}

func (d *dependency) field(ident []string, n needs) {
	s, ok := fields[ident[0]]
	if !ok {
		s = everything // an error when it is rendered
	}
	d.scope |= s
	switch ident[0] {
	case "Repo", "Branch", "Path":
		n.key("Manifests", strings.ToLower(ident[0]))
	default:
		if len(ident) > 1 {
			n.key(ident[0], ident[1])
		} else {
			n.whole(ident[0])
		}
	}
}

// instrument makes every action that prints refuse a missing or null value, and every turn of a loop count.
func instrument(node parse.Node) {
	switch node := node.(type) {
	case *parse.ListNode:
		if node != nil {
			for _, child := range node.Nodes {
				instrument(child)
			}
		}
	case *parse.ActionNode:
		if len(node.Pipe.Decl) == 0 {
			source := node.Pipe.String()
			node.Pipe.Cmds = append(node.Pipe.Cmds, command(presentFunc, node.Pos,
				&parse.StringNode{NodeType: parse.NodeString, Pos: node.Pos, Quoted: strconv.Quote(source), Text: source}))
		}
	case *parse.IfNode:
		instrument(node.List)
		instrument(node.ElseList)
	case *parse.WithNode:
		instrument(node.List)
		instrument(node.ElseList)
	case *parse.RangeNode:
		instrument(node.List)
		instrument(node.ElseList)
		tick := &parse.ActionNode{NodeType: parse.NodeAction, Pos: node.Pos, Line: node.Line, Pipe: &parse.PipeNode{
			NodeType: parse.NodePipe, Pos: node.Pos, Line: node.Line, Cmds: []*parse.CommandNode{command(tickFunc, node.Pos)},
		}}
		node.List.Nodes = append([]parse.Node{tick}, node.List.Nodes...)
	}
}

func command(function string, pos parse.Pos, args ...parse.Node) *parse.CommandNode {
	return &parse.CommandNode{
		NodeType: parse.NodeCommand, Pos: pos,
		Args: append([]parse.Node{parse.NewIdentifier(function).SetPos(pos)}, args...),
	}
}

// MissingValueError is an action that prints a missing or null value.
type MissingValueError struct{ Action string }

// Error implements error.
func (e *MissingValueError) Error() string {
	return fmt.Sprintf("{{ %s }} prints a missing or null value; give it a value, or a default: {{ %s | default \"…\" }}", e.Action, e.Action)
}

func present(action string, v any) (any, error) {
	if v == nil {
		return nil, &MissingValueError{action}
	}
	return v, nil
}

// LineError is an error at a line of a manifest.
type LineError struct {
	Line int // from 1
	Text string
	Err  error // may be nil
}

// Error implements error.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// Unwrap gives the cause.
func (e *LineError) Unwrap() error { return e.Err }

var (
	located   = regexp.MustCompile(`(?s)^template: ` + manifestName + `[^:]*:(\d+)(?::\d+)?: (.*)$`)
	executing = regexp.MustCompile(`(?s)^executing "[^"]*" at (<.*?>): (.*)$`)
)

// lineOf makes an error of text/template one that has its line.
func lineOf(err error) error {
	match := located.FindStringSubmatch(err.Error())
	if match == nil {
		return err
	}
	line, atoiErr := strconv.Atoi(match[1])
	if atoiErr != nil {
		return err
	}
	text := match[2]
	if m := executing.FindStringSubmatch(text); m != nil {
		text = m[1] + ": " + m[2]
	}
	return &LineError{Line: line, Text: text, Err: err}
}

// Check returns the manifests of a template that do not parse.
func Check(t *fleet.Template) fleet.Problems {
	_, problems := parseTemplate(t)
	return problems
}
