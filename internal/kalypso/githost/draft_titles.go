package githost

import (
	"regexp"
	"strings"
)

// DraftTitles converts titles for hosts that recognize a draft only by its title.
type DraftTitles struct {
	Prefix string // the prefix with which we mark a draft
	// Marks matches the start of a title that the host reads as a draft's, with the space behind it.
	Marks *regexp.Regexp
}

// noDraft is put before a title that the host would otherwise take for a draft's.
const noDraft = "- "

// Stored returns the title in the form that is sent to the host. [DraftTitles.WithoutMark] reverses it.
func (d DraftTitles) Stored(title string, draft bool) string {
	switch {
	case draft:
		return d.Prefix + title
	case d.looksDraft(title):
		return noDraft + title
	}
	return title
}

// WithoutMark returns the title without the mark of a draft, and without noDraft.
func (d DraftTitles) WithoutMark(stored string, draft bool) string {
	switch {
	case draft:
		return strings.TrimPrefix(stored, d.Marks.FindString(stored))
	case strings.HasPrefix(stored, noDraft) && d.looksDraft(stored):
		return stored[len(noDraft):]
	}
	return stored
}

// looksDraft reports whether a title marks a draft after any number of noDraft.
func (d DraftTitles) looksDraft(title string) bool {
	for strings.HasPrefix(title, noDraft) {
		title = title[len(noDraft):]
	}
	return d.Marks.MatchString(title)
}
