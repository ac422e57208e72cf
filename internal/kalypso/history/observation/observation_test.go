package observation_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 123e6, time.UTC)

// TestRoundTrip encodes random observations, each in two orders of its groups and members. The two texts must be equal,
// and decode to the observation.
func TestRoundTrip(t *testing.T) {
	for seed := range seeds.Of(t, 200, 20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		o := random(r)
		want := *o
		want.Groups = append([]observation.Group(nil), o.Groups...)
		want.Sort()
		text := o.Encode()
		r.Shuffle(len(o.Groups), func(i, j int) { o.Groups[i], o.Groups[j] = o.Groups[j], o.Groups[i] })
		for i, g := range o.Groups {
			g.Members = slices.Clone(g.Members)
			o.Groups[i] = g
			r.Shuffle(len(g.Members), func(i, j int) { g.Members[i], g.Members[j] = g.Members[j], g.Members[i] })
		}
		if o.Encode() != text {
			t.Fatal("the order of the groups or of their members changes the text")
		}
		got, err := observation.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Fatal(diff)
		}
		if got.Hash() != o.Hash() {
			t.Fatal("the hash differs after the round trip")
		}
	}
}

func random(r *rand.Rand) *observation.Observation {
	o := &observation.Observation{
		Environment: "prod", Repo: "https://git.example/gitops", Branch: "prod", Path: "a/b", ObservedAt: now,
		Head: strings.Repeat("a", 40), PromotedCommit: strings.Repeat("b", 40), Verdict: "pending",
	}
	if r.IntN(2) == 0 {
		o.VerdictSince, o.Unanswered = now.Add(-time.Hour), []string{"Azure Resource Graph", "kubernetes"}
	}
	texts := []string{"", "1.2.3", "v2", "Größe <&>"}
	step := []int64{1000, 1}[r.IntN(2)]
	for _, clusterType := range []string{"large", "small"} {
		for target := range r.IntN(5) {
			free := r.Perm(r.IntN(20) + 1)
			for len(free) > 0 {
				n := r.IntN(len(free)) + 1
				g := observation.Group{
					Place: observation.Place{ClusterType: clusterType, Target: fmt.Sprintf("target-%d", target)},
					Condition: observation.Condition{State: []string{"current", "failed"}[r.IntN(2)], Version: observation.Version{
						Version: texts[r.IntN(4)], Content: texts[r.IntN(4)], Commit: texts[r.IntN(4)], Repo: texts[r.IntN(4)],
						Path: texts[r.IntN(4)], Workload: texts[r.IntN(4)], Build: texts[r.IntN(4)],
					}},
				}
				if r.IntN(2) == 0 {
					g.Version.CommittedAt, g.Version.BuiltAt = now.Truncate(time.Second), now.Add(-time.Minute)
				}
				for _, cluster := range free[:n] {
					m := observation.Member{Cluster: fmt.Sprintf("cluster-%02d", cluster)}
					if r.IntN(3) > 0 {
						m.Since = now.Truncate(time.Second).UnixMilli() - r.Int64N(1e6)*step
					}
					if r.IntN(3) == 0 {
						m.Message = texts[r.IntN(4)]
					}
					g.Members = append(g.Members, m)
				}
				free = free[n:]
				o.Groups = append(o.Groups, g)
			}
		}
	}
	return o
}

// TestHash: the hash changes if what the clusters run changes, but not if only times, messages or commits do.
func TestHash(t *testing.T) {
	commit := strings.Repeat("c", 40)
	for name, test := range map[string]struct {
		change func(o *observation.Observation)
		want   bool // the hash changes
	}{
		"no change":    {func(*observation.Observation) {}, false},
		"time":         {func(o *observation.Observation) { o.ObservedAt = now.Add(time.Hour) }, false},
		"head":         {func(o *observation.Observation) { o.Head = "d" }, false},
		"verdictSince": {func(o *observation.Observation) { o.VerdictSince = now }, false},
		"since":        {func(o *observation.Observation) { o.Groups[0].Members[0].Since++ }, false},
		"message":      {func(o *observation.Observation) { o.Groups[0].Members[0].Message = "x" }, false},
		"commit":       {func(o *observation.Observation) { o.Groups[0].Version.Commit = "d" }, false},
		"repo":         {func(o *observation.Observation) { o.Groups[0].Version.Repo = "d" }, false},
		"two commits of one content": {func(o *observation.Observation) {
			g := o.Groups[0]
			g.Version.Commit, g.Members = "d", g.Members[:1]
			o.Groups[0].Members = o.Groups[0].Members[1:]
			o.Groups = append(o.Groups, g)
		}, false},
		"commit as the version": {func(o *observation.Observation) {
			o.Groups[1].Version.Commit, o.Groups[1].Version.Version = "d", "d"
		}, false},
		"version":         {func(o *observation.Observation) { o.Groups[0].Version.Version = "2" }, true},
		"content":         {func(o *observation.Observation) { o.Groups[0].Version.Content = "2" }, true},
		"state":           {func(o *observation.Observation) { o.Groups[0].State = "failed" }, true},
		"verdict":         {func(o *observation.Observation) { o.Verdict = "failure" }, true},
		"promoted commit": {func(o *observation.Observation) { o.PromotedCommit = "e" }, true},
		"unanswered":      {func(o *observation.Observation) { o.Unanswered = []string{"kubernetes"} }, true},
		"path":            {func(o *observation.Observation) { o.Path = "b" }, true},
		"cluster":         {func(o *observation.Observation) { o.Groups[0].Members[0].Cluster = "z" }, true},
		"removed cluster": {func(o *observation.Observation) { o.Groups[0].Members = o.Groups[0].Members[1:] }, true},
		"target":          {func(o *observation.Observation) { o.Groups[0].Target = "z" }, true},
		"clusterType":     {func(o *observation.Observation) { o.Groups[0].ClusterType = "z" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			state := func() *observation.Observation {
				members := func() []observation.Member { return []observation.Member{{Cluster: "a"}, {Cluster: "b", Since: 7}} }
				return &observation.Observation{ObservedAt: now, Path: "a", Verdict: "success", Groups: []observation.Group{
					{observation.Place{ClusterType: "large", Target: "app"}, observation.Condition{State: "current",
						Version: observation.Version{Version: "1", Content: "1", Commit: commit}}, members()},
					{observation.Place{ClusterType: "large", Target: "web"}, observation.Condition{State: "current",
						Version: observation.Version{Version: commit[:12], Content: "1", Commit: commit}}, members()},
				}}
			}
			changed := state()
			test.change(changed)
			if got := changed.Hash() != state().Hash(); got != test.want {
				t.Errorf("the hash changes: %t, want %t", got, test.want)
			}
		})
	}
}

// TestOneGroup: if an instance is in two groups, only one of them remains.
func TestOneGroup(t *testing.T) {
	member := []observation.Member{{Cluster: "a"}}
	o := &observation.Observation{Groups: []observation.Group{
		{observation.Place{ClusterType: "large", Target: "app"}, observation.Condition{State: "failed"}, member},
		{observation.Place{ClusterType: "large", Target: "app"}, observation.Condition{State: "current"}, member},
	}}
	got, err := observation.Parse(o.Encode())
	if err != nil {
		t.Fatal(err)
	}
	got.Sort()
	if len(got.Groups) != 1 || got.Groups[0].State != "current" {
		t.Errorf("got %+v", got.Groups)
	}
}

// TestBounds encodes 10,000 clusters with 100 targets each. For all kinds of times and messages, the text must contain
// each instance and not exceed its limit. It leaves out times and messages if necessary.
func TestBounds(t *testing.T) {
	slow.Skip(t)
	for name, test := range map[string]struct {
		since   func(r *rand.Rand, report int64) int64
		message bool
		times   int // the number of instances whose times must be in the text, at least
	}{
		"one time per cluster": {func(_ *rand.Rand, report int64) int64 { return report }, false, 1_010_000},
		"times in the last hour, a message for each": {
			func(r *rand.Rand, _ int64) int64 { return 1000 * r.Int64N(3600) }, true, 0,
		},
		"times in the last year, some in the last hour": {func(r *rand.Rand, _ int64) int64 {
			if r.IntN(100) == 0 {
				return 1000 * r.Int64N(3600)
			}
			return 1000 * r.Int64N(365*24*3600)
		}, false, 9_000},
	} {
		t.Run(name, func(t *testing.T) {
			o := fleet(rand.New(rand.NewPCG(1, 2)), test.since, test.message)
			begun := time.Now()
			text := o.Encode()
			encoded := time.Now()
			got, err := observation.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d instances: %d bytes, encoded in %s, parsed in %s", instances(o), len(text),
				encoded.Sub(begun).Round(time.Millisecond), time.Since(encoded).Round(time.Millisecond))
			if len(text) > observation.MaxText {
				t.Errorf("%d bytes", len(text))
			}
			if got.Hash() != o.Hash() {
				t.Error("the text lacks instances")
			}
			known := 0
			for _, g := range got.Groups {
				for _, m := range g.Members {
					if m.Since > 0 {
						known++
					}
				}
			}
			if known < test.times {
				t.Errorf("%d times, want at least %d", known, test.times)
			}
		})
	}
}

// fleet returns an observation of 10,000 clusters, each with 100 targets and the folder of its cluster type. 3% of the
// instances run another version or have failed.
func fleet(
	r *rand.Rand, since func(r *rand.Rand, report int64) int64, messages bool,
) *observation.Observation {
	o := &observation.Observation{Environment: "prod", ObservedAt: now, Verdict: "success"}
	clusters, reports := make([]string, 10_000), make([]int64, 10_000)
	for i := range clusters {
		clusters[i] = fmt.Sprintf(
			"/subscriptions/%016x/resourceGroups/rg-%d/providers/microsoft.kubernetes/connectedclusters/c%d",
			r.Uint64(), i%100, i)
		reports[i] = 1000 * r.Int64N(3600)
	}
	for target := range 101 {
		groups := make([]observation.Group, 3)
		for i := range groups {
			groups[i].State = []string{"current", "failed", "current"}[i]
			groups[i].ClusterType, groups[i].Target = "large", fmt.Sprintf("target-%03d", target)
			groups[i].Version = observation.Version{Version: fmt.Sprintf("1.2.%d", i), Content: fmt.Sprintf("%040x", r.Uint64())}
		}
		for i, cluster := range clusters {
			g := &groups[0]
			if r.IntN(100) < 3 {
				g = &groups[1+r.IntN(2)]
			}
			m := observation.Member{Cluster: cluster, Since: now.UnixMilli()/1000*1000 - since(r, reports[i])}
			if messages {
				m.Message = fmt.Sprintf("cluster %d does not answer: %x", i, r.Uint64())
			}
			g.Members = append(g.Members, m)
		}
		o.Groups = append(o.Groups, groups...)
	}
	return o
}

// instances returns the number of instances.
func instances(o *observation.Observation) (n int) {
	for _, g := range o.Groups {
		n += len(g.Members)
	}
	return n
}

// TestBadTexts replaces each digit in a text's JSON. Decoding may succeed, or fail with ErrText, but must not panic.
func TestBadTexts(t *testing.T) {
	text := random(rand.New(rand.NewPCG(3, 1))).Encode()
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i, c := range plain {
		if c < '0' || c > '9' {
			continue
		}
		for _, by := range []string{"9", "-1", "99999999999"} {
			changed := string(plain[:i]) + by + string(plain[i+1:])
			var packed bytes.Buffer
			w := zlib.NewWriter(&packed)
			if _, err := io.WriteString(w, changed); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := observation.Parse(base64.StdEncoding.EncodeToString(packed.Bytes())); err != nil {
				refused++
				if !errors.Is(err, observation.ErrText) {
					t.Errorf("%s: %v", changed, err)
				}
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
	for _, bad := range []string{"", "x", text[:len(text)/2], "AAAA"} {
		if _, err := observation.Parse(bad); !errors.Is(err, observation.ErrText) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestTimeZone parses a text with a time that is not in UTC, which no version of the provider writes.
func TestTimeZone(t *testing.T) {
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, err := io.WriteString(w, `{"v":2,"versions":[{"committed_at":"2026-01-01T00:00:00+01:00","version":"a\u0000"}],`+
		`"groups":[{"version":0}],"rows":[{"cluster":"a","groups":[0],"since":[0],"messages":[0]}]}`)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	o, err := observation.Parse(base64.StdEncoding.EncodeToString(packed.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if v := o.Groups[0].Version; v.CommittedAt.Unix() != 1767222000 || v.Version != `a\x00` {
		t.Errorf("got %+v", v)
	}
}

// TestTimesOutOfRange checks that times which JSON can't express are left out.
func TestTimesOutOfRange(t *testing.T) {
	o := &observation.Observation{Groups: []observation.Group{{
		Condition: observation.Condition{Version: observation.Version{CommittedAt: time.Unix(1<<40, 0)}},
		Members:   []observation.Member{{Cluster: "a", Since: -5}},
	}}}
	got, err := observation.Parse(o.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if v, m := got.Groups[0].Version, got.Groups[0].Members[0]; !v.CommittedAt.IsZero() || m.Since != 0 {
		t.Errorf("got %+v, %+v", v, m)
	}
}
