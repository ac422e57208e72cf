package configure

import (
	"strconv"
	"strings"
)

// parsePlain parses the maps and lists of most configs: with a line for each key or item, texts without quotes, whole
// numbers and lists in brackets. It returns what [parseYAML] returns, or false if the text has anything else.
func parsePlain(text string) (v any, ok bool) {
	p := plainParser{rest: text}
	p.next()
	v, ok = p.block(0)
	return v, ok && p.line == "" && p.rest == ""
}

// plainParser reads a text line by line.
type plainParser struct {
	line   string // the current line, without its indentation
	indent int    // of the line
	rest   string // the lines after it
}

// next goes to the next line. After the last line, and at an empty one, the line is "".
func (p *plainParser) next() {
	line, rest, _ := strings.Cut(p.rest, "\n")
	p.line, p.rest = strings.TrimLeft(line, " "), rest
	p.indent = len(line) - len(p.line)
}

func (p *plainParser) atItem() bool { return strings.HasPrefix(p.line, "- ") }

// block parses the map or list whose first line is the current one. It stops at a line that does not belong to it.
func (p *plainParser) block(depth int) (any, bool) {
	if depth == maxValueDepth {
		return nil, false
	}
	if p.atItem() {
		return p.list(depth)
	}
	return p.fields(depth)
}

func (p *plainParser) list(depth int) (any, bool) {
	list, indent := []any{}, p.indent
	for p.indent == indent && p.atItem() {
		p.indent, p.line = p.indent+len("- "), p.line[len("- "):]
		var v any
		var ok bool
		if p.atItem() || strings.HasSuffix(p.line, ":") || strings.Contains(p.line, ": ") {
			v, ok = p.block(depth + 1)
		} else {
			v, ok = plainValue(p.line)
			p.next()
		}
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
	return list, true
}

func (p *plainParser) fields(depth int) (any, bool) {
	fields, indent := map[string]any{}, p.indent
	for p.indent == indent && p.line != "" && !p.atItem() {
		key, text, isField := strings.Cut(p.line, ":")
		_, isKey := plainScalar(key)
		_, twice := fields[key]
		if !isField || !isKey || twice || strings.Contains(key, " ") || len(key) > maxPlainKey {
			return nil, false
		}
		p.next()
		var v any
		var ok bool
		switch {
		case strings.HasPrefix(text, " "):
			v, ok = plainValue(text[1:])
		case text == "" && p.line != "" && (p.indent > indent || p.indent == indent && p.atItem()):
			v, ok = p.block(depth + 1)
		}
		if !ok {
			return nil, false
		}
		fields[key] = v
	}
	return fields, len(fields) > 0
}

// maxPlainKey limits the bytes of a key. YAML limits them too.
const maxPlainKey = 128

// plainValue returns the value of a key or item: a list in brackets or a scalar.
func plainValue(text string) (any, bool) {
	inner, isList := strings.CutPrefix(text, "[")
	if !isList {
		return plainScalar(text)
	}
	inner, closed := strings.CutSuffix(inner, "]")
	list := []any{}
	if !closed || inner == "" {
		return list, closed
	}
	for text := range strings.SplitSeq(inner, ",") {
		text = strings.TrimPrefix(text, " ")
		v, ok := plainScalar(text)
		if !ok || strings.ContainsAny(text, " :") {
			return nil, false
		}
		list = append(list, v)
	}
	return list, true
}

// plainScalar returns a whole number, or a text that begins with a letter or slash and has no other type in YAML 1.1.
func plainScalar(text string) (any, bool) {
	if text == "" {
		return nil, false
	}
	digits := true
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			continue
		case 'a' <= c|0x20 && c|0x20 <= 'z' || strings.IndexByte("_./-@=+", c) >= 0:
		case c == ' ' && i+1 < len(text):
		case c == ':' && i+1 < len(text) && text[i+1] != ' ':
		default:
			return nil, false
		}
		digits = false
	}
	if digits {
		const most = 18 // digits: as many as all numbers of 64 bits have
		n, err := strconv.Atoi(text)
		return n, err == nil && len(text) <= most && (text[0] != '0' || text == "0")
	}
	switch strings.ToLower(text) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return nil, false
	}
	c := text[0] | 0x20
	return text, 'a' <= c && c <= 'z' || text[0] == '/'
}
