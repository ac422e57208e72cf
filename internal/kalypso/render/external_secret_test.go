package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// TestExternalSecretSpec checks that the store with the most references is named once, and that other references name
// their own stores.
func TestExternalSecretSpec(t *testing.T) {
	reference := func(store, key, property string) map[string]any {
		r := map[string]any{"store": store, "key": key}
		if property != "" {
			r["property"] = property
		}
		return r
	}
	tests := []struct {
		name       string
		references map[string]any
		want, err  string
	}{
		{
			name: "one store",
			references: map[string]any{
				"B": reference("vault", "db", "password"),
				"A": reference("vault", "on", ""),
			},
			want: `secretStoreRef:
  name: vault
  kind: ClusterSecretStore
data:
  - secretKey: A
    remoteRef:
      key: "on"
  - secretKey: B
    remoteRef:
      key: db
      property: password`,
		},
		{
			name: "a second store",
			references: map[string]any{
				"A": reference("azure", "a", ""), "B": reference("vault", "b", ""), "C": reference("vault", "c", ""),
			},
			want: `secretStoreRef:
  name: vault
  kind: ClusterSecretStore
data:
  - secretKey: A
    remoteRef:
      key: a
    sourceRef:
      storeRef:
        name: azure
        kind: ClusterSecretStore
  - secretKey: B
    remoteRef:
      key: b
  - secretKey: C
    remoteRef:
      key: c`,
		},
		{
			name:       "two stores with equal numbers of references",
			references: map[string]any{"A": reference("vault", "a", ""), "B": reference("azure", "b", "")},
			want: `secretStoreRef:
  name: azure
  kind: ClusterSecretStore
data:
  - secretKey: A
    remoteRef:
      key: a
    sourceRef:
      storeRef:
        name: vault
        kind: ClusterSecretStore
  - secretKey: B
    remoteRef:
      key: b`,
		},
		{name: "no reference", err: "there are no references"},
		{
			name:       "a text",
			references: map[string]any{"A": "text"},
			err:        `the reference "A" lacks its store or its key`,
		},
		{
			name:       "no store",
			references: map[string]any{"A": map[string]any{"key": "a"}},
			err:        `the reference "A" lacks its store or its key`,
		},
		{
			name:       "no key",
			references: map[string]any{"A": map[string]any{"store": "vault"}},
			err:        `the reference "A" lacks its store or its key`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := testData().With(More{SecretData: tt.references})
			got, err := Text(t.Context(), &fleet.Template{Manifests: []string{"{{ externalSecretSpec .SecretData }}"}}, data)
			switch {
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("error %v, want %q", err, tt.err)
			case tt.err == "" && err != nil:
				t.Error(err)
			default:
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			}
		})
	}
}
