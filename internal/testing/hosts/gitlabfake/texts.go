package gitlabfake

import (
	"regexp"
	"slices"
	"strings"
)

// marksDraft matches a draft's title (docs; the pattern is unsure).
var marksDraft = regexp.MustCompile(`(?i)^(\[draft\]|\(draft\)|draft:)`)

// marksDraftCommit matches the subject of a commit whose push makes a merge request a draft (source:
// Commit::DRAFT_REGEX; the second part has no anchor).
var marksDraftCommit = regexp.MustCompile(`^\s*(?i:\[draft\]|\(draft\)|draft:)|(fixup!|squash!)\s`)

// MarksDraft reports whether the push of a commit with a subject makes a merge request a draft.
func MarksDraft(subject string) bool { return marksDraftCommit.MatchString(subject) }

// QuickActions returns a description without its quick actions, and the quick actions. A line that begins with a slash
// is one, unless it is in a fenced block. GitLab removes carriage returns first, and only runs the commands that it
// knows. Its source shows that it runs them; which lines count is unsure, so the fake accepts more.
func QuickActions(text string) (left string, commands []string) {
	var lines []string
	text = strings.ReplaceAll(text, "\r", "")
	all := strings.Split(text, "\n")
	for i := 0; i < len(all); i++ {
		if strings.HasPrefix(all[i], "```") {
			if end := slices.Index(all[i+1:], "```"); end >= 0 {
				lines = append(lines, all[i:i+end+2]...)
				i += end + 1
				continue
			}
		}
		if strings.HasPrefix(all[i], "/") {
			commands = append(commands, all[i])
			continue
		}
		lines = append(lines, all[i])
	}
	return strings.Join(lines, "\n"), commands
}
