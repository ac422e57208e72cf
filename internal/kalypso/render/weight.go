package render

import "text/template/parse"

// weight is the size of the body of a loop or a defined template.
type weight struct{ nodes, variables int }

// nodesPerJump is the number of nodes that take as long as a break or continue. text/template ends the iteration by a
// panic.
const nodesPerJump = 24

// weigh counts the nodes and variables of a list. The bodies of inner loops are counted separately.
func weigh(node parse.Node) (w weight) {
	w.visit(node)
	return w
}

func (w *weight) visit(node parse.Node) {
	w.nodes++
	switch node := node.(type) {
	case *parse.ListNode:
		if node != nil {
			for _, child := range node.Nodes {
				w.visit(child)
			}
		}
	case *parse.ActionNode:
		w.visit(node.Pipe)
	case *parse.TemplateNode:
		w.visit(node.Pipe)
	case *parse.PipeNode:
		if node != nil {
			w.variables += len(node.Decl)
			for _, cmd := range node.Cmds {
				w.visit(cmd)
			}
		}
	case *parse.CommandNode:
		for _, arg := range node.Args {
			w.visit(arg)
		}
	case *parse.ChainNode:
		w.visit(node.Node)
	case *parse.IfNode:
		w.branch(&node.BranchNode)
	case *parse.WithNode:
		w.branch(&node.BranchNode)
	case *parse.BreakNode, *parse.ContinueNode:
		w.nodes += nodesPerJump
	case *parse.RangeNode:
		w.variables += weigh(node.List).variables
		w.visit(node.Pipe)
		w.visit(node.ElseList)
	}
}

func (w *weight) branch(b *parse.BranchNode) {
	w.visit(b.Pipe)
	w.visit(b.List)
	w.visit(b.ElseList)
}
