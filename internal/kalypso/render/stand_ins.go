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

// A target whose team's texts are not plain is rendered twice: with a plain text in place of each, and as it is. What the
// texts may not change is compared: the templates that a result still holds, and of YAML the documents, their kinds and
// their namespaces.

// TeamTextError is a text of a team that would become more than data in a rendered file.
type TeamTextError struct {
	Texts  []string // the texts that are not plain, each with its key
	Reason string
}

// Error implements error.
func (e *TeamTextError) Error() string {
	return fmt.Sprintf("%s. The deployment target's texts that may do that:\n  %s\nQuote them in the template, as in {{ .Manifests.path | quote }}, or have the team change them",
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

// standIn is what a manifest renders to with stand-ins.
type standIn struct {
	text  string
	again []string // the templates in each result that is rendered again
	err   error
}

// standIns renders the manifests with stand-ins for the texts of the target.
func (w *worker) standIns(p *parsed, s *subject) []*standIn {
	target := s.target.WithPlaceholders()
	plain := *s
	plain.data.Labels, plain.data.Manifests = target.Labels, target.Manifests
	plain.target = target // which is kept for nobody
	w.spent = cost{}
	all := make([]*standIn, len(p.manifests))
	for i, m := range p.manifests {
		w.buf.Reset()
		all[i] = &standIn{}
		plain.seen = func(text string) error {
			all[i].again = append(all[i].again, actionsOf(text))
			return nil
		}
		all[i].err = w.manifest(m, &plain)
		all[i].text = w.buf.String()
	}
	return all
}

// seeing compares the templates in a result that is about to be rendered again, pass by pass.
func (in *standIn) seeing(t *fleet.DeploymentTarget) func(text string) error {
	pass := 0
	return func(text string) error {
		pass++
		if pass > len(in.again) || actionsOf(text) != in.again[pass-1] {
			return teamTextError(t, "the result holds a template that is not there with plain texts")
		}
		return nil
	}
}

// compare compares what a manifest renders to.
func (in *standIn) compare(t *fleet.DeploymentTarget, text string, isYAML bool) error {
	switch {
	case errors.Is(in.err, errUnknown):
		return nil
	case in.err != nil:
		return teamTextError(t, "it fails with plain texts, so that it can't be told what texts change: %v", in.err)
	case !isYAML:
		return nil
	}
	want, err := outline(in.text)
	if err != nil {
		return teamTextError(t, "it does not give Kubernetes objects, with plain texts neither: %v", err)
	}
	got, err := outline(text)
	if err != nil {
		return teamTextError(t, "it does not give Kubernetes objects, as it does with plain texts: %v", err)
	}
	if len(got) != len(want) {
		return teamTextError(t, "it gives %d documents, and %d with plain texts", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			return teamTextError(t, "document %d has %s, and %s with plain texts", i+1, got[i], want[i])
		}
	}
	return nil
}

// outline is, for each document of a YAML text, its kinds and namespaces: its own, and those that it refers to.
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
			return nil, fmt.Errorf("document %d is no map", n)
		}
		var b strings.Builder
		if err := outlineOf(&b, root, ""); err != nil {
			return nil, fmt.Errorf("document %d, %w", n, err)
		}
		documents = append(documents, strings.TrimPrefix(b.String(), ", "))
	}
}

// outlineOf writes the kinds and namespaces of a node and what it holds. A key that is given twice is an error: who reads
// the file takes the one or the other.
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
				return fmt.Errorf("line %d: the key %.100q is given twice", key.Line, key.Value)
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

// actionsOf are the actions of a template text, with the templates that it defines: all but the text between them.
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
