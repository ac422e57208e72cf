package render

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"go.yaml.in/yaml/v3"
)

// entrywise describes how to build the result of a piece for all values from its results for each key alone. Such a
// piece is rendered once for the keys that several assignments have in common. If all 10,000 assignments of large-10k
// have a value of their own, rendering takes a quarter of the CPU this way (without it 5,000 assignments per second;
// the bound is 15,000).
type entrywise struct {
	separator string
	yaml      bool // the keys are in the order of the YAML library, see [yamlOrder]
	sum       bool // the results are numbers; the result for all values is their exclusive or
	// function prints the values, and indent indents the text. Called without a template, they take half the time. A loop
	// has none.
	function, indent string
	columns          int
}

// worthEntries is the number of assignments above which it is faster to render each key of their base once than to
// render all values for each assignment.
const worthEntries = 4

// entrywiseOf returns how to build the result of a node from its results for each key, or nil if that is not possible.
// It is possible for a loop over .ConfigData whose body reads only the key and the value, and for an action that prints
// toYaml, stringify or hash of .ConfigData.
func entrywiseOf(node parse.Node) *entrywise {
	switch node := node.(type) {
	case *parse.RangeNode:
		var d dependency
		d.visit(node.List, false, needs{})
		if len(node.Pipe.Cmds) == 1 && isValues(node.Pipe.Cmds[0].Args) && !node.Pipe.IsAssign && d.scope == 0 &&
			!d.breaks {
			return &entrywise{}
		}
	case *parse.ActionNode:
		if len(node.Pipe.Decl) == 0 {
			return printOfValues(node.Pipe.Cmds)
		}
	}
	return nil
}

// printOfValues returns how to print the values with toYaml, stringify or hash, which an indentation may follow. It
// returns nil if the commands do anything else.
func printOfValues(commands []*parse.CommandNode) *entrywise {
	e := &entrywise{separator: "\n", yaml: true}
	switch first := commands[0].Args; {
	case len(first) == 2 && isValues(first[1:]): // toYaml .ConfigData
		e.function, commands = identifier(first[0]), commands[1:]
	case isValues(first) && len(commands) > 1 && len(commands[1].Args) == 1: // .ConfigData | toYaml
		e.function, commands = identifier(commands[1].Args[0]), commands[2:]
	}
	switch e.function {
	case "toYaml", "stringify":
	case "hash":
		e.yaml, e.sum = false, true
		if len(commands) == 0 {
			return e
		}
		return nil
	default:
		return nil
	}
	if len(commands) == 0 {
		return e
	}
	if len(commands) > 1 || len(commands[0].Args) != 2 {
		return nil
	}
	columns, isNumber := commands[0].Args[1].(*parse.NumberNode)
	if !isNumber || !columns.IsInt || columns.Int64 < 0 || columns.Int64 > maxColumns {
		return nil
	}
	e.indent, e.columns = identifier(commands[0].Args[0]), int(columns.Int64)
	switch e.indent {
	case "indent":
		return e
	case "nindent": // begins with a line break
		e.separator = ""
		return e
	}
	return nil
}

// maxColumns is the largest indentation of entries. A larger one is left to the template.
const maxColumns = 999

// isValues reports whether these arguments are .ConfigData alone.
func isValues(args []parse.Node) bool {
	field, isField := args[0].(*parse.FieldNode)
	return isField && len(args) == 1 && len(field.Ident) == 1 && field.Ident[0] == "ConfigData"
}

// identifier returns the name of a function, or "" for any other node.
func identifier(node parse.Node) string {
	if f, ok := node.(*parse.IdentifierNode); ok {
		return f.Ident
	}
	return ""
}

// orderKey is the cache key for the order of keys.
type orderKey struct {
	yaml bool
	own  string // the assignment's own keys
}

// renderedEntries are the results of a piece for each key.
type renderedEntries struct {
	texts map[string]string
	size  int // of all texts in bytes
}

// entries returns the result of an entrywise piece, joined from the results for the keys of the values' base and for
// the assignment's own keys. If that is not possible, it returns false, and the caller renders the piece with all
// values.
func (w *worker) entries(p *piece, s *assignmentInput) (text string, ok bool) {
	base := w.entriesOfBase(p, s)
	if base == nil {
		return "", false
	}
	own, order := w.eachEntry(p, s, s.data.ConfigData, slices.Values(s.own)), w.order(p.entrywise, s)
	if own == nil || len(order) != len(s.data.ConfigData) {
		return "", false
	}
	return p.entrywise.join(base, own, order)
}

// order returns the keys of an assignment's values in the order in which a piece prints them.
func (w *worker) order(e *entrywise, s *assignmentInput) []string {
	key, orders := orderKey{e.yaml, strings.Join(s.own, "\n")}, &w.renderer.cacheOf(s.base).orders
	if found, ok := orders.Load(key); ok {
		return found.([]string) //nolint:forcetypeassert // nothing else is stored
	}
	order := slices.Sorted(maps.Keys(s.data.ConfigData))
	if e.yaml {
		order = yamlOrder(s.data.ConfigData)
	}
	orders.Store(key, order)
	return order
}

// yamlOrder returns the keys of a map in the order in which the YAML library writes them. It compares numbers in keys
// by value, for example.
func yamlOrder(values map[string]any) (keys []string) {
	empty := make(map[string]bool, len(values))
	for key := range values {
		empty[key] = true
	}
	var node yaml.Node
	if node.Encode(empty) != nil {
		return nil
	}
	for pair := range slices.Chunk(node.Content, 2) {
		keys = append(keys, pair[0].Value)
	}
	return keys
}

// join joins the results of a base with an assignment's own results. For a key in both, the assignment's result
// replaces the base's.
func (e *entrywise) join(base, own *renderedEntries, order []string) (text string, ok bool) {
	var sum uint64
	var b strings.Builder
	if !e.sum {
		b.Grow(base.size + own.size + len(order)*len(e.separator))
	}
	for i, key := range order {
		text, ok := own.texts[key]
		if !ok {
			text, ok = base.texts[key]
		}
		if e.sum && ok {
			number, err := strconv.ParseUint(text, 10, 64)
			sum, ok = sum^number, err == nil
		}
		if !ok {
			return "", false
		}
		if i > 0 {
			b.WriteString(e.separator)
		}
		if !e.sum {
			b.WriteString(text)
		}
	}
	if e.sum {
		return strconv.FormatUint(sum, 10), len(order) > 0
	}
	return b.String(), len(order) > 0
}

// entriesOfBase returns the results for each key of the values' base, or nil if rendering fails for a key.
func (w *worker) entriesOfBase(p *piece, s *assignmentInput) *renderedEntries {
	entries := &w.renderer.cacheOf(s.base).entries
	if found, ok := entries.Load(p); ok {
		return found.(*renderedEntries) //nolint:forcetypeassert // nothing else is stored
	}
	data := s.base.Merge().Data
	rendered := w.eachEntry(p, s, data, maps.Keys(data))
	entries.Store(p, rendered)
	return rendered
}

// eachEntry renders a piece for each of these keys alone. It returns nil if that fails.
func (w *worker) eachEntry(
	p *piece, s *assignmentInput, values map[string]any, keys iter.Seq[string],
) *renderedEntries {
	r := &renderedEntries{texts: map[string]string{}}
	data, single := s.data, map[string]any{}
	data.ConfigData = single
	for key := range keys {
		clear(single)
		single[key] = values[key]
		text, err := w.entry(p, &data)
		if err != nil {
			return nil
		}
		r.texts[key] = text
		r.size += len(text)
	}
	return r
}

// entry renders a piece for values with one key.
func (w *worker) entry(p *piece, data *Data) (string, error) {
	e := p.entrywise
	w.executor.returned = 0
	printed, ok := w.executor.function(e.function).(func(any) (string, error))
	if !ok {
		return w.executor.execute(p, data, true)
	}
	text, err := printed(data.ConfigData)
	if indent, ok := w.executor.function(e.indent).(func(int, string) (string, error)); ok && err == nil {
		text, err = indent(e.columns, text)
	}
	return text, err
}
