package history_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/pgserver"
)

// modelRun is a run in the model. Times are in milliseconds.
type modelRun struct {
	what         string // identifies content, version and state
	version      string
	state        string
	since, until int64 // until is 0 if the run has not ended
}

// model is a simple store, to compare other stores with: it contains all runs by instance, and compares each
// observation with all of them.
type model map[string][]modelRun

func (m model) clone() model {
	c := model{}
	for k, runs := range m {
		c[k] = slices.Clone(runs)
	}
	return c
}

// report is the report of a source on an instance.
type report struct {
	content, version, state string
	ofCommit                bool // the version is an abbreviated commit
	since                   int64
}

// record adds the reports of sources at a time, and returns whether they change anything. answered is whether all
// sources answered.
func (m model) record(reports map[string]report, answered bool, at int64) (changes bool) {
	for instance, r := range reports {
		if !answered && r.state == "missing" {
			continue
		}
		what := r.content + " " + r.version + " " + r.state
		if r.ofCommit {
			what = r.content + "  " + r.state
		}
		runs, latest := m[instance], int64(0)
		for _, run := range runs {
			latest = max(latest, run.since, run.until)
		}
		open := len(runs) > 0 && runs[len(runs)-1].until == 0
		if open && runs[len(runs)-1].what == what {
			continue
		}
		since := at
		if r.since > latest && r.since <= at {
			since = r.since
		}
		if open {
			runs[len(runs)-1].until = since
		}
		m[instance], changes = append(runs, modelRun{what, r.version, r.state, since, 0}), true
	}
	for instance, runs := range m {
		if _, there := reports[instance]; !there && answered && runs[len(runs)-1].until == 0 {
			runs[len(runs)-1].until, changes = at, true
		}
	}
	return changes
}

// texts returns the runs, sorted.
func (m model) texts() []string {
	var texts []string
	for instance, runs := range m {
		for _, r := range runs {
			texts = append(texts, fmt.Sprintf("%s %s %s %d-%d", instance, r.version, r.state, r.since, r.until))
		}
	}
	slices.Sort(texts)
	return texts
}

func textsOf(runs []history.Run) []string {
	var texts []string
	for _, r := range runs {
		texts = append(texts, fmt.Sprintf("%s %s/%s %s %s %d-%d", r.Cluster, r.ClusterType, r.Target, r.Version.Version,
			r.State, observation.Millis(r.Since), observation.Millis(r.Until)))
	}
	slices.Sort(texts)
	return texts
}

// asOf returns how many clusters ran each version of each target at a moment.
func (m model) asOf(at int64) map[string]int {
	clusters := map[string]map[string]bool{}
	for instance, runs := range m {
		cluster, target, _ := strings.Cut(instance, " ")
		_, target, _ = strings.Cut(target, "/")
		for _, r := range runs {
			if key := target + " " + r.version + " " + r.state; r.since <= at && (r.until == 0 || r.until > at) {
				if clusters[key] == nil {
					clusters[key] = map[string]bool{}
				}
				clusters[key][cluster] = true
			}
		}
	}
	counts := map[string]int{}
	for key, names := range clusters {
		counts[key] = len(names)
	}
	return counts
}

// clusters simulates clusters that report their versions.
type clusters struct {
	*rand.Rand
	now int64
	run map[string]report
}

func (c *clusters) step() {
	c.now += []int64{1, 400, 60_000, 3_600_000, 9 * 86_400_000}[c.IntN(5)] + c.Int64N(1000)
	c.change()
}

// change changes the versions of some clusters.
func (c *clusters) change() {
	for range c.IntN(4) {
		instance := fmt.Sprintf("c%d %s/%s", c.IntN(5), []string{"edge", "large"}[c.IntN(2)],
			[]string{"", "db", "web"}[c.IntN(3)])
		if c.IntN(6) == 0 {
			delete(c.run, instance)
			continue
		}
		content := fmt.Sprint("content", c.IntN(3))
		r := report{content: content, version: "v" + content[7:], state: []string{"current", "failed"}[c.IntN(2)]}
		if c.IntN(3) == 0 {
			r.ofCommit, r.version = true, fmt.Sprintf("%012x", c.IntN(1000))
		}
		if c.IntN(8) == 0 {
			r = report{state: "missing"}
		}
		r.since = c.now - []int64{0, 300, 3_600_000, 40 * 86_400_000, -5000}[c.IntN(5)]
		if c.IntN(5) == 0 {
			r.since = 0
		}
		c.run[instance] = r
	}
}

// observe returns the reports of the sources, and the observation made of them. A source may not answer.
func (c *clusters) observe() (reports map[string]report, o *observation.Observation) {
	o = &observation.Observation{Environment: "prod", Repo: "https://acme.io/gitops", Branch: "prod", Path: ".",
		ObservedAt: time.UnixMilli(c.now).UTC(), Head: "head", Verdict: []string{"success", "failure"}[c.IntN(2)]}
	reports = maps.Clone(c.run)
	if c.IntN(4) == 0 {
		o.Unanswered = []string{"azure"}
		for _, instance := range slices.Sorted(maps.Keys(reports)) {
			switch c.IntN(3) {
			case 0:
				delete(reports, instance)
			case 1:
				reports[instance] = report{state: "missing"}
			}
		}
	}
	for instance, r := range reports {
		cluster, at, _ := strings.Cut(instance, " ")
		clusterType, target, _ := strings.Cut(at, "/")
		g := observation.Group{Place: observation.Place{ClusterType: clusterType, Target: target},
			Condition: observation.Condition{State: r.state,
				Version: observation.Version{Content: r.content, Version: r.version}},
			Members: []observation.Member{{Cluster: cluster, Since: r.since}}}
		if r.ofCommit {
			g.Version.Commit = r.version + "0000"
		}
		o.Groups = append(o.Groups, g)
	}
	o.Sort()
	return reports, o
}

// memoryStore is a store in memory. It has nothing but the rules that all stores share, and keeps the starts of each
// record.
type memoryStore struct {
	last   history.Snapshot
	starts [][]history.Start
}

func (m *memoryStore) open(*testing.T) history.Store { return m }
func (m *memoryStore) size(*testing.T) string        { return fmt.Sprint(len(m.starts)) }

func (m *memoryStore) snapshot(*testing.T) func() {
	kept := *m
	return func() { *m = kept }
}

func (m *memoryStore) timeline() *history.Timeline {
	var t history.Timeline
	for _, starts := range m.starts {
		t.Add(starts)
	}
	return &t
}

func (m *memoryStore) Snapshot(context.Context, string) (history.Snapshot, error) { return m.last, nil }

func (m *memoryStore) Record(_ context.Context, r history.Write) (history.WriteResult, error) {
	n, err := r.Prepare().Rows(m.last, func([]history.InstanceChange) (*observation.Observation, error) {
		return m.timeline().Present(), nil
	})
	if n.Write {
		m.starts = append(slices.Clip(m.starts), history.Starts(n.Changes))
		m.last = history.Snapshot{Hash: n.Hash, ObservedAt: r.Observation.ObservedAt, Repo: r.Observation.Repo,
			Branch: r.Observation.Branch, Path: r.Observation.Path}
	}
	return n.Result, err
}

func (m *memoryStore) RemovalSteps(string, time.Time) string { return "" }

func (m *memoryStore) Read(_ context.Context, q history.Query) (past history.StoredRuns, err error) {
	m.timeline().Select(q, &past)
	return past, nil
}

// TestRandomChanges checks that the rules that all stores share give the runs of the model.
func TestRandomChanges(t *testing.T) {
	t.Parallel()
	for seed := range seeds.Of(t, 200, 5000) {
		randomRecords(t, &memoryStore{}, rand.New(rand.NewPCG(seed, 38)))
	}
}

// TestRandomRecords checks that each store has the same runs as the model, also if Terraform's state is lost or old, if
// sources do not answer, and if the store is emptied or restored from an older copy.
func TestRandomRecords(t *testing.T) {
	slow.Skip(t)
	t.Parallel()
	for name, empty := range stores(t) {
		t.Run(name, func(t *testing.T) {
			for seed := range seeds.Of(t, 2, 100) {
				randomRecords(t, empty(t), rand.New(rand.NewPCG(seed, 38)))
			}
		})
	}
}

func randomRecords(t *testing.T, p place, random *rand.Rand) {
	t.Helper()
	c := &clusters{random, observation.Millis(minute(0)), map[string]report{}}
	s, truth := p.open(t), model{}
	var was, older *observation.Observation
	last := int64(0)
	restore, restored, restoredLast := p.snapshot(t), truth.clone(), last
	for range 25 {
		c.step()
		switch random.IntN(12) {
		case 0: // the state is lost
			was = nil
		case 1: // another pipeline has an older state
			was, older = older, was
		case 2:
			restore, restored, restoredLast = p.snapshot(t), truth.clone(), last
		case 3: // the store is restored, or emptied
			restore()
			truth, last = restored.clone(), restoredLast
		}
		reports, now := c.observe()
		done := mustRecord(t, s, was, now)
		if c.now > last {
			truth.record(reports, len(now.Unanswered) == 0, c.now)
			last = c.now
		} else if done.StoredAt.IsZero() {
			t.Fatalf("an observation at %d after one at %d was recorded", c.now, last)
		}
		was = done.Present
		past, err := s.Read(t.Context(), everything("prod"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(truth.texts(), textsOf(past.Runs)); diff != "" {
			t.Fatalf("after the record at %d (-want +got)\n%s", c.now, diff)
		}
		// To record the same observation again writes nothing.
		before := p.size(t)
		mustRecord(t, s, was, now)
		if p.size(t) != before {
			t.Fatalf("the same record again changes the store from %s to %s", before, p.size(t))
		}
	}
	for range 20 {
		checkMoment(t, p, s, truth, observation.Millis(minute(0))+random.Int64N(c.now-observation.Millis(minute(0))+1))
	}
}

// checkMoment compares the versions at a time in the store, and by SQL if it is a database, with the model.
func checkMoment(t *testing.T, p place, s history.Store, truth model, at int64) {
	t.Helper()
	moment := time.UnixMilli(at).UTC()
	past, err := s.Read(t.Context(), history.Query{Environment: "prod", Since: moment, Until: moment, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, v := range past.Versions {
		got[v.Target+" "+v.Version+" "+v.State] = v.Clusters
	}
	if diff := cmp.Diff(truth.asOf(at), got); diff != "" {
		t.Errorf("as of %s (-want +got)\n%s", moment, diff)
	}
	db, ok := p.(*databasePlace)
	if !ok {
		return
	}
	bySQL := map[string]int{}
	for _, row := range pgserver.Select(t, db.url, `
		SELECT deployment_target || ' ' || coalesce(version, '') || ' ' || state,
		count(DISTINCT cluster) FROM kalypso.runs
		WHERE environment = 'prod' AND since <= $1 AND (until > $1 OR until IS NULL) GROUP BY 1`, moment) {
		i := strings.LastIndex(row, " ")
		bySQL[row[:i]], _ = strconv.Atoi(row[i+1:])
	}
	if diff := cmp.Diff(got, bySQL); diff != "" {
		t.Errorf("by SQL as of %s (-want +got)\n%s", moment, diff)
	}
}
