package fleet

import (
	"encoding/json"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// HasUnknown reports whether any value of o is [unknown.Text].
func HasUnknown(o Object) bool {
	if p, ok := o.(*SchedulingPolicy); ok && len(p.PlacementUnknown()) > 0 { // of numbers, too
		return true
	}
	text, err := json.Marshal(o)
	quoted, _ := json.Marshal(unknown.Text)
	return err != nil || strings.Contains(string(text), strings.Trim(string(quoted), `"`))
}
