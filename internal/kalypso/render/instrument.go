package render

import (
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
)

// The functions that instrument adds calls of. They are added after parsing, so no template can call them itself.
const (
	ownPrefix   = "kalypso_"
	presentFunc = ownPrefix + "present"
	readFunc    = ownPrefix + "read"
	tickFunc    = ownPrefix + "tick"
	enterFunc   = ownPrefix + "enter"
	leaveFunc   = ownPrefix + "leave"
)

// instruments returns these functions with a budget.
func (b *budget) instruments() template.FuncMap {
	return template.FuncMap{
		presentFunc: b.present, readFunc: b.read, tickFunc: b.tick, enterFunc: b.enter, leaveFunc: b.leave,
	}
}

// compares lists the functions of text/template that read all bytes of their arguments and can't be replaced: no
// other function can accept missing values as they do.
var compares = map[string]bool{"eq": true, "ne": true, "lt": true, "le": true, "gt": true, "ge": true, "index": true}

// instrument rewrites a template. Every action that prints rejects missing and null values. Everything that can be
// repeated charges the budget: loop iterations, calls of defined templates, comparisons and printed values.
func instrument(root *template.Template) {
	root.Funcs((*budget)(nil).instruments())
	variables := 0
	for _, t := range root.Templates() {
		variables += strings.Count(t.Root.String(), ":=")
	}
	for _, t := range root.Templates() {
		in := instrumenter{variables, t != root}
		enter := in.action(enterFunc, t.Root)
		in.node(t.Root)
		if t != root {
			t.Root.Nodes = slices.Concat(enter, t.Root.Nodes, in.action(leaveFunc, nil))
		}
	}
}

type instrumenter struct {
	variables int
	repeats   bool // the node may be executed more than once
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
		in.pipe(node.Pipe)
	case *parse.ActionNode:
		source := node.Pipe.String()
		in.pipe(node.Pipe)
		if len(node.Pipe.Decl) == 0 {
			node.Pipe.Cmds = append(node.Pipe.Cmds, command(presentFunc, node.Pos,
				&parse.StringNode{NodeType: parse.NodeString, Pos: node.Pos, Quoted: strconv.Quote(source), Text: source}))
		}
	case *parse.IfNode:
		in.branch(&node.BranchNode, in)
	case *parse.WithNode:
		in.branch(&node.BranchNode, in)
	case *parse.RangeNode:
		tick := in.action(tickFunc, node.List)
		in.branch(&node.BranchNode, instrumenter{in.variables, true})
		if in.repeats {
			node.Pipe.Cmds = append(node.Pipe.Cmds, command(readFunc, node.Pos))
		}
		node.List.Nodes = append(tick, node.List.Nodes...)
	}
}

func (in instrumenter) branch(b *parse.BranchNode, body instrumenter) {
	in.pipe(b.Pipe)
	body.node(b.List)
	in.node(b.ElseList)
}

// pipe makes the arguments of comparisons charge the budget.
func (in instrumenter) pipe(p *parse.PipeNode) {
	if p == nil || !in.repeats {
		return
	}
	var cmds []*parse.CommandNode
	for _, cmd := range p.Cmds {
		function, ok := cmd.Args[0].(*parse.IdentifierNode)
		compares := ok && compares[function.Ident]
		if compares && len(cmds) > 0 {
			cmds = append(cmds, command(readFunc, cmd.Pos))
		}
		for n, arg := range cmd.Args {
			inner := arg
			if chain, ok := arg.(*parse.ChainNode); ok {
				inner = chain.Node
			}
			if pipe, ok := inner.(*parse.PipeNode); ok {
				in.pipe(pipe)
			}
			switch arg.(type) {
			case *parse.PipeNode, *parse.ChainNode, *parse.FieldNode, *parse.VariableNode, *parse.DotNode:
				if compares {
					cmd.Args[n] = pipeOf(command(readFunc, arg.Position(), arg))
				}
			}
		}
		cmds = append(cmds, cmd)
	}
	p.Cmds = cmds
}

// action returns an action that calls one of these functions. Its argument is the number of steps that the body of a
// loop or a defined template counts, by the length of its source and by the variables that it searches.
func (in instrumenter) action(function string, body *parse.ListNode) []parse.Node {
	const bytesPerStep, variablesPerStep = 64, 32
	cmd := command(function, 0)
	if body != nil {
		steps := int64((1 + len(body.String())/bytesPerStep) * (1 + in.variables/variablesPerStep))
		cmd = command(function, body.Pos, &parse.NumberNode{
			NodeType: parse.NodeNumber, Pos: body.Pos, IsInt: true, Int64: steps, Text: strconv.FormatInt(steps, 10),
		})
	}
	return []parse.Node{&parse.ActionNode{NodeType: parse.NodeAction, Pos: cmd.Pos, Pipe: pipeOf(cmd)}}
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
