package delivery

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strconv"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
)

// Inputs are the inputs of a rendered tree, as far as descriptions compare them.
type Inputs struct {
	Origins []string                `json:"origins,omitempty"` // as in the record
	Sources origin.Sources          `json:"sources,omitempty"` // likewise
	Configs map[string]configInputs `json:"configs"`           // by name; null if they are not known
	Secrets map[string]configInputs `json:"secrets,omitempty"` // likewise references to secrets, known if Configs are
}

// configInputs is a config, or references to secrets. It contains no values, except those that descriptions may show.
type configInputs struct {
	Labels string              `json:"labels,omitempty"` // a fingerprint; empty if there are none
	Keys   map[string]keyInput `json:"keys,omitempty"`
}

// keyInput is the value of a key.
type keyInput struct {
	Value string  `json:"h"`           // a fingerprint
	Shown *string `json:"v,omitempty"` // the value as descriptions show it; nil if they don't
}

// inputs returns the inputs of the rendered tree.
func (a *Arguments) inputs() *Inputs {
	in := &Inputs{Origins: a.Origins, Sources: a.Sources, Configs: make(map[string]configInputs, len(a.Fleet.Configs))}
	for _, config := range a.Fleet.Configs {
		in.Configs[config.Name] = objectInputs(&config.Meta, config.Data, a.Review.Detail, shownValue)
	}
	if len(a.Fleet.Secrets) > 0 {
		in.Secrets = make(map[string]configInputs, len(a.Fleet.Secrets))
	}
	for _, secret := range a.Fleet.Secrets {
		texts := make(map[string]string, len(secret.Data))
		for key, reference := range secret.Data {
			texts[key] = reference.String()
		}
		in.Secrets[secret.Name] = objectInputs(&secret.Meta, texts, a.Review.Detail, shownReference)
	}
	return in
}

// objectInputs returns the labels and the data of an object. shown returns what descriptions show of a value.
func objectInputs(
	m *fleet.Meta, data map[string]string, detail Detail, shown func(key, value string) string,
) configInputs {
	c := configInputs{Keys: make(map[string]keyInput, len(data))}
	if len(m.Labels) > 0 {
		labels, err := json.Marshal(m.Labels)
		if err != nil {
			panic(err) // strings always marshal
		}
		c.Labels = fingerprint(m.Name, "", string(labels))
	}
	for name, value := range data {
		key := keyInput{Value: fingerprint(m.Name, name, value)}
		if detail == Values {
			key.Shown = new(shown(name, value))
		}
		c.Keys[name] = key
	}
	return c
}

// InputsAfter returns the inputs of the tree of this apply. During a rollout, they are the inputs before it, so that
// each wave is described as a part of the same change.
func (p *PlannedChange) InputsAfter() *Inputs {
	if !p.Tree.complete {
		return p.Before.Inputs
	}
	return p.Tree.inputs()
}

// WithInputs returns s with the current inputs of the tree that was already delivered or proposed. It replaces inputs
// that are not known, as after an import, and values that delivery.describe shows or hides from now on. It keeps
// inputs that differ from the delivered ones.
func (s *State) WithInputs(a *Arguments) *State {
	if s == nil || a.frozen() {
		return s
	}
	now := *s
	if s.Proposal != nil { // which contains the tree
		p := *s.Proposal
		p.Head = p.Head.WithInputs(a)
		now.Proposal = &p
		return &now
	}
	if s.Rollout.UnderWay() { // see inputsAfter
		return s
	}
	is := a.inputs()
	switch was := s.Inputs; {
	case was == nil:
		now.Inputs = is
	case was.Configs == nil || was.sameData(is):
		now.Inputs = &Inputs{Origins: was.Origins, Sources: was.Sources, Configs: is.Configs, Secrets: is.Secrets}
	}
	return &now
}

func (in *Inputs) sameData(other *Inputs) bool {
	return maps.EqualFunc(in.Configs, other.Configs, configInputs.same) &&
		maps.EqualFunc(in.Secrets, other.Secrets, configInputs.same)
}

func (c configInputs) same(other configInputs) bool {
	sameValue := func(a, b keyInput) bool { return a.Value == b.Value }
	return c.Labels == other.Labels && maps.EqualFunc(c.Keys, other.Keys, sameValue)
}

func shownReference(_, text string) string { return describe.Truncate(text) }

// InputsOf returns the inputs that a record names.
func InputsOf(r *record.Record) *Inputs { return &Inputs{Origins: r.Origins, Sources: r.Sources} }

// origins returns the files that the tree's objects were read from, with their commits.
func (in *Inputs) origins() []origin.Origin { return in.Sources.Resolve(in.Origins) }

// fingerprintSize is the size of a fingerprint in bytes.
const fingerprintSize = 6

// fingerprint returns the start of a hash: enough to detect that a value changed. It hashes the object's name and the
// key too, so that equal values have different fingerprints.
func fingerprint(object, key, value string) string {
	h := sha256.New()
	for _, text := range []string{object, key, value} {
		h.Write([]byte(strconv.Itoa(len(text)) + ":" + text))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:fingerprintSize])
}
