package configure

import "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"

// Contribution is what one config gives for a value.
type Contribution struct {
	Config *fleet.Config
	Key    string // in the config's data; of an azure-app-config the whole path
	Value  any    // as the config has it, before anything merges
}

// Provenance is where a value comes from.
type Provenance struct {
	Value any // what all that was given merged to
	// Contributions are the contributions of which the value is made, in the order in which they merge: of text one, of maps and
	// lists each that merged onto the one before it.
	Contributions []Contribution
	// Overridden are the earlier ones that gave way to the first of Given, in their order.
	Overridden []Contribution
}

// Provenance tells of each key of the values, which are known, where its value comes from.
func (v *Values) Provenance() map[string]*Provenance {
	all := map[string]*Provenance{}
	for _, s := range v.sources {
		for key, value := range s.values() {
			c := Contribution{s.config, key, value}
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

// mergesOnto reports whether later merges onto earlier, rather than to replace it.
func mergesOnto(earlier, later any) bool {
	switch later.(type) {
	case map[string]any:
		_, ok := earlier.(map[string]any)
		return ok
	case []any:
		_, ok := earlier.([]any)
		return ok
	}
	return false
}
