package fleetyaml

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
	got := jsonKind(mismatch.Value)
	if mismatch.Type.Kind() == reflect.String && got != "a map" && got != "a list" {
		advice = "; quote it to make it a string"
	}
	if field != "" {
		where += field + ": "
	}
	return fmt.Sprintf("%sexpected %s, got %s%s", where, goKind(mismatch.Type), got, advice)
}

// unreadable converts an error about the YAML of the document, or about its conversion to JSON, into a message with the
// line.
func (d document) unreadable(err error) string {
	message := shiftLine(err.Error(), d.line)
	for _, inGo := range []string{"invalid map key", "unsupported map key", "unsupported value"} {
		if !strings.Contains(message, inGo) {
			continue
		}
		var root yaml.Node
		_ = yaml.Unmarshal([]byte(d.text), &root)
		if n, reason := notJSON(&root); n != nil {
			return fmt.Sprintf("line %d: %s", n.Line+d.line-1, reason)
		}
		return "a key is no string, or a number is not finite"
	}
	return message
}

// notJSON returns the first node that JSON can't contain, with the reason, or nil.
func notJSON(n *yaml.Node) (*yaml.Node, string) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!float" && !isFinite(n.Value) {
		return n, n.Value + " is no number that Kubernetes can read; quote it to make it a string"
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			key := child
			if key.Kind == yaml.AliasNode {
				key = key.Alias
			}
			switch kind := map[yaml.Kind]string{yaml.MappingNode: "a map", yaml.SequenceNode: "a list"}[key.Kind]; {
			case kind != "":
				return child, "a key is " + kind + ", and must be a string; quote a text that begins with { or ["
			case key.ShortTag() == "!!null":
				return child, "a key is null, and must be a string; quote it"
			}
		}
		if found, reason := notJSON(child); found != nil {
			return found, reason
		}
	}
	return nil, ""
}

// isFinite reports whether a number in YAML is neither infinite nor NaN.
func isFinite(number string) bool {
	switch strings.ToLower(strings.TrimLeft(number, "+-")) {
	case ".inf", ".nan":
		return false
	}
	return true
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

// goKind returns the name of the kind of YAML value that a Go type contains.
func goKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "a bool"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	}
	return "a map"
}
