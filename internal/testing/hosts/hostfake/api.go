package hostfake

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// Object is a JSON object.
type Object = map[string]any

// Answer is an answer to a request to the API, in JSON. If Status is 0, there is none yet.
type Answer struct {
	Status int
	Body   any // nil: no body
}

// OK returns a successful answer.
func OK(body any) Answer { return Answer{http.StatusOK, body} }

// Created returns the answer to a request that created something.
func Created(body any) Answer { return Answer{http.StatusCreated, body} }

// Call is a request to the API.
type Call struct {
	*http.Request
	Answered http.Header // the headers of the answer
	By       *Token      // nil: the request has no token
}

// Need is the permission that the request needs for a repo.
func (c *Call) Need() Access {
	if c.Method == http.MethodGet {
		return Read
	}
	return Write
}

// API routes the requests to the API of a fake.
type API struct {
	http.ServeMux
	Prefix string // of all paths
	// Authenticate sets the token of a call, or refuses it.
	Authenticate func(c *Call) Answer
	// ContentType is the type of all answers that [API.Format] does not format.
	ContentType string
	// Format writes an answer in the host's own format, and reports whether it did; may be nil.
	Format func(w http.ResponseWriter, a Answer) bool
}

// Handle routes requests, such as "GET /user", to a function. The function gets the body.
func Handle[B any](api *API, pattern string, do func(c *Call, asked B) Answer) {
	method, path, _ := strings.Cut(pattern, " ")
	api.HandleFunc(method+" "+api.Prefix+path, func(w http.ResponseWriter, req *http.Request) {
		c := &Call{Request: req, Answered: w.Header()}
		var asked B
		a := api.Authenticate(c)
		if err := json.NewDecoder(req.Body).Decode(&asked); a.Status == 0 && err != nil && !errors.Is(err, io.EOF) {
			a = Answer{http.StatusBadRequest, Object{"message": "Problems parsing JSON"}}
		}
		if a.Status == 0 {
			a = do(c, asked)
		}
		api.Reply(w, a)
	})
}

// HandleUnknown answers all other requests.
func (api *API) HandleUnknown(a Answer) {
	api.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { api.Reply(w, a) })
}

// Reply writes an answer.
func (api *API) Reply(w http.ResponseWriter, a Answer) {
	if api.Format != nil && api.Format(w, a) {
		return
	}
	if a.Body != nil {
		w.Header().Set("Content-Type", api.ContentType)
	}
	w.WriteHeader(a.Status)
	if a.Body != nil {
		_ = json.NewEncoder(w).Encode(a.Body)
	}
}

// Value returns the text behind a pointer, or "".
func Value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// Set sets a field to a value, if the request has one.
func Set[T any](field, given *T) {
	if given != nil {
		*field = *given
	}
}
