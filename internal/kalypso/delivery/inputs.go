package delivery

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strconv"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/origin"
)

// inputs is what a tree was rendered from, as far as descriptions compare it.
type inputs struct {
	Origins []string                `json:"origins,omitempty"` // as in the record
	Sources origin.Sources          `json:"sources,omitempty"` // likewise
	Configs map[string]configInputs `json:"configs"`           // by name; null if they are not known
}

// configInputs is a config. It contains no values, except those that descriptions may show.
type configInputs struct {
	Labels string              `json:"labels,omitempty"` // a fingerprint; empty if there are none
	Keys   map[string]keyInput `json:"keys,omitempty"`
}

// keyInput is the value of a key.
type keyInput struct {
	Value string  `json:"h"`           // a fingerprint
	Shown *string `json:"v,omitempty"` // the value as descriptions show it; nil if they don't
}

// inputs returns what the tree is rendered from.
func (d *Desired) inputs() *inputs {
	in := &inputs{Origins: d.Origins, Sources: d.Sources, Configs: make(map[string]configInputs, len(d.Fleet.Configs))}
	for _, config := range d.Fleet.Configs {
		c := configInputs{Keys: make(map[string]keyInput, len(config.Data))}
		if len(config.Labels) > 0 {
			labels, err := json.Marshal(config.Labels)
			if err != nil {
				panic(err) // strings always marshal
			}
			c.Labels = fingerprint(config, "", string(labels))
		}
		for name, value := range config.Data {
			key := keyInput{Value: fingerprint(config, name, value)}
			if d.Review.Detail == Values {
				key.Shown = new(shownValue(name, value))
			}
			c.Keys[name] = key
		}
		in.Configs[config.Name] = c
	}
	return in
}

// inputsAfter returns the inputs of the tree of this apply. During a rollout, they are the inputs before it, so that
// each wave is described as a part of the same change.
func (d *Desired) inputsAfter(before *State) *inputs {
	if !d.Complete() {
		return before.Inputs
	}
	return d.inputs()
}

// WithInputs returns s with the current inputs of the tree that was already delivered or proposed. It replaces inputs
// that are not known, as after an import, and values that delivery.describe shows or hides from now on. It keeps
// inputs that differ from the delivered ones.
func (s *State) WithInputs(d *Desired) *State {
	if s == nil {
		return nil
	}
	now := *s
	if s.Proposal != nil { // which holds the tree
		p := *s.Proposal
		p.Head = p.Head.WithInputs(d)
		now.Proposal = &p
		return &now
	}
	if s.Rollout.UnderWay() { // see inputsAfter
		return s
	}
	is := d.inputs()
	switch was := s.Inputs; {
	case was == nil:
		now.Inputs = is
	case was.Configs == nil || maps.EqualFunc(was.Configs, is.Configs, configInputs.same):
		now.Inputs = &inputs{Origins: was.Origins, Sources: was.Sources, Configs: is.Configs}
	}
	return &now
}

func (c configInputs) same(other configInputs) bool {
	sameValue := func(a, b keyInput) bool { return a.Value == b.Value }
	return c.Labels == other.Labels && maps.EqualFunc(c.Keys, other.Keys, sameValue)
}

// inputsOf returns the inputs that a record names.
func inputsOf(r *Record) *inputs { return &inputs{Origins: r.Origins, Sources: r.Sources} }

// origins returns the files that the tree's objects were read from, with their commits.
func (in *inputs) origins() []origin.Origin { return in.Sources.Resolve(in.Origins) }

// fingerprintSize is the size of a fingerprint in bytes.
const fingerprintSize = 6

// fingerprint returns the start of a hash: enough to detect that a value changed. It hashes the config and the key
// too, so that equal values have different fingerprints.
func fingerprint(config *fleet.Config, key, value string) string {
	h := sha256.New()
	for _, text := range []string{config.Name, key, value} {
		h.Write([]byte(strconv.Itoa(len(text)) + ":" + text))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:fingerprintSize])
}
