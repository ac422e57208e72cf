package apiserver

import (
	"encoding/json"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// reviewer authenticates and authorizes users for the API server, as the core API server does in a cluster.
type reviewer struct{}

func (reviewer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	review := map[string]any{} // a TokenReview or a SubjectAccessReview
	if err := json.NewDecoder(req.Body).Decode(&review); err != nil {
		http.NotFound(w, req) // the request is no review, but for example lists namespaces
		return
	}
	spec := func(path ...string) string {
		value, _, _ := unstructured.NestedString(review, append([]string{"spec"}, path...)...)
		return value
	}
	switch {
	case strings.HasSuffix(req.URL.Path, "/tokenreviews"):
		groups := map[string][]string{Admin: {"system:masters"}, Reader: {"readers"}, Nobody: {}}
		user, known := groups[spec("token")]
		review["status"] = map[string]any{"authenticated": known, "user": map[string]any{
			"username": strings.TrimPrefix(spec("token"), "canary-"), "groups": append(user, "system:authenticated"),
		}}
	case strings.HasSuffix(req.URL.Path, "/subjectaccessreviews"):
		review["status"] = map[string]any{"allowed": spec("nonResourceAttributes", "verb") == "get" ||
			spec("user") == "reader" && spec("resourceAttributes", "verb") == "list"}
	default:
		http.NotFound(w, req)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(review)
}
