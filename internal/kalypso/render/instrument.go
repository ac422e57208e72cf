package render

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
)

// The functions that instrument calls. They are added when a template is parsed, so that none can call them itself.
const (
	presentFunc = "kalypso_present"
	boundedFunc = "kalypso_bounded"
	tickFunc    = "kalypso_tick"
)

// instrument makes every action that prints refuse a missing or null value, every turn of a loop and every call of a
// defined template count, and what they hand on from one to the next bounded: a text that a loop doubles soon fills any
// memory.
func instrument(root *template.Template) {
	root.Funcs(template.FuncMap{presentFunc: present, boundedFunc: bounded, tickFunc: func() (string, error) { return "", nil }})
	for _, t := range root.Templates() {
		instrumentNode(t.Root)
		if t != root {
			t.Root.Nodes = append([]parse.Node{tick(t.Root.Pos, 0)}, t.Root.Nodes...)
		}
	}
}

func instrumentNode(node parse.Node) {
	switch node := node.(type) {
	case *parse.ListNode:
		if node != nil {
			for _, child := range node.Nodes {
				instrumentNode(child)
			}
		}
	case *parse.TemplateNode:
		if node.Pipe != nil {
			node.Pipe.Cmds = append(node.Pipe.Cmds, command(boundedFunc, node.Pos))
		}
	case *parse.ActionNode:
		if len(node.Pipe.Decl) > 0 {
			node.Pipe.Cmds = append(node.Pipe.Cmds, command(boundedFunc, node.Pos))
		} else {
			source := node.Pipe.String()
			node.Pipe.Cmds = append(node.Pipe.Cmds, command(presentFunc, node.Pos,
				&parse.StringNode{NodeType: parse.NodeString, Pos: node.Pos, Quoted: strconv.Quote(source), Text: source}))
		}
	case *parse.IfNode:
		instrumentNode(node.List)
		instrumentNode(node.ElseList)
	case *parse.WithNode:
		instrumentNode(node.List)
		instrumentNode(node.ElseList)
	case *parse.RangeNode:
		instrumentNode(node.List)
		instrumentNode(node.ElseList)
		node.List.Nodes = append([]parse.Node{tick(node.Pos, node.Line)}, node.List.Nodes...)
	}
}

// tick is an action that counts.
func tick(pos parse.Pos, line int) parse.Node {
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: pos, Line: line, Pipe: &parse.PipeNode{
		NodeType: parse.NodePipe, Pos: pos, Line: line, Cmds: []*parse.CommandNode{command(tickFunc, pos)},
	}}
}

func command(function string, pos parse.Pos, args ...parse.Node) *parse.CommandNode {
	return &parse.CommandNode{
		NodeType: parse.NodeCommand, Pos: pos,
		Args: append([]parse.Node{parse.NewIdentifier(function).SetPos(pos)}, args...),
	}
}

// LoopError is a template that loops, or calls templates that it defines, more often than any should.
type LoopError struct{}

// Error implements error.
func (*LoopError) Error() string {
	return fmt.Sprintf("the template loops, or calls templates that it defines, more than %d times; does it ever end?", maxIterations)
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

// SizeError is a variable, or the data of a defined template, that grows larger than any should.
type SizeError struct{}

// Error implements error.
func (*SizeError) Error() string {
	return fmt.Sprintf("a value grows to more than %d bytes or %d elements; does a loop double it?", maxBytes, maxIterations)
}

func bounded(v any) (any, error) {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.String:
		if r.Len() > maxBytes {
			return nil, &SizeError{}
		}
	case reflect.Slice, reflect.Map:
		if r.Len() > maxIterations {
			return nil, &SizeError{}
		}
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
	located   = regexp.MustCompile(`(?s)^template: ` + regexp.QuoteMeta(manifestName) + `[^:]*:(\d+)(?::\d+)?: (.*)$`)
	executing = regexp.MustCompile(`(?s)^executing "[^"]*" at (<.*?>): (.*)$`)
)

// inOurWords says what Go's names for things mean to who writes a template.
var inOurWords = strings.NewReplacer(
	" in type render.Data", ": templates have no such field",
	"unexpected EOF", "unexpected EOF: an {{ end }} is missing",
	"nil pointer evaluating interface {}", "a missing or null value has no field ",
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
	text := strings.ReplaceAll(match[2], manifestName+":", "line ")
	text = strings.ReplaceAll(text, " | "+boundedFunc, "") // the user did not write it
	if m := executing.FindStringSubmatch(text); m != nil {
		text = m[1] + ": " + m[2]
	}
	return &LineError{Line: line, Text: inOurWords.Replace(text), Err: err}
}
