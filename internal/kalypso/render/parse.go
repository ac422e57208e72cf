package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// manifestName is the name under which text/template knows a manifest; it stands in its errors.
const manifestName = "(manifest)"

// manifest is a parsed template text, cut at its top level into pieces by what they depend on, so that what depends on
// the cluster type, the target or the values alone is rendered once for each of them.
type manifest struct {
	pieces []piece
	needs  needs
	// prints says that the text begins with words that no value can take away: the result is not empty, whatever the data.
	prints bool
}

// piece is a part of a manifest: literal text, the namespace, or what the template of that name in root renders.
type piece struct {
	text      string
	namespace bool
	root      *template.Template
	name      string
	functions []string // that root calls
	scope     scope
	mutates   bool // the data that it is given
}

// parseManifest parses one manifest. An error carries the line.
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
	if root.Tree == nil { // nothing but definitions
		return m, nil
	}
	nodes := root.Root.Nodes
	m.prints = beginsWithText(nodes)
	mutates := false
	for _, t := range root.Templates() {
		var d dependency
		d.visit(t.Root, false, needs{})
		mutates = mutates || d.mutates
	}
	splittable := !mutates
	dependencies := make([]dependency, len(nodes))
	namespaces := make([]bool, len(nodes))
	for i, node := range nodes {
		dependencies[i].visit(node, true, m.needs)
		namespaces[i] = isNamespace(node)
		splittable = splittable && !declares(node)
	}
	instrument(root)
	whole := piece{root: root, name: manifestName, functions: slices.Sorted(maps.Keys(called)), scope: everything, mutates: mutates}
	if !splittable {
		m.pieces = []piece{whole}
		return m, nil
	}
	return m, m.split(whole, dependencies, namespaces)
}

// functionsIn are the functions whose names stand in the text. To add all of them takes longer than to parse a manifest.
func functionsIn(text string) template.FuncMap {
	found := template.FuncMap{}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if f, ok := functions[word]; ok {
			found[word] = f
		}
	}
	return found
}

// beginsWithText reports whether the first thing that the nodes print is text with more than blanks. What stands further
// on is not sure to be there when a rendering is rendered again: values may put it into a comment.
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

// declares reports whether the node sets a variable, which the nodes after it may use.
func declares(node parse.Node) bool {
	action, ok := node.(*parse.ActionNode)
	return ok && len(action.Pipe.Decl) > 0
}

// split groups the nodes at the top level into pieces.
func (m *manifest) split(whole piece, dependencies []dependency, namespaces []bool) error {
	var group []parse.Node
	var groupScope scope
	flush := func() error {
		if len(group) == 0 {
			return nil
		}
		defer func() { group, groupScope = nil, 0 }()
		if text, ok := literal(group); ok {
			m.pieces = append(m.pieces, piece{text: text})
			return nil
		}
		p := whole
		p.name, p.scope = fmt.Sprintf("%s#%d", manifestName, len(m.pieces)), groupScope
		tree := *whole.root.Tree // which has the text, for the lines of errors
		tree.Name, tree.Root = p.name, &parse.ListNode{NodeType: parse.NodeList, Nodes: group}
		_, err := whole.root.AddParseTree(p.name, &tree)
		m.pieces = append(m.pieces, p)
		return err
	}
	for i, node := range whole.root.Root.Nodes {
		s := dependencies[i].scope
		joins := len(group) == 0 || groupScope&ofAssignment == 0 && (s == groupScope || s == 0 || groupScope == 0)
		if !joins || namespaces[i] {
			if err := flush(); err != nil {
				return err
			}
		}
		if namespaces[i] {
			m.pieces = append(m.pieces, piece{namespace: true})
			continue
		}
		group = append(group, node)
		groupScope |= s
	}
	return flush()
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

// isNamespace reports whether the node is {{ .Namespace }}, the one part of most templates that each assignment has of
// its own.
func isNamespace(node parse.Node) bool {
	a, ok := node.(*parse.ActionNode)
	if !ok || len(a.Pipe.Cmds) != 1 || len(a.Pipe.Cmds[0].Args) != 1 {
		return false
	}
	f, ok := a.Pipe.Cmds[0].Args[0].(*parse.FieldNode)
	return ok && len(f.Ident) == 1 && f.Ident[0] == "Namespace"
}

// Check returns the manifests of a template that do not parse.
func Check(t *fleet.Template) fleet.Problems {
	_, problems := parseTemplate(t)
	return problems
}
