package objects

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// header is the part of an object that identifies it. It is empty if the document is not a YAML map.
type header struct {
	APIVersion field    `yaml:"apiVersion"`
	Kind       field    `yaml:"kind"`
	Metadata   metadata `yaml:"metadata"`
	Items      []header `yaml:"items"`

	document int // see [Object]
}

type metadata struct {
	Name      field `yaml:"name"`
	Namespace field `yaml:"namespace"`
}

// field is a text, and the line in which it begins, from 1. A field that is missing or null is in line 0.
type field struct {
	text string
	line int
}

// UnmarshalYAML implements [yaml.Unmarshaler].
func (f *field) UnmarshalYAML(node *yaml.Node) error {
	f.line = node.Line
	return node.Decode(&f.text)
}

// Parse returns the objects in the documents of a YAML text, as [Reader.Read] does.
func Parse(text []byte) []Object {
	return lists.Map(parse(text), func(h header) Object {
		o := Object{
			[]byte(h.APIVersion.text), []byte(h.Kind.text), []byte(h.Metadata.Namespace.text), []byte(h.Metadata.Name.text),
			h.document,
		}
		o.clearNamespace()
		return o
	})
}

// parse returns the objects in the documents of a text.
func parse(text []byte) (found []header) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for n := 1; ; {
		var node yaml.Node
		err := decoder.Decode(&node)
		switch {
		case errors.Is(err, io.EOF):
			return found
		case err != nil:
			return append(found, header{document: n})
		case node.Content[0].Tag == "!!null" && node.Content[0].Value == "":
			continue
		}
		found = append(found, headersOf(node.Content[0], n)...)
		n++
	}
}

// headersOf returns the object of a document, or the items of a list.
func headersOf(root *yaml.Node, document int) []header {
	var h header
	if root.Kind != yaml.MappingNode || root.Decode(&h) != nil {
		h = header{}
	}
	all := []header{h}
	if strings.HasSuffix(h.Kind.text, "List") && len(h.Items) > 0 {
		all = h.Items
	}
	for i := range all {
		all[i].document = document
	}
	return all
}
