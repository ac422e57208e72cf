package configure

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/schedule"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// noValues contains no values, for assignments without secrets.
var noValues = &Values{Shared: true}

// The fields of a reference.
const (
	storeField    = "store"
	propertyField = "property"
)

// newSecretSource returns the references of a secret as values.
func newSecretSource(secret *fleet.Secret) *source {
	s := &source{object: secret, values: make(map[string]any, len(secret.Data))}
	for k, reference := range secret.Data {
		if unknown.Is(k) || reference.HasUnknown() {
			s.markUnknown(k)
			continue
		}
		fields := map[string]any{}
		for name, text := range reference.Fields() {
			fields[name] = text
		}
		s.values[k] = fields
	}
	return s
}

// conflict is a reference that can't be used: either a config has the same key, or the reference would mix two stores.
type conflict struct {
	secret *fleet.Secret
	key    string
	field  string // the field at fault; empty: the whole reference
	detail string
}

// conflictsOf returns the conflicts between an assignment's references, and between its references and its values. It
// skips unknown references and values.
func conflictsOf(secrets, values *Values) (all []conflict) {
	givers := map[string]*source{} // the last secret with a property, by key
	for _, s := range secrets.sources {
		secret, _ := s.object.(*fleet.Secret)
		if s.optional {
			continue
		}
		for _, k := range slices.Sorted(maps.Keys(s.values)) {
			if c, ok := keyConflict(secret, k, values); ok {
				all = append(all, c)
			}
			reference, _ := s.values[k].(map[string]any)
			if _, given := reference[propertyField]; given {
				givers[k] = s
				continue
			}
			giver := givers[k]
			if giver == nil {
				continue
			}
			earlier, _ := giver.values[k].(map[string]any)
			if earlier[storeField] == reference[storeField] {
				continue
			}
			all = append(all, conflict{secret, k, propertyField, fmt.Sprintf("The reference %q names the store %q and no "+
				"property, and would merge with a property of the store %q from PlatformSecret %q. Set a property here "+
				"too, or let the two objects apply to different assignments.",
				k, reference[storeField], earlier[storeField], giver.object.Metadata().Name)})
		}
	}
	return all
}

// keyConflict returns the conflict of a reference with the first config that has the same key.
func keyConflict(secret *fleet.Secret, key string, values *Values) (conflict, bool) {
	for _, s := range values.sources {
		if _, ok := s.values[key]; !ok || s.optional {
			continue
		}
		m := s.object.Metadata()
		from := ""
		if origin := m.Origin.String(); origin != "" {
			from = " from " + origin
		}
		return conflict{secret, key, "",
			fmt.Sprintf("The key %q is a secret here and a value in the config %q%s. Remove one of them, or rename it.", key,
				m.Name, from)}, true
	}
	return conflict{}, false
}

// conflicts contains the assignments of each conflict, as cluster type / deployment target.
type conflicts map[conflict][]string

func (c conflicts) add(found []conflict, a *schedule.Assignment) {
	for _, one := range found {
		c[one] = append(c[one], a.ClusterType.Name+" / "+a.Target.Name)
	}
}

func (c conflicts) problems() (all problem.Problems) {
	for one, assignments := range c {
		slices.Sort(assignments)
		p := fleet.ProblemOf(one.secret, problem.Problem{
			Path: []problem.Step{problem.Attr("data"), problem.Key(one.key)},
			Summary: cmp.Or(map[string]string{propertyField: "Secret references two stores"}[one.field],
				"Key set by a secret and a config"),
			Detail: fmt.Sprintf("%s\n\nAffected assignments (%d), as cluster type / deployment target:\n%s",
				one.detail, len(assignments), problem.IndentedList(assignments, problem.MaxListed)),
		})
		if one.field != "" {
			p.Path = append(p.Path, problem.Attr(one.field))
		}
		all = append(all, p)
	}
	return all
}
