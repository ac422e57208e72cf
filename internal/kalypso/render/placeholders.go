package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"

	"go.yaml.in/yaml/v3"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// If a team's texts are not plain, their target is rendered twice: once with placeholders and once with the texts. Both
// results must contain the same templates for the next pass. Both YAML files must have the same documents, kinds and
// namespaces.

// TeamTextError means that a team's text would become more than data in a rendered file.
type TeamTextError struct {
	Texts  []string // the texts that are not plain, each with its key
	Reason string
}

// Error implements error.
func (e *TeamTextError) Error() string {
	return fmt.Sprintf("%s. The deployment target's texts that may cause this:\n  %s\nQuote them in the template, as in "+
		"{{ .Manifests.path | quote }}, or have the team change them",
		e.Reason, strings.Join(e.Texts, "\n  "))
}

func teamTextError(t *fleet.DeploymentTarget, reason string, args ...any) error {
	e := &TeamTextError{Reason: fmt.Sprintf(reason, args...)}
	for _, k := range slices.Sorted(maps.Keys(t.Manifests)) {
		if v := t.Manifests[k]; !fleet.IsPlainScalar(k) || !fleet.IsPlainScalar(v) {
			e.Texts = append(e.Texts, fmt.Sprintf("manifests[%.100q] = %.100q", k, v))
		}
	}
	return e
}

// placeholderRendering is the result of a manifest with placeholders.
type placeholderRendering struct {
	text      string
	templates []string // the templates in the result of each pass
	err       error
}

// renderPlaceholders renders the manifests with placeholders for the texts of the target.
func (w *worker) renderPlaceholders(p *parsed, s *assignmentInput) []*placeholderRendering {
	target := s.target.WithPlaceholders()
	plain := *s
	plain.data.Labels, plain.data.Manifests = target.Labels, target.Manifests
	plain.target, plain.ofTarget = target, &targetInput{} // its pieces are not cached
	plain.real, plain.rendered = s, nil
	all := make([]*placeholderRendering, len(p.manifests))
	for i, m := range p.manifests {
		all[i] = &placeholderRendering{}
		plain.beforePass = func(text string) error {
			all[i].templates = append(all[i].templates, actionsOf(text))
			return nil
		}
		all[i].err = w.manifest(m, &plain)
		all[i].text = string(w.buffer.since(w.buffer.start))
		w.buffer.content.Truncate(w.buffer.start)
	}
	return all
}

// checkPass returns a function that compares the templates in the result of each pass.
func (in *placeholderRendering) checkPass(t *fleet.DeploymentTarget) func(text string) error {
	pass := 0
	return func(text string) error {
		pass++
		if pass > len(in.templates) || actionsOf(text) != in.templates[pass-1] {
			return teamTextError(t, "the result contains a template that it does not contain with plain texts")
		}
		return nil
	}
}

// compare compares the final result of a manifest.
func (in *placeholderRendering) compare(t *fleet.DeploymentTarget, text string, isYAML bool) error {
	switch {
	case errors.Is(in.err, errUnknown):
		return nil
	case in.err != nil:
		return teamTextError(t, "it fails with plain texts, so the effect of the texts can't be checked: %v", in.err)
	case !isYAML, text == in.text: // the manifest prints none of the texts
		return nil
	}
	want, err := outline(in.text)
	if err != nil {
		return teamTextError(t, "it does not render Kubernetes objects, not even with plain texts: %v", err)
	}
	got, err := outline(text)
	if err != nil {
		return teamTextError(t, "it does not render Kubernetes objects, but does with plain texts: %v", err)
	}
	if len(got) != len(want) {
		return teamTextError(t, "it renders %d documents, but %d with plain texts", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			return teamTextError(t, "document %d has %s, but %s with plain texts", i+1, got[i], want[i])
		}
	}
	return nil
}

// outline returns the kinds and namespaces in each document of a YAML text: its object's own, and the ones that the
// object refers to.
func outline(text string) (documents []string, err error) {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for n := 1; ; n++ {
		var node yaml.Node
		switch err := decoder.Decode(&node); {
		case errors.Is(err, io.EOF):
			return documents, nil
		case err != nil:
			return nil, err
		}
		root := node.Content[0]
		if root.Tag == "!!null" && root.Value == "" {
			continue
		}
		if root.Kind != yaml.MappingNode {
			return nil, fmt.Errorf("document %d is not a map", n)
		}
		var b strings.Builder
		if err := outlineOf(&b, root, ""); err != nil {
			return nil, fmt.Errorf("document %d, %w", n, err)
		}
		documents = append(documents, strings.TrimPrefix(b.String(), ", "))
	}
}

// outlineOf writes the kinds and namespaces of a node and its children. A duplicate key is an error, because parsers
// disagree about which one counts.
func outlineOf(b *strings.Builder, node *yaml.Node, path string) error {
	if node.Kind != yaml.MappingNode {
		for i, child := range node.Content {
			if err := outlineOf(b, child, path+"["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
		}
		return nil
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		if key.Kind == yaml.ScalarNode {
			if seen[key.Value] {
				return fmt.Errorf("line %d: duplicate key %.100q", key.Line, key.Value)
			}
			seen[key.Value] = true
			if key.Value == "kind" || key.Value == "namespace" {
				fmt.Fprintf(b, ", %.200s %.200q", at, value.Value)
			}
		}
		if err := outlineOf(b, value, at); err != nil {
			return err
		}
	}
	return nil
}

// actionsOf returns the actions of a template text and of the templates that it defines, without the text between
// them.
func actionsOf(text string) string {
	root, err := template.New(manifestName).Funcs(functionsIn(text)).Parse(text)
	if err != nil {
		return err.Error()
	}
	var b bytes.Buffer
	templates := root.Templates()
	slices.SortFunc(templates, func(a, b *template.Template) int { return strings.Compare(a.Name(), b.Name()) })
	for _, t := range templates {
		withoutText(t.Root)
		fmt.Fprintf(&b, "%q: %s\n", t.Name(), t.Root)
	}
	return b.String()
}

func withoutText(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch node := node.(type) {
		case *parse.TextNode:
			node.Text = nil
		case *parse.IfNode:
			withoutText(node.List)
			withoutText(node.ElseList)
		case *parse.WithNode:
			withoutText(node.List)
			withoutText(node.ElseList)
		case *parse.RangeNode:
			withoutText(node.List)
			withoutText(node.ElseList)
		}
	}
}
