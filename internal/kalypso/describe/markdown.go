package describe

import (
	"fmt"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/printable"
)

// code is a text to the letter, whatever it holds: no markup, no mention of
// people, no line of its own, and what is not printable escaped.
func code(s string) string {
	s = printable.Line(strings.ReplaceAll(s, "\n", "↵"))
	if s == "" {
		s = " "
	}
	longest, run := 0, 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// cell is a text in a table, where a bar would end it, in code too.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func link(text, url string) string {
	if url == "" {
		return text
	}
	return "[" + text + "](<" + strings.NewReplacer("<", "%3C", ">", "%3E", "|", "%7C", "\n", "%0A", "\r", "%0D").Replace(url) + ">)"
}

// maxValue is how many characters of a value are shown.
const maxValue = 80

// Truncate is as much of a value as is shown of it. What was clipped stays.
func Truncate(s string) string {
	if runes := []rune(strings.TrimSuffix(s, "…")); len(runes) > maxValue {
		return string(runes[:maxValue]) + "…"
	}
	return s
}

// short is a commit's hash as people write it; other names are clipped at most.
func short(commit string) string {
	if len(commit) == 40 && strings.Trim(commit, "0123456789abcdef") == "" {
		return commit[:7]
	}
	return Truncate(commit)
}

func count(n int, what string) string { return fmt.Sprintf("%d %s", n, plural(n, what)) }

func plural(n int, what string) string {
	if n == 1 {
		return what
	}
	if stem, ok := strings.CutSuffix(what, "y"); ok {
		return stem + "ies"
	}
	return what + "s"
}

func first[T any](all []T, n int) []T { return all[:min(n, len(all))] }

// repoName is the URL of a repo without what may be a secret in it.
func repoName(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	host, path, _ := strings.Cut(rest, "/")
	i := strings.LastIndex(host, "@")
	if i < 0 || scheme == "ssh" && !strings.Contains(host[:i], ":") {
		return url
	}
	return scheme + "://" + host[i+1:] + "/" + path
}
