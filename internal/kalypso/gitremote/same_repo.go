package gitremote

import "strings"

// SameRepo reports whether two URLs name one repository, as far as that can be told: over whatever transport, whoever the
// user is, in whatever case, with or without ".git" or a slash at the end.
func SameRepo(a, b string) bool {
	at, errA := ParseURL(a)
	other, errB := ParseURL(b)
	if errA != nil || errB != nil {
		return false
	}
	// Two servers on one host differ by their ports, and so do two transports of one server.
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
