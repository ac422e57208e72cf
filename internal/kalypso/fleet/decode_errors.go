package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	yaml11 "go.yaml.in/yaml/v2"
	"go.yaml.in/yaml/v3"
)

// describe makes an error of encoding/json one for the reader of YAML, with the field and its line. data is what was read,
// of the document or of an item in it.
func (d document) describe(err error, data []byte) string {
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return err.Error()
	}
	field := mismatch.Field
	if key := keyBefore.FindSubmatch(data[:min(int(mismatch.Offset), len(data))]); key != nil {
		// A key of a map is no part of the field that encoding/json names.
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
		advice = "; put it in quotes if it is meant as text"
	}
	return fmt.Sprintf("%s%s is %s where %s is wanted%s", where, field, jsonKind(mismatch.Value), goKind(mismatch.Type), advice)
}

// keyBefore finds the key whose value ends, or begins with its bracket, at the end of a JSON text.
var keyBefore = regexp.MustCompile(`"([^"\\]*)":[^":,{}\[\]]*[{\[]?$`)

// lineOf is the line of the first field of that path, indexes left out, that is no text; else of the first; 0: there is none.
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

// isText reports whether the node is text by YAML 1.1, which objects are read by: an unquoted no, y or 1:30 is none.
func isText(n *yaml.Node) bool {
	if n.ShortTag() != "!!str" || n.Style != 0 {
		return n.ShortTag() == "!!str"
	}
	var value any
	err := yaml11.Unmarshal([]byte(n.Value), &value)
	_, text := value.(string)
	return err != nil || text
}

func jsonKind(value string) string {
	switch kind, _, _ := strings.Cut(value, " "); kind {
	case "object":
		return "a map"
	case "array":
		return "a list"
	case "bool":
		return "true or false"
	case "string":
		return "text"
	default:
		return "a " + kind
	}
}

func goKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Slice:
		return "a list"
	default:
		return "a map"
	}
}
