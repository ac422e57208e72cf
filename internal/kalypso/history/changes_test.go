package history_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
)

// observed returns an observation at a minute. The keys of instances are "cluster target content state", the values the
// minute at which this began, or 0 if it is unknown.
func observed(at int, instances map[string]int) *observation.Observation {
	o := &observation.Observation{Environment: "prod", Repo: "https://acme.io/gitops", Branch: "prod", Path: ".",
		ObservedAt: minute(at), Verdict: "success"}
	for text, since := range instances {
		f := strings.Fields(text)
		g := observation.Group{Place: observation.Place{ClusterType: "large", Target: f[1]},
			Condition: observation.Condition{State: f[3], Version: observation.Version{Version: "v" + f[2], Content: f[2]}},
			Members:   []observation.Member{{Cluster: f[0]}}}
		if since != 0 {
			g.Members[0].Since = observation.Millis(minute(since))
		}
		o.Groups = append(o.Groups, g)
	}
	o.Sort()
	return o
}

func TestCompare(t *testing.T) {
	was := observed(100, map[string]int{"c1 web a current": 50, "c2 web a current": 50, "c3 web a failed": 50})
	for name, test := range map[string]struct {
		now  map[string]int
		want string
	}{
		"only other times": {map[string]int{"c1 web a current": 70, "c2 web a current": 0, "c3 web a failed": 60},
			"0 changes on 0 clusters"},
		"new version on two clusters": {map[string]int{"c1 web b current": 150, "c2 web b current": 150,
			"c3 web a failed": 50},
			"2 changes on 2 clusters\nlarge/web: va → vb on 2 clusters (current)"},
		"new state, removed instance": {map[string]int{"c1 web a failed": 150, "c3 web a failed": 50},
			"2 changes on 2 clusters\nlarge/web: va → none on 1 cluster (removed)\n" +
				"large/web: va → va on 1 cluster (failed)"},
		"new cluster": {map[string]int{"c1 web a current": 50, "c2 web a current": 50, "c3 web a failed": 50,
			"c4 web a current": 0,
			"c4 db x missing":  0},
			"2 changes on 1 cluster\nlarge/db: none → vx on 1 cluster (missing)\n" +
				"large/web: none → va on 1 cluster (current)"},
	} {
		if got := history.Summary(history.Compare(was, observed(200, test.now))); got != test.want {
			t.Errorf("%s: %s\nwant %s", name, got, test.want)
		}
	}
}

// A change begins at the reported time, if that time is later than all known times and not in the future. Otherwise it
// begins at the time of the observation.
func TestChangeBeginsAtReportedTime(t *testing.T) {
	for _, test := range []struct{ last, reported, want int }{
		{50, 150, 150},
		{50, 200, 200},
		{50, 201, 200},
		{50, 50, 200},
		{50, 20, 200},
		{50, 0, 200},
		{0, 20, 20},
	} {
		was := observed(100, map[string]int{"c1 web a current": test.last})
		now := observed(200, map[string]int{"c1 web b current": test.reported})
		got := observation.Time(history.Compare(was, now)[0].Members[0].Since)
		if !got.Equal(minute(test.want)) {
			t.Errorf("after %d, reported at %d: %s, want %s", test.last, test.reported, got, minute(test.want))
		}
	}
}

// If a source does not answer, its instances are taken over from the last observation. A cluster that is expected but
// was not queried is not missing.
func TestCarry(t *testing.T) {
	was := observed(100, map[string]int{"c1 web a current": 0, "c2 web a current": 0, "c3 web a current": 0})
	now := observed(200, map[string]int{"c1 web b current": 0, "c2 web x missing": 0, "c9 web x missing": 0})
	now.Unanswered = []string{"azure"}
	want := observed(200, map[string]int{"c1 web b current": 0, "c2 web a current": 0, "c3 web a current": 0})
	if diff := cmp.Diff(want.Groups, history.Carry(was, now).Groups); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	now.Unanswered = nil
	if got := history.Carry(was, now); got != now {
		t.Errorf("all sources answered, but the observation is changed: %v", got)
	}
}

func TestRecordIsDue(t *testing.T) {
	instances := map[string]int{"c1 web a current": 0}
	was := observed(100, instances)
	same := func(change func(*observation.Observation)) *observation.Observation {
		o := observed(200, instances)
		change(o)
		return o
	}
	for name, test := range map[string]struct {
		was, now *observation.Observation
		after    int
		want     bool
	}{
		"first observation":             {nil, was, 0, true},
		"no change":                     {was, same(func(o *observation.Observation) { o.Head = "other" }), 0, false},
		"no change, before renew_after": {was, observed(200, instances), 101, false},
		"no change, after renew_after":  {was, observed(200, instances), 100, true},
		"new verdict":                   {was, same(func(o *observation.Observation) { o.Verdict = "failure" }), 0, true},
		"new promoted commit":           {was, same(func(o *observation.Observation) { o.PromotedCommit = "c" }), 0, true},
		"source without an answer": {was, same(func(o *observation.Observation) {
			o.Unanswered, o.Groups = []string{"azure"}, nil
		}), 0, false},
		"new version": {was, observed(200, map[string]int{"c1 web b current": 0}), 0, true},
	} {
		if got := history.Due(test.was, test.now, time.Duration(test.after)*time.Minute); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestSamePlace(t *testing.T) {
	was := observed(100, nil)
	for name, test := range map[string]struct {
		change func(*observation.Observation)
		want   bool
	}{
		"no change":                        {func(*observation.Observation) {}, true},
		"same repo, other form of the URL": {func(o *observation.Observation) { o.Repo += ".git" }, true},
		"other repo":                       {func(o *observation.Observation) { o.Repo += "-2" }, false},
		"other environment":                {func(o *observation.Observation) { o.Environment = "other" }, false},
		"other branch":                     {func(o *observation.Observation) { o.Branch = "other" }, false},
		"other path":                       {func(o *observation.Observation) { o.Path = "other" }, false},
	} {
		now := observed(200, nil)
		test.change(now)
		if history.SamePlace(was, now) != test.want {
			t.Errorf("%s: %t", name, !test.want)
		}
	}
}

func TestHasNews(t *testing.T) {
	one, same, two := 1, 1, 2
	row := func(commit string, commits *int) history.Delivery {
		return history.Delivery{FirstCommit: commit, Commits: commits, StartedAt: minute(1)}
	}
	was := []history.Delivery{row("a", &one), row("b", nil), row("gone", nil)}
	changed := row("b", nil)
	changed.Failed = true
	for name, test := range map[string]struct {
		now  []history.Delivery
		want bool
	}{
		"no change":                 {[]history.Delivery{row("b", nil), row("a", &same)}, false},
		"new delivery":              {[]history.Delivery{row("c", nil), row("a", &one)}, true},
		"other number of commits":   {[]history.Delivery{row("a", &two)}, true},
		"unknown number of commits": {[]history.Delivery{row("a", nil)}, true},
		"delivery that failed":      {[]history.Delivery{changed}, true},
	} {
		if got := history.HasNews(was, test.now); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestSummaryIsShort(t *testing.T) {
	instances := map[string]int{}
	for i := range 60 {
		instances["c1 target"+strings.Repeat("x", i)+" a current"] = 0
	}
	lines := strings.Split(history.Summary(history.Compare(nil, observed(1, instances))), "\n")
	if len(lines) != 51 || lines[0] != "60 changes on 1 cluster" || lines[50] != "and 11 more lines" {
		t.Errorf("%d lines, %s … %s", len(lines), lines[0], lines[len(lines)-1])
	}
}
