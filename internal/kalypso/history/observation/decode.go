package observation

import (
	"compress/zlib"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// Errors of texts.
var (
	// ErrText means that a text is not an observation that this version of the provider can read.
	ErrText = errors.New("the observation can't be read; it must come from kalypso_deployment_state as it is")

	errColumn = errors.New("a column has another length than the list of clusters")
	errIndex  = errors.New("a number is out of range")
	errSize   = fmt.Errorf("it has more than %d instances", maxInstances)
)

// Parse returns the observation of a text that [Observation.Encode] returned. The error wraps [ErrText].
func Parse(text string) (*Observation, error) {
	var d document
	z, err := zlib.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err == nil {
		err = jsonv2.UnmarshalRead(io.LimitReader(z, maxJSON), &d, jsonv2.WithUnmarshalers(escaped))
	}
	o := d.Observation
	o.ObservedAt, o.VerdictSince = Time(d.ObservedAt), Time(d.VerdictSince)
	if err == nil {
		o.Groups, err = d.decode()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrText, err)
	}
	return &o, nil
}

// escaped escapes control characters in all texts. PostgreSQL cannot store NUL characters, which JSON can contain.
var escaped = jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, text *string) error {
	if d.PeekKind() != jsontext.KindString {
		return errors.ErrUnsupported
	}
	token, err := d.ReadToken()
	*text = printable.Line(token.String())
	return err
})

// decode returns the groups of a document.
func (d *document) decode() ([]Group, error) {
	if d.Format != format {
		return nil, fmt.Errorf("its format is %d, and this version of the provider reads format %d", d.Format, format)
	}
	var groups []Group
	for _, g := range d.Groups {
		if g.Version < 0 || g.Version >= len(d.Versions) {
			return nil, errIndex
		}
		groups = append(groups, Group{Place{g.ClusterType, g.Target}, Condition{d.Versions[g.Version], g.State}, nil})
	}
	left := maxInstances
	for _, r := range d.Rows {
		left -= len(r.Groups)
		if left < 0 {
			return nil, errSize
		}
		if len(r.Since) != len(r.Groups) || len(r.Messages) != len(r.Groups) {
			return nil, errColumn
		}
		for i, of := range r.Groups {
			message := r.Messages[i]
			if of < 0 || of >= len(groups) || message < 0 || message > len(d.Messages) {
				return nil, errIndex
			}
			m := Member{Cluster: r.Cluster, Since: r.Since[i]}
			if message > 0 {
				m.Message = d.Messages[message-1]
			}
			groups[of].Members = append(groups[of].Members, m)
		}
	}
	return groups, nil
}
