package apiserver

import (
	"encoding/json"
	"net/http"
	"strings"
)

// reviewer authenticates and authorizes users for the API server, as the core API server does in a cluster.
type reviewer struct{}

// review is a TokenReview or a SubjectAccessReview, with the fields that reviewer reads or sets.
type review struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Spec       reviewSpec     `json:"spec"`
	Status     map[string]any `json:"status"`
}

type reviewSpec struct {
	Token      string   `json:"token,omitempty"`
	User       string   `json:"user,omitempty"`
	Groups     []string `json:"groups,omitempty"`
	Attributes *struct {
		Group string `json:"group"`
		Verb  string `json:"verb"`
	} `json:"resourceAttributes,omitempty"`
	Path *struct {
		Verb string `json:"verb"`
	} `json:"nonResourceAttributes,omitempty"`
}

func (reviewer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var r review
	if err := json.NewDecoder(req.Body).Decode(&r); err != nil {
		http.NotFound(w, req) // the request is no review, but for example lists namespaces
		return
	}
	switch {
	case strings.HasSuffix(req.URL.Path, "/tokenreviews"):
		groups := map[string][]string{Admin: {"system:masters"}, Reader: {"readers"}, Nobody: {}}
		user, known := groups[r.Spec.Token]
		r.Status = map[string]any{"authenticated": known, "user": map[string]any{
			"username": strings.TrimPrefix(r.Spec.Token, "canary-"), "groups": append(user, "system:authenticated"),
		}}
	case strings.HasSuffix(req.URL.Path, "/subjectaccessreviews"):
		reads := r.Spec.Path != nil && r.Spec.Path.Verb == "get" || r.Spec.User == "reader" && r.Spec.Attributes != nil &&
			r.Spec.Attributes.Verb == "list"
		r.Status = map[string]any{"allowed": reads}
	default:
		http.NotFound(w, req)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(r)
}
