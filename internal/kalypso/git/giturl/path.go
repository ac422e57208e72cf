package giturl

import (
	"path"
	"strings"
	"unicode"
)

// Ambiguous reports whether the path is ambiguous; see [AmbiguousPath]. A local path never is.
func (u URL) Ambiguous() bool { return u.Scheme != schemeFile && AmbiguousPath(u.Path) }

// AmbiguousPath reports whether servers may interpret an unescaped path differently. It contains "." or ".." segments,
// or may contain them once a server decodes it again (%), treats a backslash as a slash, or cuts it at a semicolon. No
// credential is sent to such a path.
func AmbiguousPath(p string) bool {
	if strings.ContainsAny(p, `\%`) || strings.ContainsFunc(p, unicode.IsControl) {
		return true
	}
	for segment := range strings.SplitSeq(p, "/") {
		name, _, _ := strings.Cut(segment, ";")
		if strings.Contains(name, ".") && strings.Trim(name, ". ") == "" {
			return true
		}
	}
	return false
}

// Covers reports whether u, the URL of a credential, covers repo: scheme, host and port are equal, and its path is a
// prefix of repo's, segment by segment. Azure DevOps Services ignores the case of a path.
func (u URL) Covers(repo URL) bool {
	if !u.SameServer(repo) || repo.Ambiguous() {
		return false
	}
	have, want := repo.Segments(), u.Segments()
	if len(want) > len(have) {
		return false
	}
	for i := range want {
		h, w := have[i], want[i]
		if i == len(want)-1 {
			h, w = strings.TrimSuffix(h, ".git"), strings.TrimSuffix(w, ".git")
		}
		if h != w && (!u.IsAzure() || !strings.EqualFold(h, w)) {
			return false
		}
	}
	return true
}

// Segments returns the segments of the path that are not empty.
func (u URL) Segments() []string {
	p := strings.Trim(path.Clean("/"+u.Path), "/")
	if p == "" {
		return nil
	}
	return strings.Split(p, "/")
}

// Longest returns the element whose URL, as of returns it, covers a repo and has the longest path. If there are
// several, it returns the first. ok is false if no URL covers the repo.
func Longest[T any](all []T, of func(T) URL, repo URL) (found T, ok bool) {
	for _, t := range all {
		if of(t).Covers(repo) && (!ok || len(of(t).Segments()) > len(of(found).Segments())) {
			found, ok = t, true
		}
	}
	return found, ok
}
