package yaml

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	yaml11 "go.yaml.in/yaml/v2"
	"go.yaml.in/yaml/v3"
)

// describe converts an error of encoding/json into a message about the YAML, with the field and its line. data is the
// JSON of the document or of an item in it.
func (d document) describe(err error, data []byte) string {
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return err.Error()
	}
	field := mismatch.Field
	if key := keyBefore.FindSubmatch(data[:min(int(mismatch.Offset), len(data))]); key != nil {
		// The field in the error of encoding/json does not contain the keys of maps.
		if name := string(key[1]); !strings.HasSuffix("."+field, "."+name) {
			field += "." + name
		}
	}
	where := ""
	if line := d.lineOf(field); line > 0 {
		where = fmt.Sprintf("line %d: ", line)
	}
	advice := ""
	if mismatch.Type.Kind() == reflect.String {
		advice = "; quote it to make it a string"
	}
	return fmt.Sprintf(
		"%s%s: expected %s, got %s%s",
		where,
		field,
		goKind(mismatch.Type),
		jsonKind(mismatch.Value),
		advice,
	)
}

// keyBefore matches the key whose value, or its opening bracket, ends a JSON text.
var keyBefore = regexp.MustCompile(`"([^"\\]*)":[^":,{}\[\]]*[{\[]?$`)

// lineOf returns the line of the first field with that path (without indexes) that is not a string. If all these fields
// are strings, it returns the line of the first; if there is no such field, 0.
func (d document) lineOf(path string) (line int) {
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(d.text), &root); err != nil {
		return 0
	}
	noText := false
	var walk func(n *yaml.Node, at string)
	walk = func(n *yaml.Node, at string) {
		if strings.HasSuffix(at, "."+path) && (line == 0 || !noText && !isText(n)) {
			line, noText = n.Line+d.line-1, !isText(n)
		}
		if n.Kind != yaml.MappingNode {
			for _, child := range n.Content {
				walk(child, at)
			}
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			walk(n.Content[i+1], at+"."+n.Content[i].Value)
		}
	}
	walk(&root, "")
	return line
}

// isText reports whether the node is a string in YAML 1.1, the version by which objects are read. In YAML 1.1, an
// unquoted no, y or 1:30 is not a string.
func isText(n *yaml.Node) bool {
	if n.ShortTag() != "!!str" || n.Style != 0 {
		return n.ShortTag() == "!!str"
	}
	var value any
	err := yaml11.Unmarshal([]byte(n.Value), &value)
	_, text := value.(string)
	return err != nil || text
}

// jsonKind returns the name of a kind of JSON value, as encoding/json describes it: object, number 1.5.
func jsonKind(value string) string {
	kind, _, _ := strings.Cut(value, " ")
	return cmp.Or(map[string]string{"object": "a map", "array": "a list"}[kind], "a "+kind)
}

func goKind(t reflect.Type) string {
	return cmp.Or(map[reflect.Kind]string{reflect.String: "a string", reflect.Slice: "a list"}[t.Kind()], "a map")
}
