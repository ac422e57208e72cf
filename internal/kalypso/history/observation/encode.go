package observation

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/printable"
)

// MaxText is the length up to which a text contains all times. In a longer one, old times are left out, because they
// cannot belong to changes since the last observation.
const MaxText = 1 << 20

// Limits of a text.
const (
	maxMessages  = 64 << 10 // bytes of all different messages; those beyond it are left out
	maxJSON      = 256 << 20
	maxInstances = 20_000_000
	format       = 1
)

// ErrText means that a text is no observation of this version of the provider.
var ErrText = errors.New("the observation can't be read; it must come from kalypso_deployment_state as it is")

// document is the encoded form of an observation. Times are in milliseconds of Unix time, or in units.
type document struct {
	Format         int       `json:"v"`
	Environment    string    `json:"environment,omitempty"`
	Repo           string    `json:"gitops_repo,omitempty"`
	Branch         string    `json:"branch,omitempty"`
	Path           string    `json:"path,omitempty"`
	ObservedAt     int64     `json:"observed_at,omitempty"`
	Head           string    `json:"head,omitempty"`
	PromotedCommit string    `json:"promoted_commit,omitempty"`
	Verdict        string    `json:"verdict,omitempty"`
	VerdictSince   int64     `json:"verdict_since,omitempty"`
	Unanswered     []string  `json:"unanswered,omitempty"`
	Clusters       []string  `json:"clusters,omitempty"`
	Versions       []Version `json:"versions,omitempty"`
	Messages       []string  `json:"messages,omitempty"`
	Unit           int64     `json:"unit,omitempty"` // milliseconds
	Folders        []folder  `json:"folders,omitempty"`
}

// folder contains the instances of a cluster type.
type folder struct {
	ClusterType string `json:"cluster_type"`
	// Clusters marks those of the document that the cluster type has: lengths of runs without and with, in turn.
	Clusters []int    `json:"clusters"`
	Targets  []target `json:"targets"`
}

// target contains the instances of a deployment target. Its columns have a value for each of the folder's clusters, as
// runs: value, length, value, length …
type target struct {
	Name   string    `json:"target"`
	Groups []variant `json:"groups"`
	Column []int     `json:"column"` // 1 and more: the group; 0: no instance
	// Messages has 1 and more for the message; 0: none.
	Messages []int `json:"messages,omitempty"`
	// Known has 1 where Since has a time.
	Known []int `json:"known,omitempty"`
	// Since has a time for each cluster that is known: the difference to that of the last target of the folder that has
	// one for the cluster, or with From to From.
	Since []int64 `json:"since,omitempty"`
	From  int64   `json:"from,omitempty"`
}

type variant struct {
	Version int    `json:"version"` // index
	State   string `json:"state,omitempty"`
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
	// Times are kept as far back as they fit.
	for _, age := range []time.Duration{0, 30 * 24 * time.Hour, 7 * 24 * time.Hour, 24 * time.Hour, time.Hour} {
		oldest := int64(1)
		if age > 0 {
			oldest = Millis(o.ObservedAt.Add(-age))
		}
		if text := compress(newDocument(&sorted, oldest)); len(text) <= MaxText {
			return text
		}
	}
	return compress(newDocument(&sorted, 1<<62))
}

// writable returns a time in UTC, or zero if JSON can't express it.
func writable(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// Hash returns the SHA-256, in hex, of everything that counts as a change: the location, verdict and promoted commit,
// and of each instance the [Version.Identity] and the state. Times, messages, commits and the order do not count.
func (o *Observation) Hash() string {
	content := Observation{
		Environment: o.Environment, Repo: o.Repo, Branch: o.Branch, Path: o.Path,
		PromotedCommit: o.PromotedCommit, Verdict: o.Verdict, Unanswered: o.Unanswered,
	}
	for _, g := range o.Groups {
		bare := Group{ClusterType: g.ClusterType, Target: g.Target, Version: g.Version.Identity(), State: g.State}
		for _, m := range g.Members {
			bare.Members = append(bare.Members, Member{Cluster: m.Cluster})
		}
		content.Groups = append(content.Groups, bare)
	}
	content.Sort()
	sum := sha256.New()
	encodeJSON(sum, newDocument(&content, 1))
	return hex.EncodeToString(sum.Sum(nil))
}

func encodeJSON(w io.Writer, d document) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(d); err != nil {
		panic(err) // the document contains texts and numbers, and the writers never fail
	}
}

func compress(d document) string {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	encodeJSON(z, d)
	if err := z.Close(); err != nil {
		panic(err) // a buffer accepts everything
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes())
}

// newDocument converts a sorted observation. Times before oldest are left out.
func newDocument(o *Observation, oldest int64) document {
	d := document{
		Format: format, Environment: o.Environment, Repo: o.Repo, Branch: o.Branch, Path: o.Path,
		ObservedAt: Millis(o.ObservedAt), Head: o.Head, PromotedCommit: o.PromotedCommit,
		Verdict: o.Verdict, VerdictSince: Millis(o.VerdictSince),
		Unanswered: slices.Compact(slices.Sorted(slices.Values(o.Unanswered))), Unit: 1000,
	}
	numbers := map[string]int{} // of clusters
	messages := map[string]int{}
	versions := map[Version]int{}
	room := maxMessages
	for _, g := range o.Groups {
		if _, met := versions[g.Version]; !met {
			versions[g.Version] = len(d.Versions)
			d.Versions = append(d.Versions, g.Version)
		}
		for _, m := range g.Members {
			numbers[m.Cluster] = 0
			if m.Since%1000 != 0 {
				d.Unit = 1
			}
			if _, met := messages[m.Message]; !met && m.Message != "" && len(m.Message) <= room {
				d.Messages = append(d.Messages, m.Message)
				messages[m.Message] = len(d.Messages)
				room -= len(m.Message)
			}
		}
	}
	for cluster := range numbers {
		d.Clusters = append(d.Clusters, cluster)
	}
	slices.Sort(d.Clusters)
	for i, cluster := range d.Clusters {
		numbers[cluster] = i
	}
	for from, to := 0, 0; from < len(o.Groups); from = to {
		for to < len(o.Groups) && o.Groups[to].ClusterType == o.Groups[from].ClusterType {
			to++
		}
		e := encoder{clusters: numbers, versions: versions, messages: messages, unit: d.Unit, oldest: oldest}
		d.Folders = append(d.Folders, e.folder(o.Groups[from:to]))
	}
	return d
}

// encoder encodes the groups of one cluster type.
type encoder struct {
	clusters map[string]int // of the document
	versions map[Version]int
	messages map[string]int
	unit     int64
	oldest   int64

	row  map[int]int // of the folder, by the number of a cluster in the document
	last []int64     // time of the last target that has one, by row
}

func (e *encoder) folder(groups []Group) folder {
	f := folder{ClusterType: groups[0].ClusterType}
	has := make([]int, len(e.clusters))
	for _, g := range groups {
		for _, m := range g.Members {
			has[e.clusters[m.Cluster]] = 1
		}
	}
	e.row = map[int]int{}
	for cluster, there := range has {
		if there == 1 {
			e.row[cluster] = len(e.row)
		}
	}
	e.last = make([]int64, len(e.row))
	f.Clusters = lengths(has)
	for from, to := 0, 0; from < len(groups); from = to {
		for to < len(groups) && groups[to].Target == groups[from].Target {
			to++
		}
		f.Targets = append(f.Targets, e.target(groups[from:to]))
	}
	return f
}

func (e *encoder) target(groups []Group) target {
	t := target{Name: groups[0].Target}
	column, messages, known := make([]int, len(e.row)), make([]int, len(e.row)), make([]int, len(e.row))
	times := make([]int64, len(e.row))
	for i, g := range groups {
		t.Groups = append(t.Groups, variant{e.versions[g.Version], g.State})
		for _, m := range g.Members {
			row := e.row[e.clusters[m.Cluster]]
			if column[row] != 0 {
				continue
			}
			column[row], messages[row] = i+1, e.messages[m.Message]
			if m.Since >= e.oldest {
				known[row], times[row] = 1, m.Since/e.unit
			}
		}
	}
	t.Column = runs(column)
	if slices.Max(messages) > 0 {
		t.Messages = runs(messages)
	}
	if slices.Max(known) == 0 {
		return t
	}
	t.Known = runs(known)
	var toLast, toFirst []int64
	first := int64(0)
	for row, at := range times {
		if known[row] == 1 && (first == 0 || at < first) {
			first = at
		}
	}
	for row, at := range times {
		if known[row] == 1 {
			toLast, toFirst = append(toLast, at-e.last[row]), append(toFirst, at-first)
			e.last[row] = at
		}
	}
	if t.Since = toLast; digits(toFirst) < digits(toLast) {
		t.Since, t.From = toFirst, first
	}
	return t
}

// digits returns about how long the numbers are as text.
func digits(numbers []int64) int {
	n := 0
	for _, v := range numbers {
		for ; v != 0; v /= 10 {
			n++
		}
	}
	return n
}

// lengths returns the lengths of the runs of 0 and 1, in turn.
func lengths(values []int) []int {
	all := []int{0}
	for _, v := range values {
		if v != (len(all)-1)%2 {
			all = append(all, 0)
		}
		all[len(all)-1]++
	}
	return all
}

// runs returns the values, each with its number of repetitions.
func runs(values []int) []int {
	var all []int
	for _, v := range values {
		if n := len(all); n == 0 || all[n-2] != v {
			all = append(all, v, 0)
		}
		all[len(all)-1]++
	}
	return all
}

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
	case d.Format != format:
		return nil, fmt.Errorf("%w: its format is %d, and this version of the provider reads format %d",
			ErrText, d.Format, format)
	}
	d.escape()
	o := &Observation{
		Environment: d.Environment, Repo: d.Repo, Branch: d.Branch, Path: d.Path,
		ObservedAt: Time(d.ObservedAt), Head: d.Head, PromotedCommit: d.PromotedCommit,
		Verdict: d.Verdict, VerdictSince: Time(d.VerdictSince), Unanswered: d.Unanswered,
	}
	left := maxInstances
	for _, f := range d.Folders {
		if err := o.decode(&d, f, &left); err != nil {
			return nil, fmt.Errorf("%w: cluster type %q: %w", ErrText, f.ClusterType, err)
		}
	}
	return o, nil
}

// escape escapes control characters in all texts. PostgreSQL stores no NUL, which JSON can contain.
func (d *document) escape() {
	texts := []*string{&d.Environment, &d.Repo, &d.Branch, &d.Path, &d.Head, &d.PromotedCommit, &d.Verdict}
	for _, list := range [][]string{d.Unanswered, d.Clusters, d.Messages} {
		for i := range list {
			texts = append(texts, &list[i])
		}
	}
	for i := range d.Versions {
		v := &d.Versions[i]
		texts = append(texts, &v.Version, &v.Content, &v.Commit, &v.Repo, &v.Path, &v.Workload, &v.Application,
			&v.Workspace, &v.Build)
	}
	for i := range d.Folders {
		texts = append(texts, &d.Folders[i].ClusterType)
		for j := range d.Folders[i].Targets {
			t := &d.Folders[i].Targets[j]
			texts = append(texts, &t.Name)
			for k := range t.Groups {
				texts = append(texts, &t.Groups[k].State)
			}
		}
	}
	for _, text := range texts {
		*text = printable.Line(*text)
	}
}

var (
	errColumn = errors.New("a column does not fit its clusters")
	errIndex  = errors.New("a number is out of range")
	errSize   = fmt.Errorf("it has more than %d instances", maxInstances)
)

// decode adds the groups of a cluster type.
func (o *Observation) decode(d *document, f folder, left *int) error {
	var clusters []string
	at := 0
	for i, n := range f.Clusters {
		if n < 0 || n > len(d.Clusters)-at {
			return errColumn
		}
		if i%2 == 1 {
			clusters = append(clusters, d.Clusters[at:at+n]...)
		}
		at += n
	}
	last := make([]int64, len(clusters))
	for _, t := range f.Targets {
		if *left -= len(clusters); *left < 0 {
			return errSize
		}
		groups, err := t.decode(d, f.ClusterType, clusters, last)
		if err != nil {
			return err
		}
		o.Groups = append(o.Groups, groups...)
	}
	return nil
}

// decode returns the groups of a target. last contains the time of the last target that has one, by cluster.
func (t target) decode(d *document, clusterType string, clusters []string, last []int64) ([]Group, error) {
	n := len(clusters)
	column, ok1 := expand(t.Column, n, len(t.Groups))
	messages, ok2 := expand(t.Messages, n, len(d.Messages))
	known, ok3 := expand(t.Known, n, 1)
	if !ok1 || !ok2 || !ok3 {
		return nil, errColumn
	}
	groups := make([]Group, len(t.Groups))
	sizes := make([]int, len(t.Groups)+1)
	for _, v := range column {
		sizes[v]++
	}
	for i, v := range t.Groups {
		if v.Version < 0 || v.Version >= len(d.Versions) {
			return nil, errIndex
		}
		groups[i] = Group{
			ClusterType: clusterType, Target: t.Name, Version: d.Versions[v.Version], State: v.State,
			Members: make([]Member, 0, sizes[i+1]),
		}
	}
	since := t.Since
	for row, cluster := range clusters {
		m := Member{Cluster: cluster}
		if known[row] == 1 {
			if len(since) == 0 {
				return nil, errColumn
			}
			if t.From == 0 {
				last[row] += since[0]
			} else {
				last[row] = t.From + since[0]
			}
			m.Since, since = last[row]*d.Unit, since[1:]
		}
		if i := messages[row]; i > 0 {
			m.Message = d.Messages[i-1]
		}
		if i := column[row]; i > 0 {
			groups[i-1].Members = append(groups[i-1].Members, m)
		}
	}
	return groups, nil
}

// expand returns n values out of their runs; all 0 without any. ok is false if they are not n values of 0 to most.
func expand(column []int, n, most int) (values []int, ok bool) {
	values = make([]int, 0, n)
	if len(column) == 0 {
		return values[:n], true
	}
	for i := 0; i+1 < len(column); i += 2 {
		v, length := column[i], column[i+1]
		if v < 0 || v > most || length < 0 || length > n-len(values) {
			return nil, false
		}
		for range length {
			values = append(values, v)
		}
	}
	return values, len(values) == n
}
