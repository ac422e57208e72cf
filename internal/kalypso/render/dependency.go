package render

import (
	"strings"
	"text/template/parse"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// scope is the set of inputs that a piece of a template depends on. The piece is rendered once for each combination
// of them.
type scope uint8

const (
	ofClusterType scope = 1 << iota
	ofTarget
	ofValues
	ofSecrets
	ofAssignment
)

// fields maps the names of a template's data to their scopes. Data that is the same in the whole environment has the
// empty scope.
var fields = map[string]scope{
	"Environment":          0,
	"ClusterType":          ofClusterType,
	"ClusterTypeLabels":    ofClusterType,
	"DeploymentTargetName": ofTarget,
	"Workspace":            ofTarget,
	"Workload":             ofTarget,
	"Labels":               ofTarget,
	"Manifests":            ofTarget,
	"Repo":                 ofTarget,
	"Branch":               ofTarget,
	"Path":                 ofTarget,
	"ConfigData":           ofValues,
	"SecretData":           ofSecrets,
	"Requires":             ofAssignment,
	"Namespace":            ofAssignment,
}

const everything = ofClusterType | ofTarget | ofValues | ofSecrets | ofAssignment

// needs contains the maps that a template reads, and their keys. nil means that it may read any key.
type needs map[string]map[string]bool

func (n needs) readsAll(field string) { n[field] = nil }

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

// any reports whether n reads an unknown key.
func (n needs) any(missing map[string]map[string]bool) bool {
	for field, keys := range n {
		absent := missing[field]
		if len(absent) == 0 {
			continue
		}
		if keys == nil || absent[unknown.Text] {
			return true
		}
		for k := range keys {
			if absent[k] {
				return true
			}
		}
	}
	return false
}

// dependency describes what a node depends on.
type dependency struct {
	scope   scope
	mutates bool
	breaks  bool      // it has a break, of its own loop or of one around it
	encodes encodings // of texts
}

// visit adds the dependencies of node. Inside range and with, dot is not the data, but an element of it. Its
// dependencies were already added with the pipeline of the range or with.
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
		if d.lookup(node, dotIsData, n) {
			return
		}
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
		d.variable(node.Ident, n)
	case *parse.BreakNode:
		d.breaks = true
	case *parse.IdentifierNode:
		d.mutates = d.mutates || mutating[node.Ident]
		d.encodes |= encoders[node.Ident]
	}
}

// variable adds the dependencies of a variable: $ is the data.
func (d *dependency) variable(ident []string, n needs) {
	switch {
	case ident[0] != "$":
	case len(ident) == 1:
		d.all(n)
	default:
		d.field(ident[1:], n)
	}
}

func (d *dependency) branch(b *parse.BranchNode, dotIsData, inner bool, n needs) {
	d.visit(b.Pipe, dotIsData, n)
	d.visit(b.List, inner, n)
	d.visit(b.ElseList, dotIsData, n)
}

// lookup adds the dependencies of a command that looks up a literal key in a map of the data: {{ index .ConfigData
// "a-b" }}.
func (d *dependency) lookup(cmd *parse.CommandNode, dotIsData bool, n needs) bool {
	if len(cmd.Args) < 3 {
		return false
	}
	function, isFunction := cmd.Args[0].(*parse.IdentifierNode)
	of, isField := cmd.Args[1].(*parse.FieldNode)
	key, isText := cmd.Args[2].(*parse.StringNode)
	if !isFunction || !isField || !isText || len(of.Ident) != 1 || !lookups[function.Ident] {
		return false
	}
	if dotIsData {
		d.field([]string{of.Ident[0], key.Text}, n)
	}
	for _, arg := range cmd.Args[3:] {
		d.visit(arg, dotIsData, n)
	}
	return true
}

var lookups = map[string]bool{"index": true, "get": true, "hasKey": true}

func (d *dependency) all(n needs) {
	d.scope = everything
	for field := range fields {
		n.readsAll(field)
	}
}

func (d *dependency) field(ident []string, n needs) {
	s, ok := fields[ident[0]]
	if !ok {
		s = everything // rendering reports the error
	}
	d.scope |= s
	switch ident[0] {
	case "Repo", "Branch", "Path":
		n.key("Manifests", strings.ToLower(ident[0]))
	default:
		if len(ident) > 1 {
			n.key(ident[0], ident[1])
		} else {
			n.readsAll(ident[0])
		}
	}
}
