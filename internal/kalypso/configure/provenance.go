package configure

import (
	"reflect"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// Contribution is a value that a config or a secret contributes to a key.
type Contribution struct {
	Object fleet.Object
	Key    string // a key of the object's data; for an azure-app-config the whole path
	Value  any    // as in the object, before merging
}

// Provenance is the origin of a value.
type Provenance struct {
	Value any // the merged value
	// Contributions lists the values that were merged into Value, in order. For a string, it has exactly one element.
	Contributions []Contribution
	// Overridden lists the earlier values that the first contribution replaced, in order.
	Overridden []Contribution
}

// Provenance returns the origin of the value of each key. All values must be known.
func (v *Values) Provenance() map[string]*Provenance {
	all := map[string]*Provenance{}
	for _, s := range v.sources {
		for key, value := range s.values {
			c := Contribution{s.object, key, value}
			if s.path != "" {
				c.Key = s.path
			}
			p, ok := all[key]
			if !ok {
				all[key] = &Provenance{Value: value, Contributions: []Contribution{c}}
				continue
			}
			if !mergesOnto(p.Value, value) {
				p.Overridden, p.Contributions = append(p.Overridden, p.Contributions...), nil
			}
			p.Value, p.Contributions = merge(p.Value, value), append(p.Contributions, c)
		}
	}
	return all
}

// mergesOnto reports whether later merges onto earlier instead of replacing it: both are maps, or both are lists.
func mergesOnto(earlier, later any) bool {
	_, isText := later.(string)
	return !isText && reflect.TypeOf(earlier) == reflect.TypeOf(later)
}
