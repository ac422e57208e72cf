package objects

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/yamlend"
)

// kustomize writes a name that is a number, and Flux then drops the object without an error. kustomize also reads only
// the first object of a document, and writes some values of other types as text. So the fields that identify an object
// and its metadata are checked as the API server declares them, and each document must end after its object.

// fault is why a cluster can't apply a document that kustomize reads.
type fault struct {
	node    *yaml.Node // where the fault is
	message string     // it is the same for all texts of a shape
	object  string     // the object at fault, such as "ConfigMap a"
	advice  string     // the field as it should be written; "" if the types don't tell
}

func (d *documentText) invalid(f *fault) *Invalid {
	return &Invalid{d.before + f.node.Line, f.message}
}

// Explain returns the object with a fault in a text and how to write the field, such as `ConfigMap 1e3: write name:
// "1e3"`. It returns "" if the fault is not in a field.
func (i *Invalid) Explain(text []byte) string {
	for _, d := range split(text) {
		if d.syntaxFault() != nil {
			return ""
		}
		f := d.contentFault()
		switch {
		case f == nil || f.message != i.Message:
			continue
		case f.advice == "":
			return f.object
		}
		return f.object + ": write " + f.advice
	}
	return ""
}

// contentFault returns the first fault of a document that kustomize reads.
func (d *documentText) contentFault() *fault {
	var root yaml.Node
	if yaml.Unmarshal(d.text, &root) != nil || len(root.Content) == 0 {
		return nil // the document is empty
	}
	if line := yamlend.LineAfterFirst(string(d.text)); line > 0 {
		return &fault{node: &yaml.Node{Line: line}, message: "there is text after the end of the first object, and " +
			"kustomize reads only this object. Put --- on a line of its own between two objects"}
	}
	return objectFault(root.Content[0])
}

// fields are the fields of an object that all kinds have, and the items of a list.
type fields struct {
	APIVersion yaml.Node `yaml:"apiVersion"`
	Kind       yaml.Node `yaml:"kind"`
	Metadata   yaml.Node `yaml:"metadata"`
	Items      yaml.Node `yaml:"items"`
}

// isListOfObjects reports whether kustomize reads the items instead of the object.
func (f *fields) isListOfObjects() bool {
	return isList([]byte(target(&f.Kind).Value)) && f.Items.Kind != 0
}

// objectFault returns the first fault of an object, or of the items of a list.
func objectFault(root *yaml.Node) *fault {
	root = target(root)
	if root.Kind != yaml.MappingNode || len(root.Content) == 0 {
		return nil // kustomize skips it
	}
	var f fields
	_ = root.Decode(&f) // kustomize has read the document
	if f.isListOfObjects() {
		for _, item := range target(&f.Items).Content {
			if found := objectFault(item); found != nil {
				return found
			}
		}
		return nil
	}
	metadata := map[string]yaml.Node{}
	_ = f.Metadata.Decode(&metadata)
	kind, name := target(&f.Kind).Value, metadata["name"]
	found := f.check(metadata)
	if found == nil && (kind == "List" || isList([]byte(kind)) && target(&name).Value == "") {
		found = &fault{node: root, message: "the " + printable.Line(kind) + " has no items"}
	}
	if found != nil {
		found.object = printable.Line(strings.TrimSpace(fmt.Sprintf("%.100s %.253s", kind, target(&name).Value)))
	}
	return found
}

// check returns the first fault in the fields of an object that is not a list.
func (f *fields) check(metadata map[string]yaml.Node) *fault {
	if found := cmp.Or(stringFault("apiVersion", &f.APIVersion), stringFault("kind", &f.Kind)); found != nil {
		return found
	}
	return firstFault(metadata, metadataFault)
}

// firstFault returns the first fault that check finds in the values of a map, in the order of the text.
func firstFault(values map[string]yaml.Node, check func(key string, value *yaml.Node) *fault) (first *fault) {
	for key, value := range values {
		found := check(key, &value)
		if found != nil && (first == nil || cmp.Or(cmp.Compare(found.node.Line, first.node.Line),
			cmp.Compare(found.node.Column, first.node.Column)) < 0) {
			first = found
		}
	}
	return first
}

// metadataFault returns why the API server refuses a field of metadata, or nil. It looks only at types.
func metadataFault(name string, value *yaml.Node) *fault {
	path := "metadata." + name
	switch name {
	case "name", "namespace", "generateName", "uid", "resourceVersion", "selfLink":
		if typeOf(value) == null {
			return nil // no value
		}
		return stringFault(path, value)
	case "labels", "annotations":
		return stringsFault(path, value)
	}
	var v any
	if value.Decode(&v) != nil {
		return nil
	}
	data, err := json.Marshal(map[string]any{name: v})
	if err != nil {
		return nil // kustomize has written the document as JSON, so it can be
	}
	var mismatch *json.UnmarshalTypeError
	// An error that is not about a type depends on the value, such as a text that is no time.
	if !errors.As(kjson.UnmarshalCaseSensitivePreserveInts(data, &metav1.ObjectMeta{}), &mismatch) {
		return nil
	}
	got, _, _ := strings.Cut(mismatch.Value, " ")
	return &fault{node: value, message: fmt.Sprintf("metadata.%s is %s, and must be %s", mismatch.Field, jsonTypes[got],
		goType(mismatch.Type))}
}

// stringsFault returns why a value is not a map of strings, or nil. The API server reads a value without text as "". An
// annotation that is null in words becomes the text "null" or "~" in kustomize.
func stringsFault(path string, value *yaml.Node) *fault {
	switch kind := typeOf(value); {
	case kind == null:
		return nil
	case kind != "a map":
		return &fault{node: value, message: fmt.Sprintf("%s is %s, and must be a map of strings", path, kind)}
	}
	entries := map[string]yaml.Node{}
	_ = value.Decode(&entries)
	return firstFault(entries, func(key string, entry *yaml.Node) *fault {
		if typeOf(entry) == null && (path == "metadata.labels" || target(entry).Value == "") {
			return nil
		}
		found := stringFault(fmt.Sprintf("%s[%q]", path, key), entry)
		if found != nil && found.advice != "" {
			found.advice = fmt.Sprintf("%s: %q", printable.Line(key), target(entry).Value)
		}
		return found
	})
}

// stringFault returns why a value is not a string, or nil.
func stringFault(path string, value *yaml.Node) *fault {
	kind := typeOf(value)
	if kind == "a string" {
		return nil
	}
	f := &fault{node: value, message: printable.Line(fmt.Sprintf("%.300s is %s, and must be a string", path, kind))}
	if value := target(value); value.Kind == yaml.ScalarNode {
		f.message += ". Quote it"
		f.advice = fmt.Sprintf("%s: %q", path[strings.LastIndexByte(path, '.')+1:], value.Value)
	}
	return f
}

// null is the type of a value that is not there.
const null = "null"

// typeOf names the type of a value, as kustomize's parser reads it.
func typeOf(node *yaml.Node) string {
	node = target(node)
	switch node.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
	default:
		return null
	}
	var v any
	if node.Decode(&v) != nil {
		return "a string"
	}
	switch v.(type) {
	case nil:
		return null
	case bool:
		return "a boolean"
	case time.Time:
		return "a date"
	case string:
		return "a string"
	}
	return "a number"
}

// target returns the node that an alias refers to, or the node itself.
func target(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

var jsonTypes = map[string]string{
	"object": "a map", "array": "a list", "string": "a string", "number": "a number", "bool": "a boolean",
}

// goType names the type of a field of the API server.
func goType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice:
		return "a list"
	case reflect.Int64:
		return "a whole number"
	}
	return "a map"
}
