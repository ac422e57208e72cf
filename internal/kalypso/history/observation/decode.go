package observation

import (
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

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
		err = json.NewDecoder(io.LimitReader(z, maxJSON)).Decode(&d)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrText, err)
	case d.Format < 1 || d.Format > format:
		return nil, fmt.Errorf("%w: its format is %d, and this version of the provider reads formats 1 to %d",
			ErrText, d.Format, format)
	}
	escape(reflect.ValueOf(&d).Elem())
	o := &Observation{
		Environment: d.Environment, Repo: d.Repo, Branch: d.Branch, Path: d.Path,
		ObservedAt: Time(d.ObservedAt), Head: d.Head, PromotedCommit: d.PromotedCommit,
		Verdict: d.Verdict, VerdictSince: Time(d.VerdictSince), Unanswered: d.Unanswered,
	}
	if o.Groups, err = d.decode(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrText, err)
	}
	return o, nil
}

// escape escapes control characters in all texts of a value. PostgreSQL cannot store NUL characters, which JSON can
// contain.
func escape(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(printable.Line(v.String()))
	case reflect.Pointer:
		escape(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			escape(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			escape(v.Field(i))
		}
	}
}

// decode returns the groups of a document.
func (d *document) decode() ([]Group, error) {
	if d.Format == 1 {
		if err := d.toRows(); err != nil {
			return nil, err
		}
	}
	var groups []Group
	for _, g := range d.Groups {
		if g.Version < 0 || g.Version >= len(d.Versions) {
			return nil, errIndex
		}
		groups = append(groups, Group{g.ClusterType, g.Target, d.Versions[g.Version], g.State, nil})
	}
	left := maxInstances
	for _, r := range d.Rows {
		if left -= len(r.Groups); left < 0 {
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
