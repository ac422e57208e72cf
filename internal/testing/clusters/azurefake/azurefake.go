// Package azurefake fakes Azure for tests, on loopback with TLS. It issues tokens as Microsoft Entra, and answers
// queries as Azure Resource Graph, with its pages, quota and failures, in the formats that Microsoft documents.
package azurefake

import (
	"cmp"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// The credentials that the server accepts.
const (
	Tenant = "11111111-1111-1111-1111-111111111111"
	Client = "22222222-2222-2222-2222-222222222222"
	Secret = "canary-client-secret"
	token  = "canary-access-token"
)

// devOps is the scope of tokens for Azure DevOps, and devOpsToken the text of such a token before its number.
const (
	devOps      = "499b84ac-1321-427f-aa17-267ca6975798/.default"
	devOpsToken = "canary-devops-token-"
)

// Server is the fake.
type Server struct {
	URL string
	CA  string // the path of the server's certificate, for SSL_CERT_FILE
	// Close stops the server before the test ends.
	Close func()
	// PageSize makes the server return smaller pages than requested, and Date sets its clock. Set them between requests.
	PageSize int
	Date     string

	mu      sync.Mutex
	tables  map[string][]any
	instead []http.HandlerFunc
	queries []Query
	tokens  int // the number of tokens for Azure DevOps
}

// Query is a request for rows of Resource Graph.
type Query struct {
	Query            string   `json:"query"`
	Subscriptions    []string `json:"subscriptions"`
	ManagementGroups []string `json:"managementGroups"`
	Options          struct {
		ResultFormat string `json:"resultFormat"`
		Top          int    `json:"$top"`
		SkipToken    string `json:"$skipToken"`
	} `json:"options"`
}

// New starts a server. It stops when the test ends.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{tables: map[string][]any{}}
	server := httptest.NewTLSServer(http.HandlerFunc(s.serve))
	t.Cleanup(server.Close)
	s.Close = server.Close
	s.URL, s.CA = server.URL, filepath.Join(t.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	programs.WriteFile(t, s.CA, string(certificate))
	return s
}

// Set sets the rows of a table of Resource Graph.
func (s *Server) Set(table string, rows ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tables[table] = rows
}

// Instead makes handlers answer the next requests for rows, in place of the handlers of an earlier call. If a handler
// writes only headers, the server answers.
func (s *Server) Instead(handlers ...http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instead = handlers
}

// Queries returns the requests for rows, in their order.
func (s *Server) Queries() []Query {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.queries)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/openid-configuration"):
		base := s.URL + "/" + Tenant
		answer(w, http.StatusOK, map[string]any{
			"authorization_endpoint": base + "/oauth2/v2.0/authorize", "token_endpoint": base + "/oauth2/v2.0/token",
			"issuer": base + "/v2.0",
		})
	case strings.HasSuffix(r.URL.Path, "/token"):
		s.token(w, r)
	case strings.EqualFold(r.URL.Path, "/providers/Microsoft.ResourceGraph/resources"):
		s.resources(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	assertion := r.FormValue("client_assertion")
	if r.FormValue("client_id") != Client || r.FormValue("client_secret") != Secret && assertion != "canary-assertion" {
		answer(w, http.StatusUnauthorized, map[string]any{
			"error": "invalid_client",
			"error_description": "AADSTS7000215: Invalid client secret provided: " + r.FormValue("client_secret") + assertion +
				"\r\nTrace ID: x",
		})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	text := token
	if strings.Contains(r.FormValue("scope"), devOps) {
		s.tokens++
		text = fmt.Sprint(devOpsToken, s.tokens)
	}
	answer(w, http.StatusOK, map[string]any{"token_type": "Bearer", "expires_in": 3600, "access_token": text})
}

// DevOpsToken returns the n-th token for Azure DevOps that the server issues. The first is 1.
func DevOpsToken(n int) string { return fmt.Sprint(devOpsToken, n) }

// DevOpsTokens returns the number of tokens for Azure DevOps that the server issued.
func (s *Server) DevOpsTokens() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens
}

func (s *Server) resources(w http.ResponseWriter, r *http.Request) {
	var q Query
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		Error(http.StatusBadRequest, "BadRequest", err.Error())(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queries = append(s.queries, q)
	if s.Date != "" {
		w.Header().Set("Date", s.Date)
	}
	if r.Header.Get("Authorization") != "Bearer "+token {
		Error(http.StatusUnauthorized, "InvalidAuthenticationToken", "The access token is invalid.")(w, r)
		return
	}
	if len(s.instead) > 0 {
		next := s.instead[0]
		s.instead = s.instead[1:]
		recorded := httptest.NewRecorder()
		next(recorded, r)
		maps.Copy(w.Header(), recorded.Header())
		if recorded.Code != http.StatusOK || recorded.Body.Len() > 0 {
			w.WriteHeader(recorded.Code)
			_, _ = recorded.Body.WriteTo(w)
			return
		}
	}
	table, _, _ := strings.Cut(q.Query, "\n")
	rows := answerTo(q.Query, s.tables[strings.TrimSpace(table)])
	from := 0
	if q.Options.SkipToken != "" {
		_, _ = fmt.Sscanf(q.Options.SkipToken, "skip-%d", &from)
	}
	size := cmp.Or(s.PageSize, min(max(q.Options.Top, 1), 1000))
	to := min(from+size, len(rows))
	page := map[string]any{
		"totalRecords": len(rows), "count": to - from, "data": append([]any{}, rows[from:to]...), "facets": []any{},
		"resultTruncated": "false",
	}
	if to < len(rows) {
		page["$skipToken"] = fmt.Sprintf("skip-%d", to)
	}
	answer(w, http.StatusOK, page)
}

func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

// Error answers as Azure Resource Manager does.
func Error(code int, name, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		answer(w, code, map[string]any{"error": map[string]any{"code": name, "message": message}})
	}
}

// Throttled answers 429 with the time to retry.
func Throttled(seconds int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", fmt.Sprint(seconds))
		UsedUp(seconds)(w, r)
		Error(http.StatusTooManyRequests, "RateLimiting", "Please provide below info when asking for support.")(w, r)
	}
}

// UsedUp lets the server answer with the rows. Headers of the answer say that the quota is used up for this number of
// seconds.
func UsedUp(seconds int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("x-ms-user-quota-remaining", "0")
		w.Header().Set("x-ms-user-quota-resets-after", fmt.Sprintf("00:00:%02d", seconds))
	}
}

// Page answers with the given page.
func Page(page map[string]any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, page) }
}

// Provider returns the argument azure of a provider that uses the server. The provider must trust the certificate in
// CA.
func (s *Server) Provider(secret string) map[string]any {
	return map[string]any{
		"tenant_id": Tenant, "client_id": Client, "client_secret": secret, "disable_instance_discovery": true,
		"endpoint": map[string]any{
			"active_directory_authority_host": s.URL,
			"resource_manager_endpoint":       s.URL,
			"resource_manager_audience":       s.URL,
		},
	}
}
