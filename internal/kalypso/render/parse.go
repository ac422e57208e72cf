package render

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// manifestName is the name of a manifest in errors of text/template.
const manifestName = "(manifest)"

// manifest is a parsed template text, split at its top level into pieces by their dependencies. A piece that depends
// only on the cluster type, the target or the values is rendered once for each of them.
type manifest struct {
	pieces []piece
	needs  needs
	// prints means that the text begins with literal text, so the result is never empty.
	prints bool
}

// piece is a part of a manifest: literal text, the namespace, or the template called name in root.
type piece struct {
	text      string
	namespace bool
	root      *template.Template
	name      string
	functions []string // the name by which root calls it
	scope     scope
	mutates   bool       // it calls a function that changes its data
	encodes   encodings  // how it may encode texts
	needs     needs      // of the manifest
	entrywise *entrywise // of a piece that consists of one node; may be nil
}

// parseManifest parses one manifest. Errors contain the line.
func parseManifest(text string) (*manifest, error) {
	if !strings.Contains(text, "{{") {
		return &manifest{pieces: []piece{{text: text}}, needs: needs{}, prints: strings.TrimSpace(text) != ""}, nil
	}
	if actions := strings.Count(text, "{{"); actions > maxActions {
		return nil, boundError("the template has %d actions; at most %d are allowed", actions, maxActions)
	}
	called := functionsIn(text)
	root, err := template.New(manifestName).Funcs(called).Parse(text)
	if err != nil {
		return nil, lineOf(err)
	}
	m := &manifest{needs: needs{}}
	if root.Tree == nil { // the text contains only definitions
		return m, nil
	}
	nodes := root.Root.Nodes
	m.prints = beginsWithText(nodes)
	mutates, encodes, encodesAnywhere := false, encodings(0), encodings(0)
	for _, t := range root.Templates() {
		var d dependency
		d.visit(t.Root, false, needs{})
		mutates, encodesAnywhere = mutates || d.mutates, encodesAnywhere|d.encodes
		if t != root {
			encodes |= d.encodes // any piece may call it
		}
	}
	splittable := !mutates
	facts := make([]nodeFacts, len(nodes))
	for i, node := range nodes {
		var d dependency
		d.visit(node, true, m.needs)
		facts[i] = nodeFacts{d.scope, isNamespace(node), entrywiseOf(node), d.encodes | encodes}
		splittable = splittable && !declares(node)
	}
	instrument(root)
	whole := piece{
		root:      root,
		name:      manifestName,
		functions: slices.Sorted(maps.Keys(called)),
		scope:     everything,
		mutates:   mutates,
		encodes:   encodesAnywhere,
		needs:     m.needs,
	}
	if !splittable {
		m.pieces = []piece{whole}
		return m, nil
	}
	return m, m.split(whole, facts)
}

// functionsIn returns the functions whose names occur in the text, because adding all functions takes longer than
// parsing a manifest.
func functionsIn(text string) template.FuncMap {
	found := template.FuncMap{}
	separates := func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for word := range strings.FieldsFuncSeq(text, separates) {
		if f, ok := functions[word]; ok {
			found[word] = f
		}
	}
	return found
}

// beginsWithText reports whether the nodes first print literal text other than whitespace. Only the first text is
// certain to stay: a value before later text may turn that into a comment in the next pass.
func beginsWithText(nodes []parse.Node) bool {
	for _, node := range nodes {
		if declares(node) {
			continue
		}
		t, ok := node.(*parse.TextNode)
		return ok && strings.TrimSpace(string(t.Text)) != ""
	}
	return false
}

// declares reports whether the node sets a variable for later nodes.
func declares(node parse.Node) bool {
	action, ok := node.(*parse.ActionNode)
	return ok && len(action.Pipe.Decl) > 0
}

// nodeFacts are the facts about a top-level node, before it is instrumented.
type nodeFacts struct {
	scope       scope
	isNamespace bool
	entrywise   *entrywise
	encodes     encodings
}

// split groups the top-level nodes into pieces. The namespace and an entrywise node are a piece of their own.
func (m *manifest) split(whole piece, facts []nodeFacts) error {
	var group []parse.Node
	var groupScope scope
	var encodes encodings
	flush := func(e *entrywise) error {
		if len(group) == 0 {
			return nil
		}
		p, err := whole.of(group, groupScope, strconv.Itoa(len(m.pieces)))
		p.entrywise, p.encodes = e, encodes
		m.pieces = append(m.pieces, p)
		group, groupScope, encodes = nil, 0, 0
		return err
	}
	for i, node := range whole.root.Root.Nodes {
		is := facts[i]
		joins := groupScope&ofAssignment == 0 && (is.scope == groupScope || is.scope == 0 || groupScope == 0)
		if !joins || is.isNamespace || is.entrywise != nil {
			if err := flush(nil); err != nil {
				return err
			}
		}
		if is.isNamespace {
			m.pieces = append(m.pieces, piece{namespace: true})
			continue
		}
		group = append(group, node)
		groupScope |= is.scope
		encodes |= is.encodes
		if is.entrywise != nil {
			if err := flush(is.entrywise); err != nil {
				return err
			}
		}
	}
	return flush(nil)
}

// of returns a new piece that consists of some of p's nodes.
func (p piece) of(nodes []parse.Node, s scope, number string) (piece, error) {
	if text, ok := literal(nodes); ok {
		return piece{text: text}, nil
	}
	p.name, p.scope = manifestName+"#"+number, s
	tree := *p.root.Tree // with the whole text, so that errors have the right lines
	tree.Name, tree.Root = p.name, &parse.ListNode{NodeType: parse.NodeList, Nodes: nodes}
	_, err := p.root.AddParseTree(p.name, &tree)
	return p, err
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

// isNamespace reports whether the node is {{ .Namespace }}. In most templates only this node differs for each
// assignment.
func isNamespace(node parse.Node) bool {
	a, ok := node.(*parse.ActionNode)
	if !ok || len(a.Pipe.Cmds) != 1 || len(a.Pipe.Cmds[0].Args) != 1 {
		return false
	}
	f, ok := a.Pipe.Cmds[0].Args[0].(*parse.FieldNode)
	return ok && len(f.Ident) == 1 && f.Ident[0] == "Namespace"
}

// CheckTemplate reports the manifests of a template that do not parse.
func CheckTemplate(t *fleet.Template) problem.Problems {
	_, problems := parseTemplate(t)
	return problems
}
