package history_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/gitstore"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/postgres"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/pgserver"
)

// place is the database or repo in which a store keeps its data.
type place interface {
	open(t *testing.T) history.Store
	// snapshot returns a function that restores the current data.
	snapshot(t *testing.T) (restore func())
	// size returns a text that changes with each row or commit that is written.
	size(t *testing.T) string
}

// stores returns the kinds of stores, each with a function that returns an empty place.
func stores(t *testing.T) map[string]func(*testing.T) place {
	t.Helper()
	db := pgserver.Start(t)
	return map[string]func(*testing.T) place{
		"git": func(t *testing.T) place { return gitPlace{gitserver.InitBare(t)} },
		"postgres": func(t *testing.T) place {
			return &databasePlace{server: db, url: db.Database(t)}
		},
	}
}

type gitPlace struct{ repo string }

func (p gitPlace) open(t *testing.T) history.Store {
	t.Helper()
	client, err := gitremote.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gitstore.Open(client, "file://"+p.repo, "history", ".", gitbranch.Author{Name: "K", Email: "k@acme.io"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (p gitPlace) snapshot(t *testing.T) func() {
	t.Helper()
	head := gitserver.Rev(t, p.repo, "history")
	return func() {
		if head == "" {
			gitserver.Git(t, p.repo, "update-ref", "-d", "refs/heads/history")
		} else {
			gitserver.Git(t, p.repo, "update-ref", "refs/heads/history", head)
		}
	}
}

func (p gitPlace) size(t *testing.T) string {
	t.Helper()
	return gitserver.Rev(t, p.repo, "history")
}

type databasePlace struct {
	server *pgserver.Server
	url    string
}

func (p *databasePlace) open(t *testing.T) history.Store {
	t.Helper()
	s, err := postgres.Open(postgres.Settings{URL: p.url})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// name returns the name of the database.
func (p *databasePlace) name() string {
	name, _, _ := strings.Cut(p.url[strings.LastIndex(p.url, "/")+1:], "?")
	return name
}

func (p *databasePlace) snapshot(t *testing.T) func() {
	t.Helper()
	kept := p.server.Database(t)
	copyTo := func(from, to string) {
		name := (&databasePlace{url: to}).name()
		pgserver.Exec(t, p.server.URL("postgres"), "DROP DATABASE "+name,
			"CREATE DATABASE "+name+" TEMPLATE "+(&databasePlace{url: from}).name())
	}
	copyTo(p.url, kept)
	return func() { copyTo(kept, p.url) }
}

// size returns the number of rows of each table, and the last transaction that wrote.
func (p *databasePlace) size(t *testing.T) string {
	t.Helper()
	var counts []string
	for _, table := range []string{"run", "instance", "version", "observation", "environment", "delivery"} {
		counts = append(counts, "SELECT '"+table+"', count(*), max(xmin::text::bigint) FROM kalypso."+table)
	}
	return strings.Join(pgserver.Select(t, p.url, strings.Join(counts, " UNION ALL ")), ", ")
}

// eachStore runs a test on each kind of store.
func eachStore(t *testing.T, test func(t *testing.T, p place)) {
	t.Helper()
	t.Parallel()
	for name, empty := range stores(t) {
		t.Run(name, func(t *testing.T) { test(t, empty(t)) })
	}
}

// mustRecord records an observation, and fails the test if that fails.
func mustRecord(t *testing.T, s history.Store, was, now *observation.Observation) history.WriteResult {
	t.Helper()
	done, err := s.Record(t.Context(), history.Write{Previous: was, Observation: now})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// everything queries all runs of an environment.
func everything(environment string) history.Query {
	return history.Query{Environment: environment, Until: minute(1e9), Limit: 1 << 30}
}

// runsOf returns the runs in a store as texts, oldest first.
func runsOf(t *testing.T, s history.Store, environment string) []string {
	t.Helper()
	past, err := s.Read(t.Context(), everything(environment))
	if err != nil {
		t.Fatal(err)
	}
	var runs []string
	for _, r := range past.Runs {
		until := ""
		if !r.Until.IsZero() {
			until = fmt.Sprint(r.Until.Sub(minute(0)).Minutes())
		}
		runs = append([]string{fmt.Sprintf("%s/%s %s %s %v-%s", r.Cluster, r.Target, r.Version.Version, r.State,
			r.Since.Sub(minute(0)).Minutes(), until)}, runs...)
	}
	return runs
}

func TestRecordTwice(t *testing.T) {
	eachStore(t, func(t *testing.T, p place) {
		s := p.open(t)
		if last, err := s.Snapshot(t.Context(), "prod"); err != nil || last != (history.Snapshot{}) {
			t.Fatalf("an empty store has %v, %v", last, err)
		}
		first := observed(100, map[string]int{"c1 web a current": 50})
		mustRecord(t, s, nil, first)
		second := observed(200, map[string]int{"c1 web b failed": 150})
		if done := mustRecord(t, s, first, second); done.Changes != 1 || !done.StoredAt.IsZero() {
			t.Errorf("%+v", done)
		}
		before := p.size(t)
		for name, was := range map[string]*observation.Observation{"old state": first, "no state": nil, "new state": second} {
			if done := mustRecord(t, s, was, second); done.Changes != 0 || !done.StoredAt.IsZero() || p.size(t) != before {
				t.Errorf("%s: %+v, from %s to %s", name, done, before, p.size(t))
			}
		}
		older := observed(150, map[string]int{"c1 web c failed": 0})
		if done := mustRecord(t, s, first, older); !done.StoredAt.Equal(minute(200)) || !done.Differs || p.size(t) != before {
			t.Errorf("an older observation: %+v, from %s to %s", done, before, p.size(t))
		}
		want := "c1/web va current 50-150, c1/web vb failed 150-"
		if got := strings.Join(runsOf(t, s, "prod"), ", "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		last, err := s.Snapshot(t.Context(), "prod")
		if err != nil || last.Hash != second.Hash() || !last.ObservedAt.Equal(second.ObservedAt) ||
			!last.IsAt(first.Repo, first.Branch, first.Path) {
			t.Errorf("%+v, %v", last, err)
		}
	})
}

// An environment in a store has one location, and a record for another location fails. A query finds it by its name or
// location.
func TestEnvironmentHasOneLocation(t *testing.T) {
	eachStore(t, func(t *testing.T, p place) {
		s := p.open(t)
		now := observed(100, map[string]int{"c1 web a current": 50})
		mustRecord(t, s, nil, now)
		moved := observed(200, map[string]int{"c1 web b current": 50})
		moved.Path = "elsewhere"
		_, err := s.Record(t.Context(), history.Write{Previous: now, Observation: moved})
		if err == nil || !strings.Contains(err.Error(), `"prod" in the store belongs to branch "prod", path "."`) {
			t.Errorf("%v", err)
		}
		moved.Environment = "prod-elsewhere"
		mustRecord(t, s, nil, moved)
		for path, environment := range map[string]string{".": "prod", "elsewhere": "prod-elsewhere", "nowhere": ""} {
			q := everything("")
			q.Repo, q.Branch, q.Path = now.Repo+".git", now.Branch, path
			past, err := s.Read(t.Context(), q)
			if err != nil || past.Environment != environment || (len(past.Runs) == 1) != (environment != "") {
				t.Errorf("%s: %+v, %v", path, past, err)
			}
		}
	})
}

// Several processes record one environment at the same time. No record fails, and the runs do not overlap.
func TestConcurrentRecords(t *testing.T) {
	eachStore(t, func(t *testing.T, p place) {
		const writers, rounds = 4, 12
		errs := make(chan error, writers)
		for w := range writers {
			go func() {
				s := p.open(t)
				var was *observation.Observation
				for round := range rounds {
					now := observed(1000+round*writers+w, map[string]int{
						fmt.Sprintf("c1 web %d current", w): 0, fmt.Sprintf("c2 web %d current", round): 0})
					done, err := s.Record(context.Background(), history.Write{Previous: was, Observation: now})
					if err != nil {
						errs <- err
						return
					}
					was = done.Present
				}
				errs <- nil
			}()
		}
		for range writers {
			if err := <-errs; err != nil {
				t.Fatal(err)
			}
		}
		checkRuns(t, p.open(t), "prod")
		// The newest observation is recorded, whichever process writes last.
		past, err := p.open(t).Read(t.Context(), everything("prod"))
		if err != nil || !past.RecordedUntil.Equal(minute(1000+rounds*writers-1)) {
			t.Errorf("recorded until %v, %v", past.RecordedUntil, err)
		}
	})
}

// checkRuns checks that the runs of an instance do not overlap, and that at most one of them continues.
func checkRuns(t *testing.T, s history.Store, environment string) {
	t.Helper()
	past, err := s.Read(t.Context(), everything(environment))
	if err != nil || len(past.Runs) == 0 {
		t.Fatalf("%d runs, %v", len(past.Runs), err)
	}
	next := map[string]history.Run{} // by instance: the run after
	for _, r := range past.Runs {
		instance := r.Cluster + "/" + r.ClusterType + "/" + r.Target
		after, met := next[instance]
		if met && (r.Until.IsZero() || r.Until.After(after.Since)) || !r.Until.IsZero() && !r.Until.After(r.Since) {
			t.Errorf("%s: %s to %s overlaps %s to %s", instance, r.Since, r.Until, after.Since, after.Until)
		}
		next[instance] = r
	}
}

func TestConcurrentEnvironments(t *testing.T) {
	eachStore(t, func(t *testing.T, p place) {
		errs := make(chan error)
		for i := range 10 {
			go func() {
				s := p.open(t)
				now := observed(100, map[string]int{"c1 web a current": 50, "c2 db b current": 0})
				now.Environment = fmt.Sprint("prod-", i)
				_, err := s.Record(context.Background(), history.Write{Observation: now})
				errs <- err
			}()
		}
		for range 10 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		for i := range 10 {
			if got := runsOf(t, p.open(t), fmt.Sprint("prod-", i)); len(got) != 2 {
				t.Errorf("environment %d: %v", i, got)
			}
		}
	})
}

// A query can limit the number of runs, which leaves out the oldest, and can select a cluster, a target and a window.
func TestQuery(t *testing.T) {
	eachStore(t, func(t *testing.T, p place) {
		s := p.open(t)
		var was *observation.Observation
		for i := range 5 {
			now := observed(100*(i+1), map[string]int{fmt.Sprintf("c1 web %d current", i): 0, "c2 db x failed": 0,
				"c3 web 0 current": 0})
			now.Head = fmt.Sprint("head ", i)
			was = mustRecord(t, s, was, now).Present
		}
		c1, web := "c1", "web"
		for name, test := range map[string]struct {
			q                history.Query
			runs             int
			truncated        bool
			versions, states int
		}{
			"no filter": {history.Query{Until: minute(1000), Limit: 10}, 7, false, 3, 5},
			"limit":     {history.Query{Until: minute(1000), Limit: 6}, 6, true, 3, 5},
			"cluster":   {history.Query{Until: minute(1000), Limit: 10, Cluster: &c1}, 5, false, 1, 5},
			"target":    {history.Query{Until: minute(1000), Limit: 10, Target: &web}, 6, false, 2, 5},
			"window": {history.Query{Since: minute(200), Until: minute(300), Limit: 10}, 3, false, 3,
				4},
			"window that begins between records": {history.Query{Since: minute(150), Until: minute(200), Limit: 10}, 3, false, 3,
				4},
			"window until the first record": {history.Query{Until: minute(100), Limit: 10}, 0, false, 2, 5},
		} {
			test.q.Environment = "prod"
			past, err := s.Read(t.Context(), test.q)
			if err != nil || len(past.Runs) != test.runs || past.Truncated != test.truncated ||
				len(past.Versions) != test.versions || len(past.Observed) != test.states {
				t.Errorf("%s: %d runs, truncated %t, versions %v, %d records, %v", name, len(past.Runs), past.Truncated,
					past.Versions, len(past.Observed), err)
			}
		}
	})
}

// A run and a version have the workload and the workspace of their deployment target, if the observation has them.
func TestWorkloadAndWorkspaceOfRuns(t *testing.T) {
	eachStore(t, func(t *testing.T, p place) {
		s := p.open(t)
		now := observed(100, map[string]int{"c1 web 1 current": 0, "c2 web 1 current": 0, "c1 db x current": 0})
		for i := range now.Groups {
			if g := &now.Groups[i]; g.Target == "web" {
				g.Version.Workload, g.Version.Workspace = "shop", "sales"
			}
		}
		mustRecord(t, s, nil, now)
		past, err := s.Read(t.Context(), history.Query{Environment: "prod", Until: minute(1000), Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		owners := map[string]bool{}
		for _, v := range past.Versions {
			owners[fmt.Sprintf("%s: %q %q", v.Target, v.Workspace, v.Workload)] = true
		}
		for _, r := range past.Runs {
			owners[fmt.Sprintf("%s: %q %q", r.Target, r.Version.Workspace, r.Version.Workload)] = true
		}
		if diff := cmp.Diff(map[string]bool{`web: "sales" "shop"`: true, `db: "" ""`: true}, owners); diff != "" {
			t.Errorf("owners (-want +got)\n%s", diff)
		}
	})
}

// Another environment may report the same version without its commit. After Terraform's state is lost, an observation
// of the same content adds no run, whether it has the commit or not.
func TestVersionWithoutCommit(t *testing.T) {
	eachStore(t, func(t *testing.T, p place) {
		s := p.open(t)
		version := func(environment string, minutes int, version, commit string) *observation.Observation {
			o := observed(minutes, map[string]int{"c1 web a current": 0})
			o.Environment, o.Groups[0].Version = environment, observation.Version{Version: version, Content: "tree",
				Repo: "repo", Path: "path", Commit: commit}
			return o
		}
		const commit, next = "0123456789abcdef", "fedcba9876543210"
		mustRecord(t, s, nil, version("dev", 100, commit[:12], ""))
		mustRecord(t, s, nil, version("prod", 100, commit[:12], commit))
		for i, again := range []*observation.Observation{
			version("dev", 200, commit[:12], ""), version("prod", 200, commit[:12], commit),
			version("dev", 300, commit[:12], commit), version("prod", 300, next[:12], next), // a commit without new content
		} {
			if done := mustRecord(t, s, nil, again); done.Changes != 0 {
				t.Errorf("observation %d: %d changes", i, done.Changes)
			}
		}
		for _, environment := range []string{"dev", "prod"} {
			if got, want := runsOf(t, s, environment), "c1/web "+commit[:12]+" current 100-"; strings.Join(got, ", ") != want {
				t.Errorf("%s: %s, want %s", environment, got, want)
			}
		}
	})
}

// A machine whose clock was ahead recorded observations of the future, so that later ones are refused. After the
// removal steps from the error, the earlier runs continue, and records succeed again.
func TestRemovalSteps(t *testing.T) {
	eachStore(t, func(t *testing.T, p place) {
		s := p.open(t)
		environments := []string{"prod", "it's $name"}
		if _, sql := p.(*databasePlace); sql {
			environments = append(environments, `\'; DROP SCHEMA kalypso CASCADE; --`)
		}
		for _, environment := range environments {
			was := observed(100, map[string]int{"c1 web a current": 50, "c2 web a current": 50})
			ahead := observed(900_000, map[string]int{"c1 web b current": 800_000})
			now := observed(200, map[string]int{"c1 web c current": 150, "c2 web a current": 50})
			other := observed(900_000, map[string]int{"c1 web a current": 0})
			was.Environment, ahead.Environment, now.Environment = environment, environment, environment
			other.Environment = "other of " + environment
			mustRecord(t, s, nil, was)
			mustRecord(t, s, was, ahead)
			mustRecord(t, s, nil, other)
			if done := mustRecord(t, s, nil, now); done.StoredAt.IsZero() {
				t.Fatal("the record was not refused")
			}
			steps := s.RemovalSteps(environment, now.ObservedAt)
			switch p := p.(type) {
			case *databasePlace:
				_, statements, _ := strings.Cut(steps, ":\n")
				pgserver.Exec(t, p.url, statements)
			case gitPlace:
				_, last, _ := strings.Cut(steps, "later than ")
				gone := map[string]gitserver.File{}
				for name := range gitserver.Tree(t, p.repo, "history") {
					if strings.HasPrefix(name, environment+"/") && name > last {
						gone[name] = gitserver.File{}
					}
				}
				if len(gone) != 1 {
					t.Fatalf("%s names %v", steps, gone)
				}
				gitserver.SeedFiles(t, p.repo, "history", "Remove", gone)
			}
			mustRecord(t, s, ahead, now)
			got := runsOf(t, s, environment)
			slices.Sort(got)
			want := []string{"c1/web va current 50-150", "c1/web vc current 150-", "c2/web va current 50-"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: runs (-want +got)\n%s", environment, diff)
			}
			if got := runsOf(t, s, other.Environment); len(got) != 1 {
				t.Errorf("%s: %s", other.Environment, got)
			}
		}
	})
}
