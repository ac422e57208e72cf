package gitlab

import (
	"regexp"
	"strings"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
)

// draftPrefix marks a draft in its title. GitLab has no other way to mark a draft.
const draftPrefix = "Draft: "

// marksDraft matches the start of a title that GitLab, or an older version of it, takes for a draft's.
var marksDraft = regexp.MustCompile(`(?i)^\s*(\[draft\]|\(draft\)|draft:|draft\s-\s|draft$)\s*`)

// hostTitle returns the title that GitLab gets, and ownTitle reverses it.
var (
	titles    = githost.DraftTitles{Prefix: draftPrefix, Marks: marksDraft}
	hostTitle = titles.Stored
	ownTitle  = titles.WithoutMark
)

// autosquash matches the words by which GitLab turns a merge request into a draft, if they occur anywhere in the
// subject of a commit.
var autosquash = regexp.MustCompile(`(fixup|squash)!(\s)`)

// readyMessage changes the message of a commit so that it does not turn a merge request into a draft.
func readyMessage(message string) string {
	message = strings.TrimSpace(message)
	subject, _, _ := strings.Cut(message, "\n")
	return hostTitle(autosquash.ReplaceAllString(subject, "$1:$2"), false) + message[len(subject):]
}

// command matches the start of a line that GitLab could run as a quick action, with the rights of our token. GitLab
// removes carriage returns before it looks for them.
var command = regexp.MustCompile(`(?m)^([ \t\r]*)/`)

// escape returns a description in which no line is a quick action. Markdown shows an escaped slash as a slash.
func escape(body string) string { return command.ReplaceAllString(body, `$1\/`) }
