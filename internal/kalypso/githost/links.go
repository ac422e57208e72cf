package githost

// Links returns the URLs of web pages. If a function is nil or returns "", there is no link.
type Links struct {
	Commit  func(repo, commit string) string
	Compare func(repo, from, to string) string
}
