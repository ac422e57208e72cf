package describe

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/diff"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/secretscan"
)

// markdown writes the groups, as many whole ones as fit into a number of characters, and what is left out. A limit of 0
// is none.
func (l *Lines) markdown(limit int) string {
	if l == nil || len(l.groups)+len(l.unknown) == 0 {
		return ""
	}
	texts, total := []string{"\n### Changed lines\n"}, 0
	fits := func(text string) bool { return limit == 0 || total+length(text) <= limit }
	for _, group := range l.groups {
		text := l.group(group)
		if !fits(text) {
			break
		}
		texts, total = append(texts, text), total+length(text)
	}
	total += length(texts[0])
	for ; len(texts) > 0; texts = texts[:len(texts)-1] {
		if rest := l.countHidden(l.groups[len(texts)-1:]); fits(rest) {
			return strings.Join(texts, "") + rest
		}
		total -= length(texts[len(texts)-1])
	}
	return ""
}

// group writes one change, with the folders that it reaches.
func (l *Lines) group(changes []fileChange) string {
	before, after, _ := l.files(int(changes[0].folder), &Buffers{})
	f := changedFiles(before.Files, after.Files)[changes[0].file]
	var b strings.Builder
	renamed := ""
	for _, c := range changes {
		if c.lines != changes[0].lines {
			renamed = ", the same, renamed"
		}
	}
	fmt.Fprintf(&b, "\n#### %s%s in %s%s\n\n",
		code(f.name()), f.kind().Note(), problem.Count(len(changes), "folder"), renamed)
	clusterType := func(c fileChange) string { return l.folders[c.folder].ClusterType }
	if types := perClusterType(changes, clusterType); len(types) > 1 && len(changes) > maxNamed {
		fmt.Fprintf(&b, "%s\n\n", problem.First(types, maxNamed))
	}
	folder := func(c fileChange) string { return code(l.folders[c.folder].String()) }
	fmt.Fprintf(&b, "%s\n\n", names(changes, maxNamed, folder))
	edits, ok := withoutSecrets(f.appendEdits(nil))
	switch text := printable.Text(strings.ReplaceAll(diff.Unified(edits), "\r\n", `\r`+"\n")); {
	case !ok:
		b.WriteString("The file contains a secret of several lines, so its lines are not shown.\n")
	case text == "":
		b.WriteString("The file is empty.\n")
	default:
		fmt.Fprintf(&b, "%[1]sdiff\n%[2]s%[1]s\n", fence(text, 3), text)
	}
	return b.String()
}

// countHidden counts the groups that are not shown, and the folders whose files are not known.
func (l *Lines) countHidden(groups [][]fileChange) (text string) {
	if len(groups) > 0 {
		folders := map[int32]bool{}
		for _, group := range groups {
			for _, c := range group {
				folders[c.folder] = true
			}
		}
		text += fmt.Sprintf("\n… and %s in %s.", problem.Count(len(groups), "more change"),
			problem.Count(len(folders), "folder"))
		if l.command != nil {
			text += " To see one: " + code(l.command(l.folders[groups[0][0].folder].String()))
		}
		text += "\n"
	}
	if n := len(l.unknown); n > 0 {
		text += fmt.Sprintf("\nThe files before this change are not known here for %s, such as %s.\n",
			problem.Count(n, "folder"), code(l.folders[l.unknown[0]].String()))
	}
	return text
}

// setting matches a line that sets a key to a value, in YAML, in a shell, or in JSON.
var setting = regexp.MustCompile(`^(\s*(?:- )?(?:export )?["']?([\w.-]+)["']?\s*[:=]\s*)(\S.*)`)

const hiddenLine = "(secret)"

// withoutSecrets replaces the secrets in the lines of edits. It returns false if they contain a secret that spans
// lines.
func withoutSecrets(edits []diff.Edit) (shown []diff.Edit, ok bool) {
	var before, after strings.Builder
	for _, e := range edits {
		var b bytes.Buffer
		for line := range strings.Lines(string(e.Lines)) {
			b.WriteString(withoutSecret(line))
		}
		e.Lines = b.Bytes()
		if e.Op != diff.Add {
			before.Write(e.Lines)
		}
		if e.Op != diff.Delete {
			after.Write(e.Lines)
		}
		shown = append(shown, e)
	}
	return shown, secretscan.Find("", before.String()) == "" && secretscan.Find("", after.String()) == ""
}

// withoutSecret replaces a secret in a line.
func withoutSecret(line string) string {
	text, ended := strings.CutSuffix(line, "\n")
	if found := setting.FindStringSubmatch(text); found != nil {
		value := strings.Trim(found[3], `"', `)
		if strings.HasPrefix(value, "(secret") {
			return line // it is hidden already
		}
		if secretscan.Find(found[2], value) != "" || secretscan.Find("", text) != "" {
			text = found[1] + hiddenLine
		}
	} else if secretscan.Find("", text) != "" {
		text = hiddenLine
	}
	if ended {
		text += "\n"
	}
	return text
}
