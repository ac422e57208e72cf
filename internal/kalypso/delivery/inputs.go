package delivery

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"strconv"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
)

// inputs are what a tree was made of, as far as the description of a later change compares it.
type inputs struct {
	Origins []string                `json:"origins,omitempty"` // repo@commit:path[#name]
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

// inputs are those of the order's tree.
func (o *Order) inputs() inputs {
	in := inputs{Origins: o.Origins, Configs: make(map[string]configInputs, len(o.Configs))}
	for _, config := range o.Configs {
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
			if o.Review.Values {
				key.Shown = new(describe.Clip(value))
			}
			c.Keys[name] = key
		}
		in.Configs[config.Name] = c
	}
	return in
}

// WithInputs is s with what a tree that is delivered or proposed already is made of by now, where that tells no other story: what could
// not be known before, after an import, and values that may be shown from now on, or no more.
func (s *State) WithInputs(o *Order) *State {
	now := *s
	if s.Proposal != nil { // it is what has the tree
		p := *s.Proposal
		p.Head = p.Head.WithInputs(o)
		now.Proposal = &p
		return &now
	}
	was, known := s.Inputs.unpack()
	is := o.inputs()
	switch {
	case !known:
		was = is
	case was.Configs == nil || maps.EqualFunc(was.Configs, is.Configs, configInputs.same):
		was.Configs = is.Configs
	}
	now.Inputs = was.pack()
	return &now
}

func (c configInputs) same(other configInputs) bool {
	return c.Labels == other.Labels && maps.EqualFunc(c.Keys, other.Keys, func(a, b keyInput) bool { return a.Value == b.Value })
}

// inputsOf are what a record says of the tree that it was written with.
func inputsOf(r *Record) inputs { return inputs{Origins: r.Origins} }

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

// packedInputs are compressed inputs: they lie in private state, which every plan reads, and are unpacked where something
// changes alone.
type packedInputs []byte

func (in inputs) pack() packedInputs {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := errors.Join(json.NewEncoder(z).Encode(in), z.Close()); err != nil {
		panic(err) // strings always marshal, and memory takes them
	}
	return b.Bytes()
}

// unpack returns false where there is nothing, or nothing that this version reads.
func (p packedInputs) unpack() (in inputs, ok bool) {
	z, err := gzip.NewReader(bytes.NewReader(p))
	if err != nil || json.NewDecoder(z).Decode(&in) != nil {
		return inputs{}, false
	}
	return in, true
}
