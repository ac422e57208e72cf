package fleet

import (
	"encoding/json"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// HasUnknown reports whether any value of o is [unknown.Text].
func HasUnknown(o Object) bool {
	m := o.Metadata()
	if unknown.Is(m.Name) || unknown.Any(m.Labels) {
		return true
	}
	switch o := o.(type) { // their annotations contain YAML, which escapes the sentinel
	case *ClusterType:
		if o.placementUnknown() {
			return true
		}
	case *SchedulingPolicy:
		if len(o.PlacementUnknown()) > 0 {
			return true
		}
	}
	text, err := json.Marshal(documentOf(o))
	quoted, _ := json.Marshal(unknown.Text)
	return err != nil || strings.Contains(string(text), strings.Trim(string(quoted), `"`))
}
