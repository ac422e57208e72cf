package deployment_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/gitstore"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	postgresstore "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/postgres"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/pgserver"
)

// openPostgres opens the store in a schema.
func openPostgres(t *testing.T, url, schema string) history.Store {
	t.Helper()
	s, err := postgresstore.Open(postgresstore.Settings{URL: url, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// openGit opens the store on a branch.
func openGit(t *testing.T, repo, branch, path string) history.Store {
	t.Helper()
	client, err := gitremote.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gitstore.Open(client, "file://"+repo, branch, path, gitbranch.Author{Name: "K", Email: "k@acme.io"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stored returns the runs in the store, oldest first, and checks that no cluster has two runs at once.
func (r *recordRoot) stored() (runs []history.Run) {
	r.T.Helper()
	past, err := r.open().Read(r.T.Context(), history.Query{Environment: "prod", Until: time.Now().AddDate(100, 0, 0),
		Limit: 1 << 30})
	if err != nil {
		r.T.Fatal(err)
	}
	ends := map[string]time.Time{} // by cluster
	for i := range past.Runs {
		run := past.Runs[len(past.Runs)-1-i]
		if end, met := ends[run.Cluster]; met && (end.IsZero() || end.After(run.Since)) {
			r.T.Errorf("%s has two runs at %s", run.Cluster, run.Since)
		}
		ends[run.Cluster] = run.Until
		runs = append(runs, run)
	}
	return runs
}

// expectPast checks that the store still contains each run of before. Only a run that had no end may have one now.
func (r *recordRoot) expectPast(before, after []history.Run) {
	r.T.Helper()
	kept := map[string]history.Run{}
	key := func(run history.Run) string { return run.Cluster + run.Since.String() }
	for _, run := range after {
		kept[key(run)] = run
	}
	for _, run := range before {
		now := kept[key(run)]
		if run.Until.IsZero() {
			now.Until = time.Time{}
		}
		if diff := cmp.Diff(run, now); diff != "" {
			r.T.Errorf("the past changed (-before +after)\n%s", diff)
		}
	}
}

// A store that is restored from an older copy lacks the runs after that copy. The next apply corrects the current runs.
func TestAccDeploymentRecordRestored(t *testing.T) {
	eachRecordRoot(t, func(t *testing.T, r *recordRoot) {
		r.observe(map[string]string{"c1": "1.0 current"})
		r.Apply()
		restore, before := r.backup(), r.stored()
		r.observe(map[string]string{"c1": "1.1 current", "c2": "1.0 current"})
		r.Apply()
		r.expectRuns("c1 1.1 current 00:20-", "c2 1.0 current 00:20-", "c1 1.0 current 00:10-00:20")
		restore()
		r.observe(map[string]string{"c1": "1.1 current", "c2": "1.0 current"})
		r.Apply()
		r.expectRuns("c1 1.1 current 00:30-", "c2 1.0 current 00:30-", "c1 1.0 current 00:10-00:30")
		r.expectPast(before, r.stored())
		r.ExpectEmptyPlan()
	})
}

// An apply that is killed at any moment leaves a whole record or no record. The next apply corrects the current runs,
// and changes no past run.
func TestAccDeploymentRecordKilled(t *testing.T) {
	kills := 3
	if seeds.Long() {
		kills = 30
	}
	eachRecordRoot(t, func(t *testing.T, r *recordRoot) {
		r.observe(map[string]string{"c1": "0 current", "c2": "same current"})
		begun := time.Now()
		first := r.Killable("apply", "-no-color", "-auto-approve")
		if out, err := first.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		usual, before := time.Since(begun), r.stored()
		for i := range kills {
			r.observe(map[string]string{"c1": fmt.Sprint(i+1, " current"), "c2": "same current"})
			cmd := r.Killable("apply", "-no-color", "-auto-approve")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				_ = cmd.Wait() // it may be killed
				close(ended)
			}()
			select {
			case <-ended:
			case <-time.After(time.Duration(rand.Int64N(int64(usual)))):
				acc.Kill(t, cmd)
				<-ended
			}
			after := r.stored()
			r.expectPast(before, after)
			if n := len(after) - len(before); n < 0 || n > 1 {
				t.Errorf("one change added %d runs", n)
			}
			before = after
		}
		r.observe(map[string]string{"c1": "last current", "c2": "same current"})
		r.Apply()
		r.ExpectEmptyPlan()
		after := r.stored()
		r.expectPast(before, after)
		if last := after[len(after)-1]; last.Version.Version != "last" || !last.Until.IsZero() {
			t.Errorf("the newest run is %+v", last)
		}
		for _, run := range after { // each run has the version that was observed at its time
			minute := int(run.Since.Sub(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).Minutes())
			if want := fmt.Sprint(minute/10 - 1); run.Cluster == "c1" && run.Version.Version != want && minute != r.clock {
				t.Errorf("at minute %d c1 ran %s, and %s was observed", minute, run.Version.Version, want)
			}
		}
	})
}

// If the clock of a run was ahead, the next run warns until when it records nothing, and how to record again before
// that.
func TestAccDeploymentRecordClockAhead(t *testing.T) {
	eachRecordRoot(t, func(t *testing.T, r *recordRoot) {
		r.observe(map[string]string{"c1": "1.0 current"})
		r.Apply()
		r.observe(map[string]string{"c1": "2.0 current"}, func(o *observation.Observation) {
			o.ObservedAt = time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
		})
		r.Apply()
		r.observe(map[string]string{"c1": "1.1 current"})
		text := strings.Join(strings.Fields(strings.ReplaceAll(r.Apply().Text(), "│", " ")), " ")
		from := time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC)
		steps := strings.Join(strings.Fields(r.open().RemovalSteps("prod", from)), " ")
		for _, says := range []string{
			"the store has an observation of 2099-01-01T00:00:00Z", "the clock of that run was ahead", steps,
		} {
			if !strings.Contains(text, says) {
				t.Errorf("the warning does not say %s: %s", says, text)
			}
		}
	})
}

// secondModule returns another module, with a state of its own, that records into the same store.
func (r *recordRoot) secondModule() *recordRoot {
	r.T.Helper()
	other := &recordRoot{Root: acc.NewRootFrom(r.T, "testdata/TestAccDeploymentRecord"), gitops: r.gitops,
		open: r.open}
	other.Vars = maps.Clone(r.Vars)
	return other
}

// Two pipelines apply at once for one environment. In the end the store contains the newer observation, no recorded run
// is lost, and no two runs overlap.
func TestAccDeploymentRecordConcurrentApplies(t *testing.T) {
	rounds := 3
	if seeds.Long() {
		rounds = 50
	}
	eachRecordRoot(t, func(t *testing.T, r *recordRoot) {
		other := r.secondModule()
		var before []history.Run
		for round := range rounds {
			version := func(of string) map[string]string {
				return map[string]string{"c1": fmt.Sprintf("%s%d current", of, round), "c2": of + " current", of: "1 current"}
			}
			r.observe(version("a"))
			other.clock = r.clock
			other.observe(version("b"))
			r.clock = other.clock
			var wait sync.WaitGroup
			for _, one := range []*recordRoot{r, other} {
				cmd := one.Command("apply", "-no-color", "-auto-approve")
				wait.Go(func() {
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Errorf("%v\n%s", err, out)
					}
				})
			}
			wait.Wait()
			after := r.stored()
			r.expectPast(before, after)
			before = after
			var present []string
			for _, run := range after {
				if run.Until.IsZero() {
					present = append(present, run.Cluster+" "+run.Version.Version)
				}
			}
			// The newer observation wins, in either order.
			want := map[string]bool{fmt.Sprint("c1 b", round): true, "c2 b": true, "b 1": true}
			for _, text := range present {
				delete(want, text)
			}
			if len(want) > 0 || len(present) != 3 {
				t.Errorf("round %d: the current runs are %q", round, present)
			}
		}
	})
}

// databaseRoot returns a module that records into PostgreSQL. Only the environment contains the URL, so each command
// starts its own provider.
func databaseRoot(t *testing.T, url string) *recordRoot {
	t.Helper()
	acc.NeedTerraform(t)
	r := &recordRoot{Root: acc.NewRootFrom(t, "testdata/TestAccDeploymentRecord"), gitops: gitserver.InitBare(t)}
	r.Vars = map[string]any{"store": map[string]any{"postgres": map[string]any{}}, "arguments": map[string]any{}}
	r.Vars["gitops"] = "file://" + r.gitops
	r.open = func() history.Store { return openPostgres(t, url, postgresstore.DefaultSchema) }
	r.StartProviders()
	r.Env = append(r.Env, "TF_LOG=TRACE")
	r.url(url)
	return r
}

// url changes the URL of the database.
func (r *recordRoot) url(url string) {
	r.Env = append(r.Env, "KALYPSO_POSTGRES_URL="+url)
}

// If the server restarts while an apply waits for it, the apply still succeeds.
func TestAccDeploymentRecordRestart(t *testing.T) {
	t.Parallel()
	db := pgserver.Start(t)
	url := db.Database(t)
	r := databaseRoot(t, url)
	r.observe(map[string]string{"c1": "1.0 current"})
	r.Apply()
	r.observe(map[string]string{"c1": "1.1 current"})
	tx, err := pgserver.Connect(t, url).Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), "SELECT * FROM kalypso.environment FOR UPDATE")
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := r.Command("apply", "-no-color", "-auto-approve")
	ended := make(chan string, 1)
	go func() {
		out, err := cmd.CombinedOutput()
		if err != nil {
			ended <- string(out)
		}
		close(ended)
	}()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if pgserver.Select(t, url, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")[0] != "0" {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the apply does not wait for the lock")
		}
	}
	db.Kill()
	db.Run(t)
	if out := <-ended; out != "" {
		t.Fatalf("the apply failed:\n%s", out)
	}
	r.ExpectEmptyPlan()
	if runs := r.stored(); len(runs) != 2 || runs[1].Version.Version != "1.1" {
		t.Errorf("runs %+v", runs)
	}
}

// Each refusal of a server is an error with the server's name, within the timeout. Neither output, log, plan nor state
// contains a password. The record can also be stored through a connection pool.
func TestAccDeploymentRecordRefused(t *testing.T) {
	t.Parallel()
	db := pgserver.Start(t)
	url := db.Database(t)
	r := databaseRoot(t, url)
	as := func(user, password string) string {
		return strings.Replace(url, pgserver.User+":"+pgserver.Password, user+":"+password, 1)
	}
	pgserver.Exec(t, url, "CREATE ROLE guest LOGIN PASSWORD 'canary-guest'")
	apply := []string{"apply", "-no-color", "-auto-approve"}
	r.observe(map[string]string{"c1": "1.0 current"})
	for wrong, says := range map[string]string{
		as(pgserver.User, "canary-wrong"):     "Check the user and the password",
		as("guest", "canary-guest"):           "examples/observability/schema.sql",
		strings.Replace(url, "/db", "/no", 1): "Create the database",
	} {
		r.url(wrong)
		r.ExpectError([]string{"The record can't be stored", "PostgreSQL at 127.0.0.1:" + db.Port, says,
			"Nothing was recorded"}, apply...)
	}
	r.url(db.PgBouncer(t, url))
	r.Succeed("plan", "-no-color", "-out=plan")
	r.Succeed("apply", "-no-color", "plan")
	r.url(url)
	r.ExpectEmptyPlan()

	// The server is slow: another transaction has locked the row. The plan only reads, and the apply ends at its timeout.
	tx, err := pgserver.Connect(t, url).Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), "SELECT * FROM kalypso.environment FOR UPDATE")
	}
	if err != nil {
		t.Fatal(err)
	}
	module := acc.ReadFile(t, filepath.Join(r.Folder, "main.tf"))
	r.Write("main.tf", strings.Replace(module, `update = "30s"`, `update = "10s"`, 1))
	r.observe(map[string]string{"c1": "1.1 current"})
	r.ExpectError([]string{"The record can't be stored", "does not answer in time", "Nothing was recorded"}, apply...)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.Apply()
	if runs := r.stored(); len(runs) != 2 || runs[1].Version.Version != "1.1" {
		t.Errorf("runs %+v", runs)
	}

	db.Standby(t)
	r.ExpectEmptyPlan()
	r.observe(map[string]string{"c1": "1.2 current"})
	r.ExpectError([]string{"The record can't be stored", "Let the URL name the primary server"}, apply...)
	texts := acc.FilesBelow(t, r.Folder) // the plan, which is an archive, the state and all other files
	texts["the output and the log"] = []byte(r.Printed.String())
	for _, name := range []string{"plan/tfplan", "terraform.tfstate", "the output and the log"} {
		if len(texts[name]) == 0 {
			t.Errorf("there is no %s", name)
		}
	}
	for name, text := range texts {
		if bytes.Contains(text, []byte("canary-")) {
			t.Errorf("%s contains a password", name)
		}
	}
}
