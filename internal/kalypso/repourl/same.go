package repourl

import "strings"

// Key returns the same string for all URLs of one repository, regardless of the user and a trailing ".git".
func (u URL) Key() string {
	u.User = ""
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), ".git")
	return u.String()
}

// Key returns the [URL.Key] of a repository, or the text itself if it is not a URL.
func Key(repo string) string {
	at, err := Parse(repo)
	if err != nil {
		return repo
	}
	return at.Key()
}

// Same reports whether two texts are URLs of one repository by the same scheme: what one writes, the other reads. Texts
// that are not URLs are the same if they are equal. Compare with [SameAcrossTransports].
func Same(a, b string) bool { return a == b || Key(a) == Key(b) }

// SameAcrossTransports reports whether two URLs refer to the same repository, as far as the URLs tell. Others wrote one
// of them, so it ignores the transport, the user, upper and lower case, and a trailing ".git" or slash. A text that is
// not a URL is never the same.
func SameAcrossTransports(a, b string) bool {
	at, errA := Parse(a)
	other, errB := Parse(b)
	if errA != nil || errB != nil {
		return false
	}
	// Ports distinguish two servers on one host only within one scheme.
	if at.Host != other.Host || at.Scheme == other.Scheme && at.Port != other.Port {
		return false
	}
	return at.foldedName() == other.foldedName() && at.IsLocal() == other.IsLocal()
}

// foldedName returns the name without its case, unless it is a path of this machine.
func (u URL) foldedName() string {
	if u.IsLocal() {
		return u.Name()
	}
	return strings.ToLower(u.Name())
}

// SameServer reports whether two URLs have the same scheme, host and port.
func (u URL) SameServer(other URL) bool {
	return u.Scheme == other.Scheme && u.Host == other.Host && u.Port == other.Port
}
