package pullrequest

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// PromotedLabel labels pull requests that promote another commit.
const PromotedLabel = "promoted"

// Text describes a change to reviewers.
type Text struct {
	Message  string // of the commit; its first line is the title
	Body     string // Markdown, with or without the marker
	Promoted bool   // the change promotes another commit
	// Reviewers are asked to review this change, see [Settings].
	Reviewers []string
}

// proposal returns the desired pull request.
func (t *Topic) proposal(text Text) githost.PullRequestContent {
	title, _, _ := strings.Cut(strings.TrimSpace(printable.Text(text.Message)), "\n")
	p := githost.PullRequestContent{
		Branch: t.Location.Branch, Target: t.Location.Target,
		Title: cut(title, t.repo.MaxTitle, "…"), Body: t.body(text.Body),
		Labels: t.Settings.Labels, Reviewers: text.Reviewers, Draft: t.Settings.Draft,
	}
	switch {
	case text.Promoted:
		p.Labels = append(sets.Without(t.Settings.Labels, []string{PromotedLabel}), PromotedLabel)
	case !slices.Contains(t.Settings.Labels, PromotedLabel):
		p.RemoveLabels = []string{PromotedLabel}
	}
	return p
}

// body returns a description with the topic's marker at the host's place.
func (t *Topic) body(text string) string {
	return body(text, t.Location.Marker, t.repo.MarkerFirst, t.repo.MaxBody)
}

// body returns a description with the marker at its start or its end. It shortens the description to most characters,
// by whole lines if it has some: half a line may end within code, and what follows would be markup.
func body(text, marker string, first bool, most int) string {
	const end = "\n\n… (cut)"
	text = strings.TrimSpace(strings.ReplaceAll(text, marker, ""))
	most -= len(marker) + len("\n\n\n")
	if characters(text) > most {
		text = strings.TrimSuffix(cut(text, most, end), end)
		if line := strings.LastIndex(text, "\n"); line > 0 {
			text = text[:line]
		}
		text += end
	}
	if first {
		return marker + "\n\n" + text + "\n"
	}
	return text + "\n\n" + marker + "\n"
}

// endOfReason is the line after the reason why a pull request must not be merged.
const endOfReason = "<!-- kalypso-withheld -->"

// withheld returns a description that begins with the reason why the pull request must not be merged now, in place of
// an earlier one.
func withheld(text, reason string) string {
	if _, after, found := strings.Cut(text, endOfReason); found {
		text = after
	}
	reason = strings.ReplaceAll(printable.Line(reason), "`", "'")
	return "**Do not merge this pull request now.** An apply makes it ready again once this reason is gone:\n\n" +
		"    " + reason + "\n\n" + endOfReason + "\n\n" + strings.TrimSpace(text)
}

// cut shortens a text to most characters, including end. It adds end only if it shortens the text.
func cut(text string, most int, end string) string {
	n := characters(text)
	if n <= most {
		return text
	}
	runes := []rune(text)
	for room := max(most-characters(end), 0); n > room; {
		n -= characters(string(runes[len(runes)-1]))
		runes = runes[:len(runes)-1]
	}
	return string(runes) + end
}

// characters counts characters as UTF-16 code units, like the strictest host.
func characters(s string) int { return len(utf16.Encode([]rune(s))) }

// Links returns the links to a host's pages that a description has. Without a host, it has none.
func Links(host githost.Host) githost.Links {
	if host == nil {
		return githost.Links{}
	}
	return githost.Links{
		Commit: func(repo, commit string) string {
			if at, err := host.Repo(repo); err == nil {
				return at.CommitURL(commit)
			}
			return ""
		},
		Compare: func(repo, from, to string) string {
			if at, err := host.Repo(repo); err == nil {
				return at.CompareURL(from, to)
			}
			return ""
		},
	}
}
