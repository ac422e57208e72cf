package describe

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/comparison"
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
	hidden := l.hiddenIn(before, after)
	edits, ok := hidden.withoutSecrets(f.appendEdits(nil))
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

// hiddenTexts are the secrets of a folder. A text that is one in one of its lines or files is one in all.
type hiddenTexts struct{ comparison.Secrets }

// hiddenIn returns the secrets of a folder before and after a change, with those of the config values.
func (l *Lines) hiddenIn(folders ...FolderFiles) *hiddenTexts {
	h := &hiddenTexts{}
	h.Add(l.secrets...)
	for _, folder := range folders {
		for _, f := range folder.Files {
			text := string(f.Content)
			h.addNew(comparison.SecretsIn(text))
			for line := range strings.Lines(text) {
				key, value, ok := splitSetting(line)
				if !ok {
					value = line
				}
				h.addNew(comparison.SecretsOf(key, value))
			}
		}
	}
	return h
}

// addNew adds texts that are not hidden already.
func (h *hiddenTexts) addNew(texts []string) {
	for _, text := range texts {
		if !strings.Contains(text, hiddenStart) {
			h.Add(text)
		}
	}
}

// hiddenStart begins all texts in place of a secret.
const hiddenStart = "(secret"

// splitSetting splits a line that sets a key to a value.
func splitSetting(line string) (key, value string, ok bool) {
	found := setting.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
	if found == nil {
		return "", "", false
	}
	return found[2], strings.Trim(found[3], `"', `), true
}

// withoutSecrets replaces the secrets in the lines of edits. It returns false if they contain a secret that spans
// lines.
func (h *hiddenTexts) withoutSecrets(edits []diff.Edit) (shown []diff.Edit, ok bool) {
	var before, after strings.Builder
	byForm := &hiddenTexts{} // hides no part of a secret that spans lines
	for _, e := range edits {
		var b bytes.Buffer
		for line := range strings.Lines(string(e.Lines)) {
			b.WriteString(h.withoutSecret(line))
			if e.Op != diff.Add {
				before.WriteString(byForm.withoutSecret(line))
			}
			if e.Op != diff.Delete {
				after.WriteString(byForm.withoutSecret(line))
			}
		}
		e.Lines = b.Bytes()
		shown = append(shown, e)
	}
	return shown, secretscan.Find("", before.String()) == "" && secretscan.Find("", after.String()) == ""
}

// isSecret reports whether a text with a key contains a secret.
func (h *hiddenTexts) isSecret(key, text string) bool {
	return secretscan.Find(key, text) != "" || h.Contains(text)
}

// withoutSecret replaces a secret in a line.
func (h *hiddenTexts) withoutSecret(line string) string {
	text, ended := strings.CutSuffix(line, "\n")
	if key, value, ok := splitSetting(text); ok {
		if strings.HasPrefix(value, hiddenStart) {
			return line
		}
		if h.isSecret(key, value) || h.isSecret("", text) {
			text = setting.FindStringSubmatch(text)[1] + hiddenLine
			if h.isSecret("", text) { // in the key
				text = hiddenLine
			}
		}
	} else if h.isSecret("", text) || h.Contains(strings.Trim(text, `-"', `)) {
		text = hiddenLine
	}
	if ended {
		text += "\n"
	}
	return text
}
