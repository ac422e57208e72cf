package fleet

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Secret contains references to secrets in external stores, for the assignments that match its labels. It contains no
// secret.
type Secret struct {
	Meta
	Data map[string]SecretReference
}

// SecretReference names a secret in a store of External Secrets.
type SecretReference struct {
	Store    string `json:"store"`              // name of a ClusterSecretStore
	Key      string `json:"key"`                // of the secret in the store
	Property string `json:"property,omitempty"` // of a secret with several values; empty: none
}

// Fields returns the fields that are set, by the names that templates use.
func (r SecretReference) Fields() map[string]string {
	fields := map[string]string{"store": r.Store, "key": r.Key}
	if r.Property != "" {
		fields["property"] = r.Property
	}
	return fields
}

// String returns the fields that are set as text, such as: store "vault", key "db", property "password".
func (r SecretReference) String() string {
	text := fmt.Sprintf("store %q, key %q", r.Store, r.Key)
	if r.Property != "" {
		text += fmt.Sprintf(", property %q", r.Property)
	}
	return text
}

// HasUnknown reports whether a field of the reference is [unknown.Text].
func (r SecretReference) HasUnknown() bool { return unknown.Any(r.Fields()) }

// Kind implements [Object].
func (*Secret) Kind() Kind { return KindSecret }

// Validate implements [Object].
func (s *Secret) Validate() problem.Problems {
	c := checkerOf(s)
	c.meta()
	for _, k := range slices.Sorted(maps.Keys(s.Data)) {
		if unknown.Is(k) {
			continue
		}
		at := c.attr("data").key(k)
		at.refuse("Invalid secret key", k, validation.IsConfigMapKey(k))
		reference := s.Data[k]
		switch msgs := validation.IsDNS1123Subdomain(reference.Store); {
		case reference.Store == "":
			at.attr("store").add("Missing store", fmt.Sprintf("The reference %q names no ClusterSecretStore.", k))
		case len(msgs) > 0 && !unknown.Is(reference.Store):
			at.attr("store").add("Invalid store", fmt.Sprintf("A reference names one ClusterSecretStore. %s",
				validationDetail(reference.Store, msgs)))
		}
		if reference.Key == "" {
			at.attr("key").add("Missing key", fmt.Sprintf("The reference %q lacks the key of the secret in the store.", k))
		}
	}
	return c.problems()
}
