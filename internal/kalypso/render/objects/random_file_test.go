package objects_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// randomFile returns a valid file of objects, written in any form that YAML allows. Their names contain i.
func randomFile(r *rand.Rand, i int) string {
	var b strings.Builder
	if r.IntN(4) == 0 {
		b.WriteString("# a comment\n---\n")
	}
	documents := 1 + r.IntN(3)
	for n := range documents {
		if n > 0 {
			b.WriteString([]string{"---\n", "--- # next\n", "---\n# nothing\n---\n"}[r.IntN(3)])
		}
		name := fmt.Sprintf("n%d-%d", i, n)
		switch r.IntN(6) {
		case 0:
			fmt.Fprintf(&b, "{\"apiVersion\": \"v1\", \"kind\": \"A\", \"metadata\": {\"name\": %q}, \"x\": %s}\n", name,
				flow(r, 3))
			continue
		case 1:
			fmt.Fprintf(&b, "apiVersion: v1\nkind: %s\nitems:\n", []string{"List", "AList"}[r.IntN(2)])
			for k := range r.IntN(3) {
				fmt.Fprintf(&b, "- apiVersion: v1\n  kind: A\n  metadata:\n    name: %s-%d\n  spec:\n", name, k)
				block(&b, r, "    ", 3)
			}
			continue
		}
		keys := []string{"apiVersion: " + []string{"v1", "apps/v1", "\"g.io/v1\"", "'v1'"}[r.IntN(4)] + "\n",
			"kind: " + []string{"A", "\"B\"", "C # comment"}[r.IntN(3)] + "\n",
			"metadata:\n  name: " + name + "\n  labels:\n    " + word(r) + ": " + text(r) + "\n"}
		r.Shuffle(len(keys), func(i, k int) { keys[i], keys[k] = keys[k], keys[i] })
		b.WriteString(strings.Join(keys, []string{"", "\n", "# comment\n"}[r.IntN(3)]))
		if r.IntN(3) > 0 {
			b.WriteString("spec:\n")
			block(&b, r, strings.Repeat(" ", 1+r.IntN(4)), 4)
		}
	}
	if r.IntN(5) == 0 {
		return strings.ReplaceAll(b.String(), "\n", "\r\n")
	}
	return b.String()
}

// block writes a map or a list, each element on its own line with this indentation.
func block(b *strings.Builder, r *rand.Rand, indent string, depth int) {
	list := r.IntN(3) == 0
	for n := range 1 + r.IntN(4) {
		key := fmt.Sprintf("%s%d:", word(r), n)
		if list {
			key = "-"
		}
		switch {
		case depth > 0 && r.IntN(3) == 0:
			fmt.Fprintf(b, "%s%s\n", indent, key)
			block(b, r, indent+strings.Repeat(" ", 1+r.IntN(4)), depth-1)
		case r.IntN(6) == 0:
			fmt.Fprintf(b, "%s%s %s\n%s   %s: \"\n\n%s   %s\n", indent, key, []string{"|", ">-", "|+"}[r.IntN(3)], indent,
				word(r), indent, word(r))
		case r.IntN(6) == 0:
			fmt.Fprintf(b, "%s%s &x%d %s\n", indent, key, n, text(r))
		case r.IntN(6) == 0:
			fmt.Fprintf(b, "%s%s \"%s\n\n%s  %s\" # comment\n", indent, key, word(r), indent, word(r))
		default:
			fmt.Fprintf(b, "%s%s %s\n", indent, key, flow(r, depth))
		}
	}
}

// flow returns a value on one line.
func flow(r *rand.Rand, depth int) string {
	switch {
	case depth > 0 && r.IntN(5) == 0:
		return "[" + flow(r, depth-1) + ", " + flow(r, depth-1) + "]"
	case depth > 0 && r.IntN(5) == 0:
		return "{\"a\": " + flow(r, depth-1) + ", \"b\": " + flow(r, depth-1) + "}"
	}
	return []string{
		strconv.Itoa(r.IntN(1e6)), "-1.5e3", "0x1F", "true", "null", "2001-12-14", `""`, "[]", "{}", `"\u00e9\n"`,
		text(r), text(r), text(r),
	}[r.IntN(13)]
}

// text returns a text in any style.
func text(r *rand.Rand) string {
	s := word(r)
	return []string{
		s, `"` + s + `"`, "'" + s + "'", s + " " + s, s + ":" + s, `"` + s + `: #"`, "'it''s'", "https://" + s + "/#c",
		"Zürich", "30s", "10.0.0.0/8", "!!str 5",
	}[r.IntN(12)]
}

func word(r *rand.Rand) string {
	return []string{"a", "bc", "d-e", "f.g", "h_i", "image", "replicas", "x9"}[r.IntN(8)]
}

// change deletes, inserts or doubles a character or a line of a text.
func change(r *rand.Rand, s string) string {
	at := r.IntN(len(s))
	switch r.IntN(4) {
	case 0:
		return s[:at] + s[at+1:]
	case 1:
		return s[:at] + []string{" ", "\n", ":", "\"", "'", "{", "]", "- ", "\t", "#", "*", "&"}[r.IntN(12)] + s[at:]
	}
	lines := strings.SplitAfter(s, "\n")
	at = r.IntN(len(lines))
	if r.IntN(2) == 0 {
		lines[at] = ""
	} else {
		lines[at] += lines[at]
	}
	return strings.Join(lines, "")
}
