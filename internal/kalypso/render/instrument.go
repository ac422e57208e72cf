package render

import (
	"fmt"
	"reflect"
	"regexp"
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
	entriesFunc = ownPrefix + "entries"
	compareFunc = ownPrefix + "compare"
	tickFunc    = ownPrefix + "tick"
	enterFunc   = ownPrefix + "enter"
	leaveFunc   = ownPrefix + "leave"
)

// instruments returns these functions with a budget.
func (b *budget) instruments() template.FuncMap {
	return template.FuncMap{
		presentFunc: b.present,
		entriesFunc: b.entries,
		compareFunc: b.compare,
		tickFunc:    b.tick,
		enterFunc:   b.enter,
		leaveFunc:   b.leave,
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
		variables += weigh(t.Root).variables
	}
	for _, t := range root.Templates() {
		in := instrumenter{variables, t != root}
		enter := in.call(enterFunc, t.Root)
		in.node(t.Root)
		if t != root {
			t.Root.Nodes = slices.Concat(enter, t.Root.Nodes, in.call(leaveFunc, nil))
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
		in.branch(&node.BranchNode)
	case *parse.WithNode:
		in.branch(&node.BranchNode)
	case *parse.RangeNode:
		tick := in.call(tickFunc, node.List)
		body := instrumenter{in.variables, true}
		in.pipe(node.Pipe)
		body.node(node.List)
		in.node(node.ElseList)
		if in.repeats {
			node.Pipe.Cmds = append(node.Pipe.Cmds, command(entriesFunc, node.Pos))
		}
		node.List.Nodes = append(tick, node.List.Nodes...)
	}
}

func (in instrumenter) branch(b *parse.BranchNode) {
	in.pipe(b.Pipe)
	in.node(b.List)
	in.node(b.ElseList)
}

// pipe makes arguments of comparisons charge the budget.
func (in instrumenter) pipe(p *parse.PipeNode) {
	if p == nil || !in.repeats {
		return
	}
	var cmds []*parse.CommandNode
	for i, cmd := range p.Cmds {
		function, ok := cmd.Args[0].(*parse.IdentifierNode)
		compares := ok && compares[function.Ident]
		if compares && i > 0 {
			cmds = append(cmds, command(compareFunc, cmd.Pos))
		}
		for n, arg := range cmd.Args {
			switch arg := arg.(type) {
			case *parse.PipeNode:
				in.pipe(arg)
			case *parse.ChainNode:
				if inner, ok := arg.Node.(*parse.PipeNode); ok {
					in.pipe(inner)
				}
			}
			switch arg.(type) {
			case *parse.PipeNode, *parse.ChainNode, *parse.FieldNode, *parse.VariableNode, *parse.DotNode:
				if compares {
					cmd.Args[n] = &parse.PipeNode{
						NodeType: parse.NodePipe,
						Pos:      arg.Position(),
						Cmds:     []*parse.CommandNode{command(compareFunc, arg.Position(), arg)},
					}
				}
			}
		}
		cmds = append(cmds, cmd)
	}
	p.Cmds = cmds
}

// call returns an action that calls one of these functions, with the weight of the body as argument.
func (in instrumenter) call(function string, body *parse.ListNode) []parse.Node {
	cmd := command(function, 0)
	action := &parse.ActionNode{
		NodeType: parse.NodeAction,
		Pipe:     &parse.PipeNode{NodeType: parse.NodePipe, Cmds: []*parse.CommandNode{cmd}},
	}
	if body != nil {
		action.Pos, cmd.Pos, action.Pipe.Pos = body.Pos, body.Pos, body.Pos
		weight := int64(weigh(body).nodes * (1 + in.variables/variablesPerNode))
		cmd.Args = append(
			cmd.Args,
			&parse.NumberNode{
				NodeType: parse.NodeNumber,
				Pos:      body.Pos,
				IsInt:    true,
				Int64:    weight,
				Text:     strconv.FormatInt(weight, 10),
			},
		)
	}
	return []parse.Node{action}
}

// variablesPerNode is the number of variables that can be searched in the time of one node.
const variablesPerNode = 32

func command(function string, pos parse.Pos, args ...parse.Node) *parse.CommandNode {
	return &parse.CommandNode{
		NodeType: parse.NodeCommand, Pos: pos,
		Args: append([]parse.Node{parse.NewIdentifier(function).SetPos(pos)}, args...),
	}
}

// MissingValueError is the error of an action that prints a missing or null value.
type MissingValueError struct{ Action string }

// Error implements error.
func (e *MissingValueError) Error() string {
	return fmt.Sprintf(
		"{{ %s }} prints a missing or null value; set a value, or a default: {{ %s | default \"…\" }}",
		e.Action,
		e.Action,
	)
}

// present passes on the value that an action prints.
func (b *budget) present(action string, v any) (any, error) {
	if v == nil {
		return nil, &MissingValueError{action}
	}
	if r := reflect.ValueOf(v); composite(r) {
		w, err := b.measure(r, 0)
		if err != nil {
			return nil, err
		}
		return v, b.charge(cost{work: w.bytes})
	}
	return v, nil
}

// entries passes on the value that a loop ranges over. The keys of a map are sorted before the first iteration.
func (b *budget) entries(v reflect.Value) (reflect.Value, error) {
	work := int64(0)
	if r := elem(v); r.Kind() == reflect.Map {
		work = 2 * shallowSize(r)
	}
	return v, b.charge(cost{work: work})
}

// compare passes on the argument of a comparison or lookup. It charges two calls: that of the comparison, and its own.
func (b *budget) compare(v reflect.Value) (reflect.Value, error) {
	const atOnce = 16 // bytes
	work := int64(0)
	if r := elem(v); r.Kind() == reflect.String {
		work = int64(r.Len() / atOnce)
	}
	return v, b.charge(cost{2, work})
}

// LineError is an error at a line of a manifest.
type LineError struct {
	Line int // from 1
	Text string
	Err  error // may be nil
}

// Error implements error.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

var (
	located   = regexp.MustCompile(`(?s)^template: ` + regexp.QuoteMeta(manifestName) + `[^:]*:(\d+)(?::\d+)?: (.*)$`)
	executing = regexp.MustCompile(`(?s)^executing "[^"]*" at (<.*?>): (.*)$`)
)

// templateTerms replaces Go's terms by those of template authors.
var templateTerms = strings.NewReplacer(
	" in type render.Data", ": templates have no such field",
	"unexpected EOF", "unexpected EOF: an {{ end }} is missing",
	"nil pointer evaluating interface {}", "a missing or null value has no field ",
)

// lineOf converts an error of text/template to a [LineError].
func lineOf(err error) error {
	match := located.FindStringSubmatch(err.Error())
	if match == nil {
		return err
	}
	line, atoiErr := strconv.Atoi(match[1])
	if atoiErr != nil {
		return err
	}
	text := strings.ReplaceAll(match[2], manifestName+":", "line ")
	if m := executing.FindStringSubmatch(text); m != nil {
		text = m[1] + ": " + m[2]
		if strings.Contains(m[1], ownPrefix) { // the user did not write it
			text = m[2]
		}
	}
	return &LineError{Line: line, Text: templateTerms.Replace(text), Err: err}
}
