package fleet

import (
	"encoding/json"
	"strings"
)

// HasUnknown reports whether any value of o is [Unknown].
func HasUnknown(o Object) bool {
	m := o.Metadata()
	if IsUnknown(m.Name) || AnyUnknown(m.Labels) {
		return true
	}
	switch o := o.(type) { // their annotations hold YAML, which escapes the sentinel
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
	quoted, _ := json.Marshal(Unknown)
	return err != nil || strings.Contains(string(text), strings.Trim(string(quoted), `"`))
}

// AnyUnknown reports whether a key or a value of m is [Unknown].
func AnyUnknown(m map[string]string) bool {
	for k, v := range m {
		if IsUnknown(k) || IsUnknown(v) {
			return true
		}
	}
	return false
}
