package objects

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/resource"
	kyaml "sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/yamlend"
)

// Invalid describes why a cluster can't apply a file.
type Invalid struct {
	Line    int    // from 1: the line of the fault, or the first line of the document
	Message string // the parser's words
}

// Validator finds files that no cluster can apply, since kustomize refuses them. The zero value is ready, and safe for
// concurrent use. Of all files with the same shape, it reads only the first; see [shaper].
type Validator struct {
	known   sync.Map // shape → *Invalid
	shapers sync.Pool
}

// Check returns nil if kustomize reads the whole text of a file with that name, and a cluster accepts the types of its
// objects' metadata.
func (v *Validator) Check(name string, text []byte) *Invalid {
	if slices.Contains(konfig.RecognizedKustomizationFileNames(), name) { // it contains no object
		d := &documentText{text: text}
		return cmp.Or(d.syntaxFault(), d.followingDocument())
	}
	s, ok := v.shapers.Get().(*shaper)
	if !ok {
		s = &shaper{}
	}
	defer v.shapers.Put(s)
	shape := s.shape(text)
	known, ok := v.known.Load(shape)
	if !ok {
		known, _ = v.known.LoadOrStore(shape, check(text))
	}
	return known.(*Invalid) //nolint:forcetypeassert // nothing else is stored
}

// check returns why kustomize or a cluster refuses a text, or nil. Only kustomize decides about syntax. After a
// refusal,
// check searches for the document at fault to find the line.
func check(text []byte) *Invalid {
	documents := split(text)
	// An alias that contains itself would make kustomize expand it forever.
	endless := slices.ContainsFunc(documents, func(d documentText) bool {
		return bytes.IndexByte(d.text, '*') >= 0 && d.syntaxFault() != nil
	})
	var refused error
	if !endless {
		refused = load(text)
		if refused == nil {
			return contentFault(documents)
		}
	}
	for _, d := range documents {
		fault := d.syntaxFault()
		if endless && fault != nil {
			return fault
		}
		if err := load(d.text); err != nil {
			return cmp.Or(fault, d.structureFault(err))
		}
		if d.followed {
			return &Invalid{d.before + bytes.Count(d.text, []byte("\n")) + 1, "there is text after the separator ---"}
		}
	}
	return &Invalid{1, words(refused)}
}

// contentFault returns the first fault of documents that kustomize reads, or nil.
func contentFault(documents []documentText) *Invalid {
	for _, d := range documents {
		if invalid := d.syntaxFault(); invalid != nil { // in a part that kustomize does not read
			return invalid
		}
		if f := d.contentFault(); f != nil {
			return d.invalid(f)
		}
	}
	return nil
}

// documentText is a document of a file.
type documentText struct {
	text     []byte
	before   int  // the number of lines of the file before it
	followed bool // the separator after the document has text behind it
}

// followingDocument returns the fault of a kustomization with a second document, which kustomize ignores.
func (d *documentText) followingDocument() *Invalid {
	line := yamlend.LineAfterFirst(string(d.text))
	if line == 0 {
		return nil
	}
	return &Invalid{line, "kustomize reads only the first document of a kustomization. Remove what follows it"}
}

// separator matches a line between documents, as kustomize does.
var separator = regexp.MustCompile(`\n---(.*)\n`)

// split returns the documents of a file, split as kustomize splits them.
func split(text []byte) (all []documentText) {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	start, before := 0, 0
	for _, at := range separator.FindAllSubmatchIndex(text, -1) {
		d := documentText{text: text[start : at[0]+1], before: before}
		rest := bytes.TrimSpace(text[at[2]:at[3]])
		d.followed = len(rest) > 0 && rest[0] != '#'
		all = append(all, d)
		before += bytes.Count(text[start:at[1]], []byte("\n"))
		start = at[1]
	}
	return append(all, documentText{text: text[start:], before: before})
}

// writeError is why kustomize can't write what it has read.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

// errAPIVersion is the only fault that kustomize accepts.
var errAPIVersion = errors.New("it has no apiVersion")

// load reads a text as kustomize reads a file of resources, and writes it as kustomize does.
func load(text []byte) (err error) {
	defer func() {
		if failed := recover(); failed != nil {
			err = fmt.Errorf("kustomize fails: %v", failed)
		}
	}()
	factory := resource.NewFactory(nil)
	nodes, err := factory.RNodesFromBytes(text)
	if err != nil {
		return err
	}
	all, err := factory.DropLocalNodes(nodes)
	if err != nil {
		return err
	}
	for _, r := range all {
		if _, err := r.AsYAML(); err != nil {
			return &writeError{err}
		}
		if r.GetApiVersion() == "" {
			return errAPIVersion
		}
	}
	return nil
}

// syntaxFault returns the first syntax error of a document, or nil.
func (d *documentText) syntaxFault() *Invalid {
	// The parser names no line for a text in quotes that begins in the first line, so parse adds a line before it.
	parse := func(text []byte) error { return yaml.Unmarshal(append([]byte("\n"), text...), new(yaml.Node)) }
	if err := parse(d.text); err != nil {
		line, why := lineOf(err)
		if why == "found unexpected end of stream" {
			return &Invalid{d.before + line - 1, why}
		}
		return &Invalid{d.firstLine(parse, why), why} // the parser often names the first line of the map instead
	}
	decode := func(text []byte) error { return yaml.Unmarshal(text, new(any)) }
	err := decode(append(bytes.Repeat([]byte("\n"), d.before), d.text...))
	switch line, why := lineOf(err); {
	case err == nil:
		return nil
	case strings.HasPrefix(why, "invalid map key: "):
		return d.structureFault(err)
	case line == 0:
		return &Invalid{d.firstLine(decode, why), why}
	default:
		return &Invalid{line, why}
	}
}

// firstLine searches for the line of the file at which read begins to fail with the error why.
func (d *documentText) firstLine(read func(text []byte) error, why string) int {
	lines := slices.Collect(bytes.Lines(d.text))
	return d.before + 1 + sort.Search(len(lines)-1, func(n int) bool {
		err := read(bytes.Join(lines[:n+1], nil))
		return err != nil && words(err) == why
	})
}

// structureFault returns the fault of a document that is YAML, but that kustomize refuses because of err.
func (d *documentText) structureFault(err error) *Invalid {
	why := words(err)
	if value := (*json.UnsupportedValueError)(nil); errors.As(err, &value) {
		return &Invalid{d.firstLine(load, why), why}
	}
	var root yaml.Node
	if yaml.Unmarshal(d.text, &root) != nil || len(root.Content) == 0 {
		return &Invalid{d.before + 1, why}
	}
	if write := (*writeError)(nil); errors.As(err, &write) {
		if unwritable := d.unwritable(&root); unwritable != nil {
			return unwritable
		}
	}
	key := keyOfOtherType(&root)
	switch {
	case key == nil || strings.HasPrefix(why, "missing "):
		return &Invalid{d.before + root.Content[0].Line, why}
	case key.Kind != yaml.ScalarNode:
		return &Invalid{d.before + key.Line, "a key is a map or a list, not a string"}
	}
	why = fmt.Sprintf("the key %.100s is not a string. Quote it", key.Value)
	return &Invalid{d.before + key.Line, printable.Line(why)}
}

// unwritable returns the fault of the first key or value that kustomize reads but can't write, or nil.
func (d *documentText) unwritable(node *yaml.Node) *Invalid {
	for i, child := range node.Content {
		key := node.Kind == yaml.MappingNode && i%2 == 0
		var why string
		switch {
		case child.Kind != yaml.ScalarNode:
			if found := d.unwritable(child); found != nil {
				return found
			}
		case key && !isWritable(map[string]string{child.Value: ""}):
			why = unwritableText("the key", child.Value)
		case !isWritable(child.Value):
			why = unwritableText("a value", child.Value)
		}
		if why != "" {
			return &Invalid{d.before + child.Line, why}
		}
	}
	return nil
}

// unwritableText returns why kustomize can't write a text.
func unwritableText(what, text string) string {
	at := strings.IndexFunc(text, func(r rune) bool { return !isWritable(string(r)) })
	if at < 0 {
		return printable.Line(fmt.Sprintf("%s %.50s… is longer than 1,024 characters", what, text))
	}
	r, _ := utf8.DecodeRuneInString(text[at:])
	return fmt.Sprintf("%s contains the control character %U, which kustomize can't write. Remove it", what, r)
}

// isWritable reports whether kustomize can write a value.
func isWritable(value any) bool {
	data, err := json.Marshal(value)
	if err == nil {
		_, err = kyaml.JSONToYAML(data)
	}
	return err == nil
}

// keyOfOtherType returns the first key that is not a string.
func keyOfOtherType(node *yaml.Node) *yaml.Node {
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 && child.Tag != "!!str" && child.Tag != "!!merge" {
			return child
		}
		if key := keyOfOtherType(child); key != nil {
			return key
		}
	}
	return nil
}

var lineNumber = regexp.MustCompile(`line (\d+): `)

// lineOf returns the line that an error of the parser names, or 0, and the text after it.
func lineOf(err error) (line int, why string) {
	if err == nil {
		return 0, ""
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n  "), "\n")
	if at := lineNumber.FindStringSubmatchIndex(text); at != nil {
		line, _ = strconv.Atoi(text[at[2]:at[3]])
		text = text[at[1]:]
	}
	return line, printable.Line(strings.TrimPrefix(text, "yaml: "))
}

// words returns the text of an error without the object in it. The object may be long, and it differs between texts of
// the same shape.
func words(err error) string {
	if value := (*json.UnsupportedValueError)(nil); errors.As(err, &value) {
		return "JSON has no number " + value.Str
	}
	_, text := lineOf(err)
	for _, before := range []string{" in object ", ": json: "} {
		text, _, _ = strings.Cut(text, before)
	}
	return fmt.Sprintf("%.200s", text)
}
