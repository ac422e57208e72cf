package registryserver

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/tlsserver"
)

// The names of the registry and of the token server in tokens.
const (
	service = "registry"
	issuer  = "tokens"
)

// TokenServer issues tokens for a registry to one user, as the specification of the registry describes.
type TokenServer struct {
	URL            string
	user, password string
	authority      *tlsserver.Authority // signs the tokens

	mu     sync.Mutex
	scopes []string
}

// Tokens starts a token server. It stops when the test ends.
func Tokens(t testing.TB, user, password string) *TokenServer {
	t.Helper()
	s := &TokenServer{user: user, password: password, authority: tlsserver.NewAuthority(t)}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

func (s *TokenServer) serve(w http.ResponseWriter, r *http.Request) {
	if user, password, _ := r.BasicAuth(); user != s.user || password != s.password {
		http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"wrong user or password"}]}`, http.StatusUnauthorized)
		return
	}
	type access struct {
		Type    string   `json:"type"`
		Name    string   `json:"name"`
		Actions []string `json:"actions"`
	}
	granted := []access{}
	for _, scopes := range r.URL.Query()["scope"] {
		for scope := range strings.FieldsSeq(scopes) {
			if parts := strings.Split(scope, ":"); len(parts) == 3 {
				granted = append(granted, access{parts[0], parts[1], strings.Split(parts[2], ",")})
			}
			s.mu.Lock()
			s.scopes = append(s.scopes, scope)
			s.mu.Unlock()
		}
	}
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
		"iss": issuer, "aud": r.URL.Query().Get("service"), "sub": s.user, "jti": "1", "access": granted,
		"iat": time.Now().Unix(), "nbf": time.Now().Unix() - 60, "exp": time.Now().Unix() + 300,
	})
	token.Header["x5c"] = []string{base64.StdEncoding.EncodeToString(s.authority.Certificate.Raw)}
	text, err := token.SignedString(s.authority.Key)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"token": text, "expires_in": 300})
}

// Scopes returns the scopes for which tokens were requested.
func (s *TokenServer) Scopes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scopes
}
