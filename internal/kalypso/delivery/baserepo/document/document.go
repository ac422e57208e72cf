// Package document reads the file with a BaseRepo, and changes the commit in it in place.
package document

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"
	kyaml "sigs.k8s.io/yaml"
)

// File is the path of the file with the BaseRepo, from the root of the branch. Kalypso's workflows write it.
const File = "base-repo.yaml"

// MaxSize is the size of the largest file that is read, in bytes.
const MaxSize = 1 << 20

// Errors of a file. Tell them apart with [errors.Is].
var (
	// ErrNoBaseRepo: the file contains no BaseRepo, or several.
	ErrNoBaseRepo = errors.New("the file must contain one BaseRepo")
	// ErrInPlace: the commit can't be changed without changing something else, such as an alias or a block scalar.
	ErrInPlace = errors.New("spec.commit can't be changed in place; write it as a plain text on one line")
)

// BaseRepo is a document of the kind BaseRepo: its name and its spec.
type BaseRepo struct {
	Name               string `yaml:"-"`
	Repo, Branch, Path string
	Commit             string // "": none
}

// object is a document as YAML, in which all other keys are the names in lower case.
type object struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Spec       BaseRepo
}

// New returns the text of a file for a base that has no file yet. Without a name, it is called after its branch, as far
// as Kubernetes allows that.
func New(b BaseRepo) ([]byte, error) {
	o := object{APIVersion: apiVersion, Kind: kind, Spec: b}
	o.Metadata.Name = b.Name
	if b.Name == "" {
		o.Metadata.Name = b.Branch
		if len(validation.IsDNS1123Subdomain(b.Branch)) > 0 {
			o.Metadata.Name = "base"
		}
	}
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	err := e.Encode(o)
	return text.Bytes(), err
}

const (
	apiGroup   = "scheduler.kalypso.io"
	apiVersion = apiGroup + "/v1alpha1"
	kind       = "BaseRepo"
)

// Parse reads the BaseRepo of a file. The errors are those of YAML, and [ErrNoBaseRepo].
func Parse(text []byte) (BaseRepo, error) {
	_, found, err := parse(text)
	return found, err
}

// parse also returns the document.
func parse(text []byte) (*yaml.Node, BaseRepo, error) {
	var found BaseRepo
	if len(text) > MaxSize {
		return nil, found, fmt.Errorf("it has %d bytes, and %d are read at most", len(text), MaxSize)
	}
	all, err := documents(text)
	if err != nil {
		return nil, found, err
	}
	all = slices.DeleteFunc(all, func(document *yaml.Node) bool { return !isBaseRepo(document) })
	if len(all) != 1 {
		return nil, found, fmt.Errorf("%w, and it contains %d", ErrNoBaseRepo, len(all))
	}
	var o object
	err = wrongTypes(all[0].Decode(&o))
	found = o.Spec
	found.Name = o.Metadata.Name
	return all[0], found, err
}

// wrongType matches an error of the YAML library about a value of the wrong type.
var wrongType = regexp.MustCompile("^(line \\d+): cannot unmarshal !!(\\w+)(?: `.*`)? into (.+)$")

// wrongTypes rewords an error about values of the wrong types: the library's shows Go's types.
func wrongTypes(err error) error {
	var all *yaml.TypeError
	if !errors.As(err, &all) {
		return err
	}
	kinds := map[string]string{"seq": "a list", "map": "a map", "int": "a number", "float": "a number", "bool": "a bool"}
	reworded := make([]string, len(all.Errors))
	for i, text := range all.Errors {
		reworded[i] = text
		if m := wrongType.FindStringSubmatch(text); m != nil {
			want := "a map"
			if m[3] == "string" {
				want = "a string"
			}
			reworded[i] = fmt.Sprintf("%s: expected %s, got %s", m[1], want, cmp.Or(kinds[m[2]], "a string"))
		}
	}
	return errors.New(strings.Join(reworded, "; "))
}

// documents returns the documents of a file.
func documents(text []byte) (all []*yaml.Node, err error) {
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var node yaml.Node
		switch err := d.Decode(&node); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, node.Content...)
	}
}

func isBaseRepo(document *yaml.Node) bool {
	version, object := field(document, "apiVersion"), field(document, "kind")
	return version != nil && object != nil && strings.HasPrefix(version.Value, apiGroup+"/") && object.Value == kind
}

// field returns the value of a key of a mapping, or nil.
func field(mapping *yaml.Node, key string) *yaml.Node {
	if mapping.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// SetCommit returns the file with another commit in its BaseRepo. All other bytes stay. The errors are those of
// [Parse], and [ErrInPlace].
func SetCommit(text []byte, commit string) ([]byte, error) {
	document, found, err := parse(text)
	switch {
	case err != nil:
		return nil, err
	case found.Commit == commit:
		return text, nil
	}
	spec := field(document, "spec")
	if spec == nil || len(spec.Content) == 0 {
		return nil, ErrInPlace
	}
	var changed string
	if value := field(spec, "commit"); value != nil {
		changed = replaceScalar(string(text), value, commit)
	} else {
		changed = addField(string(text), spec, commit)
	}
	if changed == "" || !differInCommitAlone(text, []byte(changed), commit) {
		return nil, ErrInPlace
	}
	return []byte(changed), nil
}

// scalar returns a text as YAML. A hash that consists of digits, or of digits and one e, is a number unless it has
// quotes.
func scalar(text string) string {
	var plain any
	if err := kyaml.Unmarshal([]byte(text), &plain); err == nil && plain == text {
		return text
	}
	return `"` + text + `"`
}

// quotes are the quotation marks of scalars on one line.
var quotes = map[yaml.Style]string{0: "", yaml.SingleQuotedStyle: "'", yaml.DoubleQuotedStyle: `"`}

// replaceScalar replaces a plain or quoted scalar of one line, with the same quotes. It returns "" for any other.
func replaceScalar(text string, value *yaml.Node, commit string) string {
	from := offset(text, value.Line, value.Column)
	quote, quotable := quotes[value.Style]
	was, is := quote+value.Value+quote, quote+commit+quote
	if quote == "" {
		is = scalar(commit)
	}
	if from < 0 || value.Kind != yaml.ScalarNode || value.Anchor != "" || !quotable ||
		!strings.HasPrefix(text[from:], was) { // it spans lines, or has escapes
		return ""
	}
	if was == "" && !strings.HasSuffix(text[:from], " ") {
		is = " " + is // nothing follows the colon
	}
	return text[:from] + is + text[from+len(was):]
}

// addField adds the commit to a mapping: after the other fields if each has a line of its own, otherwise before them,
// in JSON if they are in JSON.
func addField(text string, mapping *yaml.Node, commit string) string {
	line := "commit: " + scalar(commit)
	first, last := mapping.Content[0], mapping.Content[len(mapping.Content)-1]
	at := offset(text, first.Line, first.Column)
	switch {
	case at < 0:
		return ""
	case mapping.Style&yaml.FlowStyle != 0 && first.Style == yaml.DoubleQuotedStyle:
		return text[:at] + `"commit": "` + commit + `", ` + text[at:]
	case mapping.Style&yaml.FlowStyle != 0:
		return text[:at] + line + ", " + text[at:]
	}
	end := offset(text, last.Line, 1)
	if end < 0 || last.Kind != yaml.ScalarNode {
		return ""
	}
	newline := "\n"
	if strings.Contains(text, "\r\n") {
		newline = "\r\n"
	}
	indent := strings.Repeat(" ", first.Column-1)
	next := strings.IndexByte(text[end:], '\n')
	if next < 0 {
		return text + newline + indent + line
	}
	end += next + 1
	return text[:end] + indent + line + newline + text[end:]
}

// offset returns the position of a line and a column, which count from 1 and in characters, or -1.
func offset(text string, line, column int) int {
	lines := strings.SplitAfterN(text, "\n", line)
	if len(lines) < line {
		return -1
	}
	at := len(text) - len(lines[line-1])
	if line == 1 && strings.HasPrefix(text, byteOrderMark) {
		at += len(byteOrderMark)
	}
	for range column - 1 {
		_, size := utf8.DecodeRuneInString(text[at:])
		if size == 0 {
			return -1
		}
		at += size
	}
	return at
}

const byteOrderMark = "\ufeff"

// differInCommitAlone reports whether two files contain the same documents, except for the commit of the BaseRepo,
// which the second one has.
func differInCommitAlone(was, is []byte, commit string) bool {
	_, found, err := parse(is)
	before, failed := values(was)
	after, alsoFailed := values(is)
	return cmp.Or(err, failed, alsoFailed) == nil && found.Commit == commit && reflect.DeepEqual(before, after)
}

// values returns the documents of a file, without the commit of the BaseRepo.
func values(text []byte) ([]any, error) {
	documents, err := documents(text)
	if err != nil {
		return nil, err
	}
	var all []any
	for _, document := range documents {
		var v any
		if err := document.Decode(&v); err != nil {
			return nil, err
		}
		if object, ok := v.(map[string]any); ok && isBaseRepo(document) {
			if spec, ok := object["spec"].(map[string]any); ok {
				delete(spec, "commit")
			}
		}
		all = append(all, v)
	}
	return all, nil
}
