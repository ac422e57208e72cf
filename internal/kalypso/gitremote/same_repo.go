package gitremote

import "strings"

// SameRepo reports whether two URLs refer to the same repository, as far as the URLs tell. It ignores the transport,
// the user, upper and lower case, and a trailing ".git" or slash.
func SameRepo(a, b string) bool {
	at, errA := ParseURL(a)
	other, errB := ParseURL(b)
	if errA != nil || errB != nil {
		return false
	}
	// Ports distinguish two servers on one host only within one scheme.
	if at.Host != other.Host || at.Scheme == other.Scheme && at.Port != other.Port {
		return false
	}
	return repoPath(at) == repoPath(other) && (at.Scheme == schemeFile) == (other.Scheme == schemeFile)
}

func repoPath(l Location) string {
	p := strings.TrimSuffix(strings.Trim(l.Path, "/"), ".git")
	if l.Scheme == schemeFile {
		return p
	}
	return strings.ToLower(p)
}
