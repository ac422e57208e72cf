package render

import (
	"slices"
	"strconv"
	"text/template"
	"text/template/parse"
)

// instrument adds calls of these functions. It does so after parsing, so no template can call them itself.
const (
	ownPrefix   = "kalypso_"
	presentFunc = ownPrefix + "present"
	repeatFunc  = ownPrefix + "repeat"
	checkFunc   = ownPrefix + "check"
	boundFunc   = ownPrefix + "bound"
	itemFunc    = ownPrefix + "item"
	itemsFunc   = ownPrefix + "items"
	ofKey       = "OfKey" // ends the names of the checks that also get the key of the value
)

// instruments returns these functions with bounds.
func (b *bounds) instruments() template.FuncMap {
	return template.FuncMap{
		presentFunc: b.present, presentFunc + ofKey: b.presentOfKey, checkFunc: b.check, checkFunc + ofKey: b.checkOfKey,
		boundFunc: b.bound, itemFunc: item, itemsFunc: items, repeatFunc: b.repeat,
	}
}

// instrument rewrites a template. It adds the checks of [valueChecks]. Everything that can be repeated checks the
// bounds: the bodies of loops and of defined templates.
func instrument(root *template.Template) {
	root.Funcs((*bounds)(nil).instruments())
	for _, t := range root.Templates() {
		instrumentNode(t.Root, &valueChecks{ofData: t == root, isData: t == root})
		if t != root {
			repeats(t.Root)
		}
	}
}

func instrumentNode(node parse.Node, checks *valueChecks) {
	switch node := node.(type) {
	case *parse.ListNode:
		if node != nil {
			for _, child := range node.Nodes {
				instrumentNode(child, checks)
			}
		}
	case *parse.TemplateNode:
		if node.Pipe != nil {
			source := "template " + strconv.Quote(node.Name) + " " + node.Pipe.String()
			checks.pipe(node.Pipe, toFile, site{action: source})
		}
	case *parse.ActionNode:
		checks.action(node.Pipe)
	case *parse.IfNode:
		scope := *checks
		if len(node.Pipe.Decl) > 0 {
			scope.bind("if ", node.Pipe)
		} else {
			scope.pipe(node.Pipe, toCondition, site{action: "if " + node.Pipe.String()})
		}
		instrumentNode(node.List, &scope)
		instrumentNode(node.ElseList, &scope)
	case *parse.WithNode:
		scope := *checks
		name := scope.nameOf(node.Pipe.Cmds)
		scope.bind("with ", node.Pipe)
		instrumentNode(node.List, scope.with(name))
		instrumentNode(node.ElseList, &scope)
	case *parse.RangeNode:
		scope := *checks
		instrumentNode(node.List, scope.each(node.Pipe))
		instrumentNode(node.ElseList, &scope)
		repeats(node.List)
	}
}

// repeats adds an action that checks the bounds to a body that can be executed any number of times.
func repeats(body *parse.ListNode) {
	action := &parse.ActionNode{
		NodeType: parse.NodeAction, Pos: body.Pos, Pipe: pipeOf(command(repeatFunc, body.Pos)),
	}
	body.Nodes = slices.Insert(body.Nodes, 0, parse.Node(action))
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
