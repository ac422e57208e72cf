package delivery

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strconv"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/origin"
)

// Inputs are the inputs of a rendered tree, as far as descriptions compare them.
type Inputs struct {
	Origins []string                `json:"origins,omitempty"` // as in the record
	Sources origin.Sources          `json:"sources,omitempty"` // likewise
	Configs map[string]ConfigInputs `json:"configs"`           // by name; null if they are not known
	Secrets map[string]ConfigInputs `json:"secrets,omitempty"` // likewise references to secrets, known if Configs are
	// Objects has the fingerprints of the other objects, by kind and name, such as "template flux"; null if they are not
	// known.
	Objects map[string]string `json:"objects,omitempty"`
	// StoredFleet is the fleet without its secrets, if descriptions show lines: see [Inputs.Fleet].
	StoredFleet json.RawMessage `json:"fleet,omitempty"`
	// Workspaces has the workspaces of deployment targets, as far as delivery.owners names them: later, a target can be
	// gone from the fleet.
	Workspaces map[string]string `json:"workspaces,omitempty"`
}

// ConfigInputs is a config, or references to secrets. It contains no values, except those that descriptions may show.
type ConfigInputs struct {
	Labels string              `json:"labels,omitempty"` // a fingerprint; empty if there are none
	Keys   map[string]KeyInput `json:"keys,omitempty"`
}

// KeyInput is the value of a key.
type KeyInput struct {
	Value string  `json:"h"`           // a fingerprint
	Shown *string `json:"v,omitempty"` // the value as descriptions show it; nil if they don't
}

// Workspace returns the workspace of a deployment target, or "" if it is not known.
func (in *Inputs) Workspace(target string) string {
	if in == nil {
		return ""
	}
	return in.Workspaces[target]
}

func (c ConfigInputs) same(other ConfigInputs) bool {
	sameValue := func(a, b KeyInput) bool { return a.Value == b.Value }
	return c.Labels == other.Labels && maps.EqualFunc(c.Keys, other.Keys, sameValue)
}

// inputsOf returns the inputs that a record names.
func inputsOf(r *record.Record) *Inputs { return &Inputs{Origins: r.Origins, Sources: r.Sources} }

// AllOrigins returns the files that the tree's objects were read from, with their commits.
func (in *Inputs) AllOrigins() []origin.Origin { return in.Sources.Resolve(in.Origins) }

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

// WithInputs returns s with the current inputs of the tree that was already delivered or proposed. It replaces inputs
// that are not known, as after an import, and values that delivery.describe shows or hides from now on. It keeps
// inputs that differ from the delivered ones.
func (s *State) WithInputs(current func() *Inputs) *State {
	now := *s
	if s.Proposal != nil { // which contains the tree
		p := *s.Proposal
		p.Head = p.Head.WithInputs(current)
		now.Proposal = &p
		return &now
	}
	if s.Rollout.UnderWay() { // each wave is described as a part of the same change
		return s
	}
	is := current()
	switch was := s.Inputs; {
	case was == nil:
		now.Inputs = is
	case was.Configs == nil || maps.EqualFunc(was.Configs, is.Configs, ConfigInputs.same) &&
		maps.EqualFunc(was.Secrets, is.Secrets, ConfigInputs.same):
		now.Inputs = &Inputs{Origins: was.Origins, Sources: was.Sources, Configs: is.Configs, Secrets: is.Secrets,
			Objects: is.Objects, StoredFleet: is.StoredFleet, Workspaces: is.Workspaces}
	}
	return &now
}

// Contains reports whether a config's key has a value.
func (in *Inputs) Contains(config, key, value string) bool {
	if in == nil {
		return false
	}
	was, there := in.Configs[config].Keys[key]
	return there && was.Value == fingerprint(config, key, value)
}

// setFleet sets the fleet that the tree is rendered from. It must not contain secrets.
func (in *Inputs) setFleet(f *fleet.Fleet) {
	data, err := json.Marshal(f)
	if err != nil {
		panic(err) // texts and numbers always marshal
	}
	in.StoredFleet = data
}

// Fleet returns a copy of the fleet that the tree was rendered from, or nil if it is not known.
func (in *Inputs) Fleet() *fleet.Fleet {
	f := &fleet.Fleet{}
	if in == nil || json.Unmarshal(in.StoredFleet, f) != nil {
		return nil
	}
	return f
}
