package page

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// commit is a commit with its web page.
type commit struct {
	Hash string
	URL  string // "": unknown
}

// Short returns the first 7 digits.
func (c commit) Short() string { return short(c.Hash) }

func short(hash string) string {
	digits := []rune(hash)
	return string(digits[:min(len(digits), 7)])
}

// commitURL returns the URL of a commit's web page. On GitHub, GitLab, Gitea, Forgejo and Azure Repos, it is the repo's
// URL and /commit/. It is empty for a repo without an HTTPS URL.
func commitURL(repo, hash string) string {
	at, err := giturl.Parse(repo)
	if err != nil || at.Scheme != giturl.SchemeHTTPS || hash == "" {
		return ""
	}
	return strings.TrimSuffix(at.String(), ".git") + "/commit/" + url.PathEscape(hash)
}

// span returns a duration in its two largest units, rounded down.
func span(seconds float64) string {
	d := time.Duration(seconds) * time.Second
	days, hours, minutes := int(d/(24*time.Hour)), int(d/time.Hour)%24, int(d/time.Minute)%60
	two := func(a int, of string, b int, more string) string {
		if b == 0 {
			return fmt.Sprintf("%d %s", a, of)
		}
		return fmt.Sprintf("%d %s %d %s", a, of, b, more)
	}
	switch {
	case days > 0:
		return two(days, "d", hours, "h")
	case hours > 0:
		return two(hours, "h", minutes, "min")
	case minutes > 0:
		return two(minutes, "min", 0, "")
	}
	return two(int(d/time.Second), "s", 0, "")
}
