package render

import (
	"reflect"
	"slices"
	"strings"
	"text/template/parse"
	"unicode/utf8"
)

// asks lists the functions that may get a missing or null value. All other functions would write something in its
// place: quote an empty text, and toJson null. If a function in the list takes a text or a bool, a missing value is the
// empty text or false.
var asks = setOf("all and any coalesce compact contains deepEqual default dig empty eq ge get gt has hasKey " +
	"hasPrefix hasSuffix kindIs kindOf le lt mustCompact mustHas mustRegexMatch ne not or regexMatch ternary typeIs " +
	"typeIsLike typeOf")

// decides lists the functions whose results contain nothing of their arguments.
var decides = setOf("all any contains deepEqual empty eq ge gt has hasKey hasPrefix hasSuffix isAbs kindIs kindOf " +
	"le len lt mustHas mustRegexMatch ne not osIsAbs regexMatch semverCompare typeIs typeIsLike typeOf")

// digests lists the functions whose results only identify their arguments.
var digests = setOf("adler32sum hash sha1sum sha256sum sha512sum")

// formats lists the functions that write maps and lists in Go's form, such as map[a:1]. formatsElements lists the
// functions that do so with the elements of a list, and with a map.
var (
	formats         = setOf("cat html js print printf println quote squote toString urlquery")
	formatsElements = setOf("join sortAlpha toStrings")
)

// compacts lists the functions that leave out the empty elements of a list. makesLists lists the functions that make a
// list of their arguments.
var (
	compacts   = setOf("compact mustCompact")
	makesLists = setOf("list tuple")
)

func setOf(names string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}

// use says where the result of a pipeline goes.
type use int

const (
	toFile      use = iota // or to a variable, which an action may print
	toWith                 // the body of with gets it only if it is not empty
	toDigest               // only its hash goes to the file
	toCompact              // the list goes to the file without its empty elements
	toCondition            // nothing of it goes to the file
)

// ofArguments returns the use of the arguments of a function whose result goes to u.
func (u use) ofArguments(function string) use {
	switch {
	case u == toCondition, decides[function]:
		return toCondition
	case digests[function]:
		return toDigest
	case compacts[function]:
		return toCompact
	case u == toCompact:
		return toFile
	}
	return u
}

// valueChecks adds calls of checks to the pipelines of a template. A check rejects a missing or null value that goes to
// the file, and reports a map or a list that goes there in Go's form.
type valueChecks struct {
	ofData bool      // $ is the data
	isData bool      // dot is the data
	dot    valueName // zero: not known
	names  []*variable
}

type variable struct {
	name  string
	of    valueName
	value reflect.Type // nil: not known
}

// valueName is the name of a value in messages. If key is not empty, it is the variable that contains a key of a map or
// an index of a list: the value is path[key] and the fields in rest.
type valueName struct{ path, key, rest string }

func (n valueName) field(ident []string) valueName {
	if n.path == "" || len(ident) == 0 {
		return n
	}
	fields := "." + strings.Join(ident, ".")
	switch {
	case n.key != "":
		n.rest += fields
	case n.path == ".":
		n.path = fields
	default:
		n.path += fields
	}
	return n
}

// action checks a pipeline whose value an action prints, or sets a variable to.
func (c *valueChecks) action(p *parse.PipeNode) {
	of, name := site{action: p.String()}, c.nameOf(p.Cmds)
	if len(p.Decl) > 0 {
		value := c.typeOf(p)
		c.pipe(p, toFile, of)
		c.declare(p, name, value)
		return
	}
	of.checks = prints
	printed := of.of(0, of.action, name).command(presentFunc, p.Pos)
	c.pipe(p, toFile, of)
	p.Cmds = append(p.Cmds, printed)
}

// bind checks a pipeline of with, or of an if that sets a variable, as the keyword says.
func (c *valueChecks) bind(keyword string, p *parse.PipeNode) {
	name, value := c.nameOf(p.Cmds), c.typeOf(p)
	if c.pipe(p, toWith, site{action: keyword + p.String()}) {
		p.Cmds = append(p.Cmds, command(boundFunc, p.Pos))
	}
	c.declare(p, name, value)
}

// with returns the checks of the body of with.
func (c *valueChecks) with(name valueName) *valueChecks {
	body := *c
	body.dot, body.isData = name, false
	return &body
}

// each checks the pipeline of a loop, and returns the checks of its body.
func (c *valueChecks) each(p *parse.PipeNode) *valueChecks {
	name, value := c.nameOf(p.Cmds), c.typeOf(p)
	c.pipe(p, toFile, site{action: "range " + p.String()})
	if value != nil && (value.Kind() == reflect.Map || value.Kind() == reflect.Slice) {
		value = value.Elem()
	} else {
		value = nil
	}
	var element valueName
	body := c.with(element)
	if name.path != "" && name.key == "" {
		element.path = name.path + "[]"
	}
	if len(p.Decl) == 2 {
		key := p.Decl[0].Ident[0]
		body.names = append(body.names, &variable{key, valueName{}, reflect.TypeFor[string]()}) // never missing
		if element.path != "" {
			element = valueName{path: name.path, key: key}
		}
	}
	if len(p.Decl) > 0 {
		body.names = append(body.names, &variable{p.Decl[len(p.Decl)-1].Ident[0], element, value})
	}
	body.dot = element
	return body
}

// declare keeps the name of the value of a variable. A variable that gets another value has no name, since the other
// value may come from a branch.
func (c *valueChecks) declare(p *parse.PipeNode, name valueName, value reflect.Type) {
	for _, v := range p.Decl {
		if !p.IsAssign {
			c.names = append(c.names, &variable{v.Ident[0], name, value})
			continue
		}
		for _, known := range c.names {
			if known.name == v.Ident[0] {
				known.of, known.value = valueName{}, nil
			}
		}
	}
}

// pipe adds checks of the arguments of functions. It reports whether a check notes missing values for boundFunc.
func (c *valueChecks) pipe(p *parse.PipeNode, to use, of site) (notes bool) {
	if p == nil {
		return false
	}
	for i, cmd := range slices.Backward(p.Cmds) {
		function, ok := cmd.Args[0].(*parse.IdentifierNode)
		if !ok {
			notes = c.nested(cmd.Args[0], to, of) || notes
			continue
		}
		name, given := function.Ident, len(cmd.Args)-1
		inner := to.ofArguments(name)
		mayLackKey := name == "index" && given > 0 && mayBe(c.typeOf(cmd.Args[1]), reflect.Map)
		for n, arg := range cmd.Args[1:] {
			checks := checksOf(name, n, to, c.typeOf(arg))
			if checks != 0 {
				check := of.of(checks, arg.String(), c.nameOfNode(arg)).command(checkFunc, arg.Position(), arg)
				cmd.Args[n+1] = pipeOf(check)
			}
			notes = c.nested(arg, inner, of) || checks&notesMissing != 0 || notes
		}
		if i > 0 {
			before := p.Cmds[:i]
			if checks := checksOf(name, given, to, c.typeOfCommand(before[i-1])); checks != 0 {
				check := of.of(checks, textOf(before), c.nameOf(before)).command(checkFunc, cmd.Pos)
				p.Cmds = slices.Insert(p.Cmds, i, check)
				notes = notes || checks&notesMissing != 0
			}
		}
		if mayLackKey {
			if key, ok := cmd.Args[given].(*parse.StringNode); ok && given == 2 {
				cmd.Args[1] = pipeOf(command(itemFunc, cmd.Pos, key, cmd.Args[1]))
			} else {
				cmd.Args[1] = pipeOf(command(itemsFunc, cmd.Pos, cmd.Args[1]))
			}
		}
		to = inner
	}
	return notes
}

// nested adds checks in the pipelines of an argument.
func (c *valueChecks) nested(arg parse.Node, to use, of site) (notes bool) {
	switch arg := arg.(type) {
	case *parse.PipeNode:
		return c.pipe(arg, to, of)
	case *parse.ChainNode:
		return c.nested(arg.Node, to, of)
	}
	return false
}

// checks are the checks of a value, as bits.
type checks byte

const (
	rejectsMissing  checks = 1 << iota // a missing value is an error
	notesMissing                       // a missing value is an error if the value of with is not empty
	emptiesMissing                     // a missing value becomes the empty text
	negatesMissing                     // a missing value becomes false
	reportsForm                        // a map or a list is printed in Go's form
	reportsElements                    // a map, or a map or a list in a list, is printed in Go's form
	prints                             // the action prints
)

// checksOf returns the checks of argument n of a function whose result goes to a use. The value has the type, or any
// type if that is nil.
func checksOf(function string, n int, to use, value reflect.Type) (c checks) {
	takes := parameter(function, n)
	if mayBe(value, reflect.Interface) {
		takesMissing := takes == nil || slices.Contains(nilable, takes.Kind())
		switch {
		case asks[function] && takesMissing, to == toCondition && takesMissing, to == toCompact && makesLists[function]:
		case asks[function] && takes.Kind() == reflect.String:
			c = emptiesMissing
		case asks[function] && takes.Kind() == reflect.Bool:
			c = negatesMissing
		case to == toWith && takesMissing:
			c = notesMissing
		default:
			c = rejectsMissing
		}
	}
	if (to == toFile || to == toWith) && mayBe(value, reflect.Map, reflect.Slice, reflect.Struct, reflect.Interface) {
		if formats[function] {
			c |= reportsForm
		}
		if formatsElements[function] {
			c |= reportsElements
		}
	}
	return c
}

var nilable = []reflect.Kind{reflect.Interface, reflect.Map, reflect.Slice, reflect.Pointer}

// parameter returns the type of parameter n of a function, or nil if it takes any value.
func parameter(function string, n int) reflect.Type {
	f, ok := functions[function]
	if !ok {
		return nil // Go's own functions take any value
	}
	t := reflect.TypeOf(f)
	switch last := t.NumIn() - 1; {
	case t.IsVariadic() && n >= last:
		return t.In(last).Elem()
	case n > last:
		return nil // executing reports the error
	}
	return t.In(n)
}

// mayBe reports whether a value of the type can be of one of these kinds. Any value can, if the type is nil.
func mayBe(t reflect.Type, kinds ...reflect.Kind) bool {
	return t == nil || slices.Contains(kinds, t.Kind())
}

// typeOf returns the type of a node's value, or nil if it is not known.
func (c *valueChecks) typeOf(node parse.Node) reflect.Type {
	switch node := node.(type) {
	case *parse.StringNode:
		return reflect.TypeFor[string]()
	case *parse.NumberNode, *parse.NilNode: // the template itself says nil
		return reflect.TypeFor[int]()
	case *parse.BoolNode:
		return reflect.TypeFor[bool]()
	case *parse.FieldNode:
		if c.isData {
			return typeOfField(node.Ident)
		}
	case *parse.VariableNode:
		if c.ofData && node.Ident[0] == "$" {
			return typeOfField(node.Ident[1:])
		}
		if v := c.variable(node.Ident[0]); v != nil && len(node.Ident) == 1 {
			return v.value
		}
	case *parse.IdentifierNode:
		return result(node.Ident)
	case *parse.PipeNode:
		return c.typeOfCommand(node.Cmds[len(node.Cmds)-1])
	}
	return nil
}

// variable returns a variable by its name, or nil.
func (c *valueChecks) variable(name string) *variable {
	for _, v := range slices.Backward(c.names) {
		if v.name == name {
			return v
		}
	}
	return nil
}

// typeOfField returns the type of a field of the data, or nil if it is not known.
func typeOfField(ident []string) reflect.Type {
	if len(ident) == 0 {
		return reflect.TypeFor[Data]()
	}
	if f, ok := reflect.TypeFor[Data]().FieldByName(ident[0]); ok && len(ident) == 1 {
		return f.Type
	}
	return nil
}

func (c *valueChecks) typeOfCommand(cmd *parse.CommandNode) reflect.Type {
	if _, ok := cmd.Args[0].(*parse.IdentifierNode); ok || len(cmd.Args) == 1 {
		return c.typeOf(cmd.Args[0])
	}
	return nil
}

// result returns the type of a function's result, or nil if it is not known.
func result(function string) reflect.Type {
	f, ok := functions[function]
	switch {
	case ok:
		return reflect.TypeOf(f).Out(0)
	case decides[function]:
		return reflect.TypeFor[bool]()
	}
	return nil
}

// nameOf returns the name of the value of a pipeline.
func (c *valueChecks) nameOf(cmds []*parse.CommandNode) valueName {
	if len(cmds) == 1 && len(cmds[0].Args) == 1 {
		return c.nameOfNode(cmds[0].Args[0])
	}
	return valueName{}
}

func (c *valueChecks) nameOfNode(node parse.Node) valueName {
	switch node := node.(type) {
	case *parse.DotNode:
		return c.nameOfDot()
	case *parse.FieldNode:
		return c.nameOfDot().field(node.Ident)
	case *parse.VariableNode:
		if node.Ident[0] == "$" && c.ofData {
			return valueName{path: "."}.field(node.Ident[1:])
		}
		if v := c.variable(node.Ident[0]); v != nil {
			return v.of.field(node.Ident[1:])
		}
	case *parse.ChainNode:
		return c.nameOfNode(node.Node).field(node.Field)
	case *parse.PipeNode:
		return c.nameOf(node.Cmds)
	}
	return valueName{}
}

func (c *valueChecks) nameOfDot() valueName {
	if c.isData {
		return valueName{path: "."}
	}
	return c.dot
}

func textOf(cmds []*parse.CommandNode) string {
	texts := make([]string, len(cmds))
	for i, cmd := range cmds {
		texts[i] = cmd.String()
	}
	return strings.Join(texts, " | ")
}

// site describes a check for its messages.
type site struct {
	checks checks
	action string // the source of the action
	value  string // the source of the value
	name   valueName
}

// of returns the site of another value of the same action.
func (s site) of(more checks, value string, name valueName) site {
	return site{s.checks | more, s.action, value, name}
}

// command returns the call of a check. The value is its last argument.
func (s site) command(function string, pos parse.Pos, args ...parse.Node) *parse.CommandNode {
	text := s.encode()
	all := []parse.Node{&parse.StringNode{NodeType: parse.NodeString, Pos: pos, Quoted: `""`, Text: text}}
	if s.name.key != "" {
		function += ofKey
		all = append(all, &parse.VariableNode{NodeType: parse.NodeVariable, Pos: pos, Ident: []string{s.name.key}})
	}
	return command(function, pos, append(all, args...)...)
}

// encode returns the site as the text in the call of a check, so that the call has one argument for all of it.
func (s site) encode() string {
	return string(rune(s.checks)) + strings.Join([]string{
		shortened(s.action), shortened(s.value), shortened(s.name.path), shortened(s.name.rest),
	}, "\x00")
}

func decodeSite(text string, key string) site {
	parts := strings.SplitN(text[1:], "\x00", 4)
	return site{checks(text[0]), parts[0], parts[1], valueName{parts[2], key, parts[3]}}
}

// String returns the name of the value, or its source if it has no name.
func (s site) String() string {
	switch n := s.name; {
	case n.path == "":
		return s.value
	case n.key == "":
		return n.path
	case n.path == ".":
		return "." + n.key + n.rest
	default:
		return n.path + "." + n.key + n.rest
	}
}

// shortened returns the beginning of a long source.
func shortened(text string) string {
	const maxLength = 500 // bytes
	if len(text) <= maxLength {
		return text
	}
	end := maxLength
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
