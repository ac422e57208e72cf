package objects

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// header is the part of an object that identifies it.
type header struct {
	APIVersion string   `yaml:"apiVersion"`
	Kind       string   `yaml:"kind"`
	Metadata   metadata `yaml:"metadata"`
	Items      []header `yaml:"items"`
}

type metadata struct {
	Name      string `yaml:"name"`
	Namespace string `yaml:"namespace"`
}

func (h *header) object(number int) Object {
	o := Object{
		[]byte(h.APIVersion), []byte(h.Kind), []byte(h.Metadata.Namespace), []byte(h.Metadata.Name), number, nil,
	}
	o.clearNamespace()
	return o
}

// parse appends the objects in the documents of a text. n is the number of the next document.
func parse(found []Object, text []byte, n *int) []Object {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		switch {
		case errors.Is(err, io.EOF):
			return found
		case err != nil:
			found = append(found, Object{Document: *n, Err: oneLine(err)})
			*n++
			return found
		case node.Content[0].Tag == "!!null" && node.Content[0].Value == "":
			continue
		}
		found = appendObjects(found, node.Content[0], *n)
		*n++
	}
}

func appendObjects(found []Object, root *yaml.Node, number int) []Object {
	var h header
	if root.Kind != yaml.MappingNode {
		return append(found, Object{Document: number, Err: fmt.Errorf("it is a %s, not a map", kindOf(root))})
	}
	if err := root.Decode(&h); err != nil {
		return append(found, Object{Document: number, Err: oneLine(err)})
	}
	if !strings.HasSuffix(h.Kind, "List") || len(h.Items) == 0 {
		return append(found, h.object(number))
	}
	for _, item := range h.Items {
		found = append(found, item.object(number))
	}
	return found
}

// oneLine returns an error of the parser without its prefixes and line breaks.
func oneLine(err error) error {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:")
	return errors.New(strings.Join(strings.Fields(text), " "))
}

func kindOf(node *yaml.Node) string {
	if node.Kind == yaml.SequenceNode {
		return "list"
	}
	return "scalar"
}
