package delivery

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/secretscan"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/sets"
)

// Inputs returns the inputs of the rendered tree.
func (a *Arguments) Inputs() *Inputs {
	in := &Inputs{Origins: a.Origins, Sources: a.Sources, Configs: make(map[string]ConfigInputs,
		len(a.Fleet.Configs))}
	for _, config := range a.Fleet.Configs {
		in.Configs[config.Name] = objectInputs(&config.Meta, config.Data, a.Review.Detail, shownValue)
	}
	in.Workspaces, _ = a.Workspaces()
	if len(a.Fleet.Secrets) > 0 {
		in.Secrets = make(map[string]ConfigInputs, len(a.Fleet.Secrets))
	}
	for _, secret := range a.Fleet.Secrets {
		texts := sets.MapValues(secret.Data, fleet.SecretReference.String)
		in.Secrets[secret.Name] = objectInputs(&secret.Meta, texts, a.Review.Detail, shownReference)
	}
	in.Objects = otherObjects(a.Fleet)
	if a.Review.Detail == DetailLines {
		in.setFleet(HideSecrets(a.Fleet, func(_ *fleet.Config, _ string) string { return HiddenText }))
	}
	return in
}

// kindNames are the names of the kinds in texts.
var kindNames = map[fleet.Kind]string{
	fleet.KindClusterType: "cluster type", fleet.KindTemplate: "template", fleet.KindConfigSchema: "schema",
	fleet.KindSchedulingPolicy: "policy", fleet.KindWorkload: "workload", fleet.KindWorkloadRegistration: "registration",
}

// otherObjects returns the fingerprints of the objects that are no configs or references to secrets.
func otherObjects(f *fleet.Fleet) map[string]string {
	found := map[string]string{}
	for _, o := range f.Objects() {
		kind, name := kindNames[o.Kind()], o.Metadata().Name
		if kind == "" {
			continue
		}
		if w, ok := o.(*fleet.Workload); ok { // teams change targets of other environments, too
			here := *w
			here.Targets = slices.DeleteFunc(slices.Clone(w.Targets), func(t fleet.Target) bool {
				return t.Environment != f.Environment
			})
			o = &here
		}
		data, err := json.Marshal(o)
		if err != nil {
			panic(err) // texts and numbers always marshal
		}
		found[kind+" "+name] = fingerprint(name, kind, string(data))
	}
	return found
}

// objectInputs returns the labels and the data of an object. shown returns what descriptions show of a value.
func objectInputs(
	m *fleet.Meta, data map[string]string, detail Detail, shown func(key, value string) string,
) ConfigInputs {
	c := ConfigInputs{Keys: make(map[string]KeyInput, len(data))}
	if len(m.Labels) > 0 {
		labels, err := json.Marshal(m.Labels)
		if err != nil {
			panic(err) // strings always marshal
		}
		c.Labels = fingerprint(m.Name, "", string(labels))
	}
	for name, value := range data {
		key := KeyInput{Value: fingerprint(m.Name, name, value)}
		if detail == DetailValues {
			key.Shown = new(shown(name, value))
		}
		c.Keys[name] = key
	}
	return c
}

// WithInputs returns the state of the tree that was already delivered or proposed, with the inputs of the arguments:
// see [State.WithInputs]. While the promotion stops everything, nothing changes.
func (a *Arguments) WithInputs(s *State) *State {
	if s == nil || a.frozen() {
		return s
	}
	return s.WithInputs(a.Inputs)
}

func shownReference(_, text string) string { return Truncate(text) }

// HiddenText replaces a secret in our texts.
const HiddenText = "(secret)"

// shownValue returns what descriptions show of a config's value.
func shownValue(key, value string) string {
	if secretscan.Find(key, value) != "" {
		return HiddenText
	}
	return Truncate(value)
}

// maxValue limits the characters of a value that are shown.
const maxValue = 80

// Truncate shortens a value to the part that is shown. A truncated value stays unchanged.
func Truncate(s string) string {
	if runes := []rune(strings.TrimSuffix(s, "…")); len(runes) > maxValue {
		return string(runes[:maxValue]) + "…"
	}
	return s
}
