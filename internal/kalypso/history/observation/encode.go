package observation

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

// MaxText is the length up to which a text contains all times. A longer text leaves out old times, because they cannot
// belong to changes since the last observation.
const MaxText = 2 << 20

// Limits of a text.
const (
	maxMessages  = 64 << 10 // bytes of all different messages; further messages are left out
	maxJSON      = 256 << 20
	maxInstances = 20_000_000
	format       = 2
)

// document is the encoded form of an observation. Times are in milliseconds of Unix time.
type document struct {
	Format       int         `json:"v"`
	Observation  Observation `json:",embed"`
	ObservedAt   int64       `json:"observed_at,omitzero"`
	VerdictSince int64       `json:"verdict_since,omitzero"`
	Versions     []Version   `json:"versions,omitempty"`
	Messages     []string    `json:"messages,omitempty"`
	Groups       []group     `json:"groups,omitempty"`
	Rows         []*row      `json:"rows,omitempty"`
}

type group struct {
	ClusterType string `json:"cluster_type"`
	Target      string `json:"target"`
	Version     int    `json:"version"` // index
	State       string `json:"state,omitempty"`
}

// row contains the instances on a cluster. Most clusters of a cluster type run the same versions and report at the same
// time, so rows compress well.
type row struct {
	Cluster  string  `json:"cluster"`
	Groups   []int   `json:"groups"`   // index of each instance's group
	Since    []int64 `json:"since"`    // of each instance; 0: unknown
	Messages []int   `json:"messages"` // of each instance: its number from 1, or 0 without a message
}

// Encode returns the observation as a text: compressed JSON in base64. The same observation gives the same text in any
// order of its groups and members.
func (o *Observation) Encode() string {
	sorted := *o
	sorted.Groups = slices.Clone(o.Groups)
	for i, g := range sorted.Groups {
		sorted.Groups[i].Version.CommittedAt, sorted.Groups[i].Version.BuiltAt =
			writable(g.Version.CommittedAt), writable(g.Version.BuiltAt)
	}
	sorted.Sort()
	// Leave out older and older times until the text is short enough.
	const day = 24 * time.Hour
	for _, age := range []time.Duration{math.MaxInt64, 30 * day, 7 * day, day, time.Hour} {
		oldest := max(1, Millis(o.ObservedAt.Add(-age)))
		if text := compress(newDocument(&sorted, oldest)); len(text) <= MaxText {
			return text
		}
	}
	return compress(newDocument(&sorted, 1<<62))
}

// writable returns a time in UTC, or zero if JSON can't express it.
func writable(t time.Time) time.Time {
	t = t.UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// Hash returns the SHA-256, in hex, of everything that counts as a change: the location, the verdict, the promoted
// commit, and for each instance its [Version.Identity] and state. Times, messages, commits and the order are not part
// of it.
func (o *Observation) Hash() string {
	content := *o
	content.ObservedAt, content.VerdictSince, content.Head = time.Time{}, time.Time{}, ""
	content.Groups = lists.Map(o.Groups, func(g Group) Group {
		g.Version = g.Version.Identity()
		g.Members = lists.Map(g.Members, func(m Member) Member { return Member{Cluster: m.Cluster} })
		return g
	})
	content.Sort()
	sum := sha256.New()
	encodeJSON(sum, newDocument(&content, 1))
	return hex.EncodeToString(sum.Sum(nil))
}

func encodeJSON(w io.Writer, d document) {
	if err := jsonv2.MarshalEncode(jsontext.NewEncoder(w, jsontext.AllowInvalidUTF8(true)), d); err != nil {
		panic(err) // the document contains texts and numbers, and the writers never fail
	}
}

// compress uses the fastest level: of rows that are alike, the default one makes a fifth more bytes in twice the time.
func compress(d document) string {
	var packed bytes.Buffer                              // it accepts everything
	z, _ := zlib.NewWriterLevel(&packed, zlib.BestSpeed) // the level is valid
	encodeJSON(z, d)
	_ = z.Close()
	return base64.StdEncoding.EncodeToString(packed.Bytes())
}

// newDocument converts a sorted observation. Times before oldest are left out.
func newDocument(o *Observation, oldest int64) document {
	d := document{
		Format: format, Observation: *o, ObservedAt: Millis(o.ObservedAt), VerdictSince: Millis(o.VerdictSince),
	}
	d.Observation.Unanswered = slices.Compact(slices.Sorted(slices.Values(o.Unanswered)))
	rows, versions, messages := map[string]*row{}, map[Version]int{}, map[string]int{}
	room := maxMessages
	for i, g := range o.Groups {
		if _, met := versions[g.Version]; !met {
			versions[g.Version] = len(d.Versions)
			d.Versions = append(d.Versions, g.Version)
		}
		d.Groups = append(d.Groups, group{g.ClusterType, g.Target, versions[g.Version], g.State})
		for _, m := range g.Members {
			if _, met := messages[m.Message]; !met && m.Message != "" && len(m.Message) <= room {
				d.Messages = append(d.Messages, m.Message)
				messages[m.Message] = len(d.Messages)
				room -= len(m.Message)
			}
			r := rows[m.Cluster]
			if r == nil {
				r = &row{Cluster: m.Cluster}
				rows[m.Cluster] = r
			}
			if n := len(r.Groups); n > 0 {
				if o.Groups[r.Groups[n-1]].Place == g.Place {
					continue
				}
			}
			if m.Since < oldest {
				m.Since = 0
			}
			r.Groups, r.Since = append(r.Groups, i), append(r.Since, m.Since)
			r.Messages = append(r.Messages, messages[m.Message])
		}
	}
	d.Rows = lists.Map(slices.Sorted(maps.Keys(rows)), func(cluster string) *row { return rows[cluster] })
	return d
}
