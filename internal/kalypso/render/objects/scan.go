// Package objects reads the identities of the Kubernetes objects in a rendered file, as a cluster that syncs the file
// sees them, and finds documents that no cluster can apply.
package objects

import (
	"bytes"
	"strings"
)

// Scan appends the objects in the documents of a YAML text to found, in order. The items of a list count as objects. It
// reads only the lines that identify an object, in the form in which templates write them. It parses a document in
// which these lines have any other form.
func Scan(found []Object, text []byte) []Object {
	for n := 1; len(text) > 0; {
		found = append(found, Object{Document: n})
		last := len(found) - 1
		d := document{Object: &found[last]}
		rest := d.scan(text)
		switch {
		case d.irregular:
			found = parse(found[:last], text[:len(text)-len(rest)], &n)
		case d.keys:
			d.clearNamespace()
			n++
		default:
			found = found[:last]
		}
		text = rest
	}
	return found
}

// document contains the values from the lines of a document.
type document struct {
	*Object

	keys       bool // it has a key
	irregular  bool // it has lines in a form that scan can't read
	inMetadata bool
	valueBelow bool // the last key has no value on its line
	indent     int  // of the keys of metadata; 0 until the first key is read
}

// scan reads the first document of a text, and returns the text after it. An indented line matters only below metadata.
func (d *document) scan(text []byte) (rest []byte) {
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			end = len(text)
		}
		if end > 0 && (text[0] != ' ' || d.inMetadata) && d.line(text[:end]) {
			return text
		}
		text = text[min(end+1, len(text)):]
	}
	return nil
}

// line reads a line that is not empty. It reports whether the line ends the document.
func (d *document) line(line []byte) (ends bool) {
	switch c := line[0]; {
	case c == ' ':
		d.metadataLine(line)
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		d.topLine(line)
	case c == '#', c == '%' && !d.keys, string(line) == "\r":
	case isSeparator(line):
		if d.keys || d.irregular {
			return true
		}
		rest := bytes.TrimSpace(line[len("---"):])
		d.irregular = len(rest) > 0 && rest[0] != '#'
	case c == '-' && d.valueBelow && !d.inMetadata: // a list
	default:
		d.irregular = true
	}
	return false
}

func isSeparator(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && (len(line) == len("---") || blank(line[len("---")]))
}

// topLine reads a line without indentation.
func (d *document) topLine(line []byte) {
	key, value, ok := pair(line)
	if !ok {
		d.irregular = true
		return
	}
	d.keys, d.inMetadata, d.valueBelow = true, false, len(value) == 0 || value[0] == '#'
	switch string(key) {
	case "apiVersion":
		d.set(&d.APIVersion, value)
	case "kind":
		d.set(&d.Kind, value)
		d.irregular = d.irregular || isList(d.Kind)
	case "metadata":
		d.inMetadata = true
		d.irregular = d.irregular || !d.valueBelow || d.indent > 0
	default:
		d.skip(value)
	}
}

// metadataLine reads an indented line below metadata.
func (d *document) metadataLine(line []byte) {
	indent := 1
	for indent < len(line) && line[indent] == ' ' {
		indent++
	}
	content := line[indent:]
	switch {
	case len(content) == 0, content[0] == '#', content[0] == '\r':
		return
	case d.indent == 0:
		d.indent = indent
	case indent > d.indent, indent == d.indent && content[0] == '-':
		d.irregular = d.irregular || mayGoOn(content)
		return
	}
	key, value, ok := pair(content)
	switch {
	case !ok, indent < d.indent, string(key) == "<<":
		d.irregular = true
	case string(key) == "name":
		d.set(&d.Name, value)
	case string(key) == "namespace":
		d.set(&d.Namespace, value)
	default:
		d.skip(value)
	}
}

// mayGoOn reports whether a text in quotes may continue on the next line. The indentation of such a line has no
// meaning.
func mayGoOn(line []byte) bool {
	i, single := bytes.IndexByte(line, '"'), bytes.IndexByte(line, '\'')
	if i < 0 || single >= 0 && single < i {
		i = single
	}
	return i >= 0 && (i == len(line)-1 || line[len(line)-1] != line[i])
}

// pair splits a line with a plain key at its colon.
func pair(line []byte) (key, value []byte, ok bool) {
	for i, c := range line {
		switch {
		case isAlphanumeric(c):
		case c == ':' && (i+1 == len(line) || blank(line[i+1])):
			return line[:i], bytes.TrimSpace(line[i+1:]), i > 0
		case strings.IndexByte(" \"'{[,", c) >= 0:
			return nil, nil, false
		}
	}
	return nil, nil, false
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// isName reports whether a value is plain text in YAML with only letters, digits and the other characters of names.
func isName(value []byte) bool {
	all := inNames
	for _, c := range value {
		all &= bytesOfValues[c]
	}
	return all != 0 && len(value) > 0 && isAlphanumeric(value[0]) &&
		(len(value) != len("null") || !bytes.EqualFold(value, []byte("null")))
}

// isList reports whether a kind is a list of objects.
func isList(kind []byte) bool { return bytes.HasSuffix(kind, []byte("List")) }

// skip checks whether a value ends on its line, or continues on the next lines with indentation.
func (d *document) skip(value []byte) {
	if len(value) == 0 {
		return
	}
	switch first, last := value[0], value[len(value)-1]; first {
	case '"', '\'':
		d.irregular = d.irregular || len(value) == 1 || last != first
	case '{', '[':
		d.irregular = d.irregular || last != '}' && last != ']'
	default:
		d.irregular = d.irregular || bytes.Contains(value, []byte(": ")) // invalid YAML, unless it is in a comment
	}
}

// set reads the name in the value of a key. If the value is anything else, or the key occurs twice, the document is
// irregular.
func (d *document) set(field *[]byte, value []byte) {
	if n := len(value); n > 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		value = value[1 : n-1]
	}
	if *field != nil || !isName(value) {
		d.irregular = true
		return
	}
	*field = value
}
