package delivery

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

func TestValidateAcceptedChanges(t *testing.T) {
	t.Parallel()
	all := AcceptedChanges{"drift-3f2a9c41d07b", unknown.Text, "drift-3F2A", "removed", "other-3f2a9c41d07b", ""}
	if ps := all.Validate(); len(ps) != 4 {
		t.Errorf("%d problems: %v", len(ps), ps)
	}
}

// TestNewID: an ID depends on its kind and on each part of the change, and on where a part ends.
func TestNewID(t *testing.T) {
	t.Parallel()
	seen := map[ChangeID]bool{}
	for _, stake := range [][]string{nil, {""}, {"a"}, {"a", "b"}, {"b", "a"}, {"ab"}, {"a\nb"}} {
		for _, kind := range []string{IDDrift, IDMove} {
			id := newChangeID(kind, stake...)
			if seen[id] || len(AcceptedChanges{string(id)}.Validate()) > 0 {
				t.Errorf("%q %q: %s", kind, stake, id)
			}
			seen[id] = true
		}
	}
}
