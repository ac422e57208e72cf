package gitbranch

import (
	"fmt"
	"strings"
)

// CheckName returns an error if a text is not the name of a branch, by the rules of git check-ref-format --branch. It
// also refuses the name of a reference: Git would accept it as the branch refs/heads/refs/heads/….
func CheckName(name string) error {
	switch {
	case strings.HasPrefix(name, "refs/"):
		return fmt.Errorf("%q is a reference name; use the branch name, without refs/heads/", name)
	case name == "HEAD":
		return fmt.Errorf("%q names the checked-out commit, not a branch; use a branch name", name)
	}
	if rule := brokenRule(name); rule != "" {
		return fmt.Errorf("%q is not a valid branch name: %s", name, rule)
	}
	return nil
}

// brokenRule returns the first rule of Git that a branch name breaks, or an empty text.
func brokenRule(name string) string {
	if name == "" {
		return "it is empty"
	}
	if strings.HasPrefix(name, "-") {
		return "Git allows no hyphen at its start"
	}
	for i := range len(name) { // Git's rules are about bytes
		switch c := name[i]; {
		case c < ' ' || c == 0x7f:
			return "Git allows no control characters"
		case c == ' ':
			return "Git allows no spaces"
		case strings.IndexByte("~^:?*[\\", c) >= 0:
			return "Git allows no " + string(c)
		}
	}
	switch {
	case strings.Contains(name, ".."):
		return "Git allows no two dots in a row"
	case strings.Contains(name, "@{"):
		return "Git allows no @{"
	case strings.HasSuffix(name, "."):
		return "Git allows no dot at its end"
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return "Git allows no slash at its start or end, and no two slashes in a row"
		case strings.HasPrefix(part, "."):
			return "Git allows no dot at its start or after a slash"
		case strings.HasSuffix(part, ".lock"):
			return "Git allows no .lock at its end or before a slash, because Git's lock files are called so"
		}
	}
	return ""
}
