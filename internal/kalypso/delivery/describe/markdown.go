package describe

import (
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// code formats a text literally, as inline code on one line. It escapes unprintable characters. Markup and mentions
// in it have no effect.
func code(s string) string {
	s = printable.Line(strings.ReplaceAll(s, "\n", "↵"))
	if s == "" {
		s = " "
	}
	ends := fence(s, 1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ends + s + ends
}

// codeOrNone is [code], or says that there is no text.
func codeOrNone(s string) string {
	if s == "" {
		return "none"
	}
	return code(s)
}

// fence returns what begins and ends a text as code: at least so many backticks, and more than the text has in a row.
func fence(text string, least int) string {
	longest, run := 0, 0
	for _, r := range text {
		run++
		if r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	return strings.Repeat("`", max(least, longest+1))
}

// cell escapes a text for a table, in which a bar ends a cell even inside code.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func link(text, url string) string {
	if url == "" {
		return text
	}
	return "[" + text + "](<" + escapeURL.Replace(url) + ">)"
}

// escapeURL escapes characters that would end a link's address or a table's cell, or begin code.
var escapeURL = strings.NewReplacer("<", "%3C", ">", "%3E", "|", "%7C", "`", "%60", "\n", "%0A", "\r", "%0D")

// short abbreviates a commit's hash. It truncates other names.
func short(commit string) string {
	if len(commit) == 40 && strings.Trim(commit, "0123456789abcdef") == "" {
		return commit[:7]
	}
	return delivery.Truncate(commit)
}

func first[T any](all []T, n int) []T { return all[:min(n, len(all))] }

// repoName returns the URL of a repo without credentials.
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
