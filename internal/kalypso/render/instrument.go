package render

import (
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
)

// instrument adds calls of these functions. It does so after parsing, so no template can call them itself.
const (
	ownPrefix   = "kalypso_"
	presentFunc = ownPrefix + "present"
	readFunc    = ownPrefix + "read"
	tickFunc    = ownPrefix + "tick"
	checkFunc   = ownPrefix + "check"
	boundFunc   = ownPrefix + "bound"
	itemFunc    = ownPrefix + "item"
	itemsFunc   = ownPrefix + "items"
	ofKey       = "OfKey" // ends the names of the checks that also get the key of the value
)

// instruments returns these functions with a budget.
func (b *budget) instruments() template.FuncMap {
	return template.FuncMap{
		presentFunc: b.present, presentFunc + ofKey: b.presentOfKey, checkFunc: b.check, checkFunc + ofKey: b.checkOfKey,
		boundFunc: b.bound, itemFunc: item, itemsFunc: items, readFunc: b.read, tickFunc: b.tick,
	}
}

// compares lists the functions of text/template that read all bytes of their arguments but can't be replaced by metered
// ones, because only built-in functions accept missing values.
var compares = map[string]bool{"eq": true, "ne": true, "lt": true, "le": true, "gt": true, "ge": true, "index": true}

// instrument rewrites a template. It adds the checks of [valueChecks]. Everything that can be repeated charges the
// budget: loop iterations, calls of defined templates, comparisons and printed values.
func instrument(root *template.Template) {
	root.Funcs((*budget)(nil).instruments())
	variables := 0
	for _, t := range root.Templates() {
		variables += strings.Count(t.Root.String(), ":=")
	}
	for _, t := range root.Templates() {
		in := instrumenter{variables, t != root, &valueChecks{ofData: t == root, isData: t == root}}
		tick := in.tick(t.Root, callSteps)
		in.node(t.Root)
		if t != root {
			t.Root.Nodes = slices.Insert(t.Root.Nodes, 0, tick)
		}
	}
}

type instrumenter struct {
	variables int
	repeats   bool // the node may be executed more than once
	checks    *valueChecks
}

func (in instrumenter) node(node parse.Node) {
	switch node := node.(type) {
	case *parse.ListNode:
		if node != nil {
			for _, child := range node.Nodes {
				in.node(child)
			}
		}
	case *parse.TemplateNode:
		if node.Pipe != nil {
			source := "template " + strconv.Quote(node.Name) + " " + node.Pipe.String()
			in.checks.pipe(node.Pipe, toFile, site{action: source})
			in.pipe(node.Pipe)
		}
	case *parse.ActionNode:
		in.checks.action(node.Pipe)
		in.pipe(node.Pipe)
	case *parse.IfNode:
		scope := *in.checks
		if len(node.Pipe.Decl) > 0 {
			scope.bind("if ", node.Pipe)
		} else {
			scope.pipe(node.Pipe, toCondition, site{action: "if " + node.Pipe.String()})
		}
		in.branch(&node.BranchNode, in.repeats, &scope, &scope)
	case *parse.WithNode:
		scope := *in.checks
		name := scope.nameOf(node.Pipe.Cmds)
		scope.bind("with ", node.Pipe)
		in.branch(&node.BranchNode, in.repeats, scope.with(name), &scope)
	case *parse.RangeNode:
		tick := in.tick(node.List, 1)
		scope := *in.checks
		in.branch(&node.BranchNode, true, scope.each(node.Pipe), &scope)
		if in.repeats {
			node.Pipe.Cmds = append(node.Pipe.Cmds, command(readFunc, node.Pos))
		}
		node.List.Nodes = slices.Insert(node.List.Nodes, 0, tick)
	}
}

// branch adds calls to the pipeline, and to the bodies with their checks. The body may be executed more than once if
// repeats is set.
func (in instrumenter) branch(b *parse.BranchNode, repeats bool, body, otherwise *valueChecks) {
	in.pipe(b.Pipe)
	instrumenter{in.variables, repeats, body}.node(b.List)
	instrumenter{in.variables, in.repeats, otherwise}.node(b.ElseList)
}

// pipe adds calls that charge the budget for the arguments of comparisons.
func (in instrumenter) pipe(p *parse.PipeNode) {
	if p == nil || !in.repeats {
		return
	}
	for i, cmd := range slices.Backward(p.Cmds) {
		function, ok := cmd.Args[0].(*parse.IdentifierNode)
		compares := ok && compares[function.Ident]
		for n, arg := range cmd.Args {
			switch arg := arg.(type) {
			case *parse.PipeNode:
				in.pipe(arg)
			case *parse.ChainNode:
				if inner, ok := arg.Node.(*parse.PipeNode); ok {
					in.pipe(inner)
				}
			case *parse.FieldNode, *parse.VariableNode, *parse.DotNode:
			default:
				continue
			}
			if compares {
				cmd.Args[n] = pipeOf(command(readFunc, arg.Position(), arg))
			}
		}
		if compares && i > 0 {
			p.Cmds = slices.Insert(p.Cmds, i, command(readFunc, cmd.Pos))
		}
	}
}

// tick returns an action that charges for the body of a loop or of a defined template. The number of steps grows with
// the length of the source and with the variables that the body looks up, and is never below least.
func (in instrumenter) tick(body *parse.ListNode, least int) parse.Node {
	const bytesPerStep, variablesPerStep = 64, 32
	steps := int64((least + len(body.String())/bytesPerStep) * (1 + in.variables/variablesPerStep))
	cmd := command(tickFunc, body.Pos, &parse.NumberNode{
		NodeType: parse.NodeNumber, Pos: body.Pos, IsInt: true, Int64: steps, Text: strconv.FormatInt(steps, 10),
	})
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: cmd.Pos, Pipe: pipeOf(cmd)}
}

func pipeOf(cmd *parse.CommandNode) *parse.PipeNode {
	return &parse.PipeNode{NodeType: parse.NodePipe, Pos: cmd.Pos, Cmds: []*parse.CommandNode{cmd}}
}

func command(function string, pos parse.Pos, args ...parse.Node) *parse.CommandNode {
	return &parse.CommandNode{
		NodeType: parse.NodeCommand, Pos: pos,
		Args: append([]parse.Node{parse.NewIdentifier(function).SetPos(pos)}, args...),
	}
}
