package hostfake

import "time"

// Access is the permission of a token for a repo.
type Access int

// The permissions.
const (
	None Access = iota
	See         // that it exists
	Read
	Write
)

// Token is a credential of a user.
type Token struct {
	Login       string
	Repos       map[string]Access // by the path of the repo; see [Everywhere]
	Scopes      []string          // nil: all
	Permissions map[string]string // of an app: "read" or "write"; nil: all
	Expires     time.Time         // zero: never
}

// AllRepos stands for the path of each repo in the permissions of a token.
const AllRepos = "*"

// Everywhere is a permission for all repos.
func Everywhere(access Access) map[string]Access { return map[string]Access{AllRepos: access} }

// Access returns the permission for a repo; without a token, none. All repos are private.
func (t *Token) Access(repo string) Access {
	if t == nil {
		return None
	}
	return max(t.Repos[AllRepos], t.Repos[repo])
}

// AddToken creates a token of a user with permissions for these repos only, and with these scopes; none: with all.
func (s *Server) AddToken(value, login string, repos map[string]Access, scopes ...string) {
	s.Locked(func() { s.tokens[value] = &Token{Login: login, Repos: repos, Scopes: scopes} })
}

// Issue creates a token, for an answer to a request: see [Server.Locked].
func (s *Server) Issue(value string, t *Token) { s.tokens[value] = t }

// Revoke revokes a token.
func (s *Server) Revoke(value string) { s.Locked(func() { delete(s.tokens, value) }) }

// TokenOf returns the token of a value, or nil if it does not exist or has expired; see [Server.Locked].
func (s *Server) TokenOf(value string) *Token {
	t := s.tokens[value]
	if t == nil || !t.Expires.IsZero() && !s.Now().Before(t.Expires) {
		return nil
	}
	return t
}
