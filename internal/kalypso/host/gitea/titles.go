package gitea

import (
	"regexp"
	"strings"
)

// draftPrefix begins the title of a draft.
const draftPrefix = "WIP: "

// guard begins a title that Gitea would otherwise take for a draft's.
const guard = "- "

var (
	// draftTitle matches the beginning of a draft's title, by Gitea's default settings.
	draftTitle = regexp.MustCompile(`^(?i:WIP:|\[WIP\])\s*`)
	// guarded matches a title that would be a draft's without its guards.
	guarded = regexp.MustCompile(`^(?:- )*(?i:WIP:|\[WIP\])`)
)

// titleOf returns the title that Gitea stores.
func titleOf(title string, draft bool) string {
	switch {
	case draft:
		return draftPrefix + title
	case guarded.MatchString(title):
		return guard + title
	}
	return title
}

// plainTitle returns our title for one that Gitea stores; see [titleOf].
func plainTitle(stored string, draft bool) string {
	switch {
	case draft:
		return strings.TrimPrefix(stored, draftTitle.FindString(stored))
	case guarded.MatchString(stored):
		return strings.TrimPrefix(stored, guard)
	}
	return stored
}
