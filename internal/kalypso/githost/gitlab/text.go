package gitlab

import (
	"regexp"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// titles marks drafts by their titles, as GitLab and older versions of it expect it. GitLab has no other way.
var titles = githost.DraftTitles{
	Prefix: "Draft: ", Marks: regexp.MustCompile(`(?i)^\s*(\[draft\]|\(draft\)|draft:|draft\s-\s|draft$)\s*`),
}

// autosquash matches the words by which GitLab turns a merge request into a draft, if they occur anywhere in the
// subject of a commit.
var autosquash = regexp.MustCompile(`(fixup|squash)!(\s)`)

// readyMessage changes the message of a commit so that it does not turn a merge request into a draft.
func readyMessage(message string) string {
	message = strings.TrimSpace(message)
	subject, _, _ := strings.Cut(message, "\n")
	return titles.Stored(autosquash.ReplaceAllString(subject, "$1:$2"), false) + message[len(subject):]
}

// command matches the start of a line that GitLab could run as a quick action, with the rights of our token. GitLab
// removes carriage returns before it looks for them.
var command = regexp.MustCompile(`(?m)^([ \t\r]*)/`)

// escape returns a description in which no line is a quick action. Markdown shows an escaped slash as a slash.
func escape(body string) string { return command.ReplaceAllString(body, `$1\/`) }
