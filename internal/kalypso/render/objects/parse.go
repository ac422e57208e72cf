package objects

import (
	"bytes"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"
)

// header is the part of an object that identifies it.
type header struct {
	APIVersion string   `yaml:"apiVersion"`
	Kind       string   `yaml:"kind"`
	Metadata   metadata `yaml:"metadata"`
}

type metadata struct {
	Name      string `yaml:"name"`
	Namespace string `yaml:"namespace"`
}

func (h *header) object(number int) Object {
	o := Object{[]byte(h.APIVersion), []byte(h.Kind), []byte(h.Metadata.Namespace), []byte(h.Metadata.Name), number}
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
			found = append(found, Object{Document: *n})
			*n++
			return found
		case node.Content[0].Tag == "!!null" && node.Content[0].Value == "":
			continue
		}
		if bytes.IndexByte(text, '*') >= 0 && node.Decode(new(any)) != nil { // it may contain itself
			found = append(found, Object{Document: *n})
		} else {
			found = appendObjects(found, node.Content[0], *n)
		}
		*n++
	}
}

// appendObjects appends an object. If it is a list, appendObjects appends the objects in it instead, at any depth.
func appendObjects(found []Object, root *yaml.Node, number int) []Object {
	var h header
	root = target(root)
	if root.Kind != yaml.MappingNode || root.Decode(&h) != nil {
		return append(found, Object{Document: number})
	}
	var f fields
	if !isList([]byte(h.Kind)) || root.Decode(&f) != nil || !f.isListOfObjects() {
		return append(found, h.object(number))
	}
	for _, item := range target(&f.Items).Content {
		found = appendObjects(found, item, number)
	}
	return found
}
