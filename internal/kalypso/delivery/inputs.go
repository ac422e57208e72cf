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

// inputs are what a tree was made of, as far as the description of a later change compares it.
type inputs struct {
	Origins []string                `json:"origins,omitempty"` // as in the record
	Sources origin.Sources          `json:"sources,omitempty"` // likewise
	Configs map[string]configInputs `json:"configs"`           // by name; null: not known
}

// configInputs are a config. No value of it can be read from them but those that descriptions may show.
type configInputs struct {
	Labels string              `json:"labels,omitempty"` // a fingerprint; empty where there is none
	Keys   map[string]keyInput `json:"keys,omitempty"`
}

// keyInput is the value of a key.
type keyInput struct {
	Value string  `json:"h"`           // a fingerprint
	Shown *string `json:"v,omitempty"` // what descriptions show of it; nil: nothing
}

// inputs returns what the tree is made of.
func (d *Desired) inputs() *inputs {
	in := &inputs{Origins: d.Origins, Sources: d.Sources, Configs: make(map[string]configInputs, len(d.Configs))}
	for _, config := range d.Configs {
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

// inputsAfter returns what the tree of this apply is made of: until it is the fleet's, what the tree before was made of, so that
// each wave is described as the change that it is part of.
func (d *Desired) inputsAfter(before *State) *inputs {
	if !d.Complete() {
		return before.Inputs
	}
	return d.inputs()
}

// WithInputs returns s with what a tree that is delivered or proposed already is made of by now, where that tells no other
// story: what could not be known before, after an import, and values that may be shown from now on, or no more.
func (s *State) WithInputs(d *Desired) *State {
	now := *s
	if s.Proposal != nil { // it is what has the tree
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
	return c.Labels == other.Labels && maps.EqualFunc(c.Keys, other.Keys, func(a, b keyInput) bool { return a.Value == b.Value })
}

// inputsOf are what a record says of the tree that it was written with.
func inputsOf(r *Record) *inputs { return &inputs{Origins: r.Origins, Sources: r.Sources} }

// origins returns where the tree's objects were read, with the commits.
func (in *inputs) origins() []origin.Origin { return in.Sources.Resolve(in.Origins) }

// fingerprintSize is that of a fingerprint, bytes.
const fingerprintSize = 6

// fingerprint is enough of a hash to see that a value changed. It is of where the value stands too, so that equal values do
// not show as such.
func fingerprint(config *fleet.Config, key, value string) string {
	h := sha256.New()
	for _, text := range []string{config.Name, key, value} {
		h.Write([]byte(strconv.Itoa(len(text)) + ":" + text))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:fingerprintSize])
}
