package gitlab

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/gitlabfake"
)

// FuzzTitle: any title is the same after it was sent to GitLab and read again, and marks a draft only if draft is set.
func FuzzTitle(f *testing.F) {
	for _, title := range []string{"Render prod", "Draft: x", "draft:x", "- Draft: x", "- - [draft] x", "(DRAFT)", "- x",
		"Draft", "draft - x", "Drafty", ""} {
		f.Add(title)
	}
	f.Fuzz(func(t *testing.T, title string) {
		title = strings.TrimSpace(title)
		for _, draft := range []bool{true, false} {
			sent := titles.Stored(title, draft)
			if got := titles.WithoutMark(sent, draft); got != title {
				t.Errorf("%q is sent as %q and read as %q", title, sent, got)
			}
			if titles.Marks.MatchString(sent) != draft {
				t.Errorf("%q, draft %v, is sent as %q", title, draft, sent)
			}
		}
	})
}

// FuzzMessage: the subject of a commit never makes the merge request a draft, and the rest of the message is not
// changed.
func FuzzMessage(f *testing.F) {
	for _, message := range []string{
		"Render prod\n\nDraft: x", "Draft: x", "\n draft:x\ny", "- Draft: x", "[draft] x", "fixup! x", "squash!\tx",
		"Apply fixup! x", "fixup! fixup! x", "fixup!", "draft: fixup! x", "",
	} {
		f.Add(message)
	}
	f.Fuzz(func(t *testing.T, message string) {
		sent := readyMessage(message)
		subject, rest, _ := strings.Cut(sent, "\n")
		if _, want, _ := strings.Cut(strings.TrimSpace(message), "\n"); rest != want {
			t.Errorf("%q is committed as %q", message, sent)
		}
		if gitlabfake.MarksDraft(subject) {
			t.Errorf("%q makes a draft", sent)
		}
	})
}

// FuzzEscape: GitLab runs no quick action in an escaped description, and escaping a text a second time changes nothing.
func FuzzEscape(f *testing.F) {
	for _, body := range []string{
		"/merge", "a\n/close\nb", "\r/merge", "a\n\r\r/merge", "  /merge", "```\n/x\n```\n/y", "\t/z",
		"a /b\nhttps://acme.io", "```\n/x",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		escaped := escape(body)
		if _, commands := gitlabfake.QuickActions(escaped); len(commands) > 0 {
			t.Errorf("%q runs %q", body, commands)
		}
		if escape(escaped) != escaped || strings.ReplaceAll(escaped, `\/`, "/") != strings.ReplaceAll(body, `\/`, "/") {
			t.Errorf("%q is escaped as %q", body, escaped)
		}
	})
}
