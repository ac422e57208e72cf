package deployment_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/pgserver"
)

// recordRoot is a root module that records into a store.
type recordRoot struct {
	*acc.Root
	gitops string
	// size changes with each row and commit in the store.
	size   func() string
	empty  func()                  // empties the store
	backup func() (restore func()) // of the store's current content
	// open opens the store without Terraform.
	open  func() history.Store
	clock int // minutes of January 2026
}

// newRecordRoots returns a module for each kind of store.
func newRecordRoots(t *testing.T) map[string]func(t *testing.T) *recordRoot {
	t.Helper()
	acc.NeedTerraform(t)
	db := pgserver.Start(t)
	begin := func(t *testing.T, vars map[string]any) *recordRoot {
		t.Helper()
		r := &recordRoot{
			Root:   acc.NewRootFrom(t, "testdata/TestAccDeploymentRecord"),
			gitops: gitserver.InitBare(t),
		}
		r.Vars = vars
		r.Vars["gitops"] = "file://" + r.gitops
		r.Vars["arguments"] = map[string]any{}
		return r
	}
	return map[string]func(*testing.T) *recordRoot{
		"git": func(t *testing.T) *recordRoot {
			t.Helper()
			repo := gitserver.InitBare(t)
			r := begin(t, map[string]any{"store": map[string]any{"git": map[string]any{
				"repo": "file://" + repo, "branch": "history", "path": "fleet"}}})
			r.open = func() history.Store { return openGit(t, repo, "history", "fleet") }
			r.size = func() string { return gitserver.Rev(t, repo, "history") }
			r.empty = func() { gitserver.Git(t, repo, "update-ref", "-d", "refs/heads/history") }
			r.backup = func() func() {
				head := r.size()
				return func() { gitserver.Git(t, repo, "update-ref", "refs/heads/history", head) }
			}
			return r
		},
		"postgres": func(t *testing.T) *recordRoot {
			t.Helper()
			url := db.Database(t)
			r := begin(t, map[string]any{"store": map[string]any{"postgres": map[string]any{"schema": "hub"}},
				"postgres_url": url})
			r.open = func() history.Store { return openPostgres(t, url, "hub") }
			r.size = func() string {
				return strings.Join(pgserver.Select(t, url, "SELECT max(xmin::text::bigint) FROM hub.run UNION ALL "+
					"SELECT max(xmin::text::bigint) FROM hub.observation UNION ALL SELECT count(*) FROM hub.version"), " ")
			}
			r.empty = func() { pgserver.Exec(t, url, "DROP SCHEMA hub CASCADE") }
			r.backup = func() func() {
				dump := db.Dump(t, url, "hub")
				return func() { pgserver.Exec(t, url, "DROP SCHEMA hub CASCADE", dump) }
			}
			return r
		},
	}
}

// eachRecordRoot runs a test with each kind of store.
func eachRecordRoot(t *testing.T, test func(t *testing.T, r *recordRoot)) {
	t.Helper()
	t.Parallel()
	for name, begin := range newRecordRoots(t) {
		t.Run(name, func(t *testing.T) { test(t, begin(t)) })
	}
}

// observe sets an observation that is ten minutes newer than the last one. For each cluster, the map has the version
// that the cluster runs and the state, such as "1.0 current".
func (r *recordRoot) observe(clusters map[string]string, changes ...func(*observation.Observation)) {
	r.T.Helper()
	r.clock += 10
	o := observation.Observation{Environment: "prod", Repo: "file://" + r.gitops, Branch: "prod", Path: ".",
		ObservedAt: time.Date(2026, 1, 1, 0, r.clock, 0, 0, time.UTC), Head: "head", Verdict: "success"}
	for cluster, text := range clusters {
		version, state, _ := strings.Cut(text, " ")
		g := observation.Group{Place: observation.Place{ClusterType: "large", Target: "shop-web"},
			Condition: observation.Condition{State: state}, Members: []observation.Member{{Cluster: cluster}}}
		if version != "" {
			g.Version = observation.Version{Version: version, Content: "tree of " + version, Commit: "commit of " + version}
		}
		o.Groups = append(o.Groups, g)
	}
	for _, change := range changes {
		change(&o)
	}
	r.Set("deployment", map[string]any{"head": "head", "observation": o.Encode(), "verdict": "success"})
}

// argument sets an argument of the record or of the history.
func (r *recordRoot) argument(name string, value any) {
	r.T.Helper()
	arguments, _ := r.Vars["arguments"].(map[string]any)
	arguments = maps.Clone(arguments)
	arguments[name] = value
	r.Set("arguments", arguments)
}

// expectRecord compares the time, the number of changes and the summary of the record.
func (r *recordRoot) expectRecord(minute, changes int, summary string) {
	r.T.Helper()
	var got struct {
		At      string
		Changes int
		Summary string
	}
	r.Output("record", &got)
	at := time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC).Format(time.RFC3339)
	if got.At != at || got.Changes != changes || got.Summary != summary {
		r.T.Errorf(
			"recorded at %s: %d changes: %s\nwant %s: %d: %s",
			got.At,
			got.Changes,
			got.Summary,
			at,
			changes,
			summary,
		)
	}
}

// runs returns the runs in the store as the data source returns them, newest first.
func (r *recordRoot) runs() []string {
	r.T.Helper()
	var got struct {
		Runs []struct {
			Cluster, Version, State, Since string
			Until                          *string
		}
	}
	r.Output("history", &got)
	var runs []string
	for _, run := range got.Runs {
		until := ""
		if run.Until != nil {
			until = (*run.Until)[11:16]
		}
		runs = append(runs, fmt.Sprintf("%s %s %s %s-%s", run.Cluster, run.Version, run.State, run.Since[11:16], until))
	}
	return runs
}

// expectRuns compares the runs in the store.
func (r *recordRoot) expectRuns(want ...string) {
	r.T.Helper()
	if diff := cmp.Diff(want, r.runs()); diff != "" {
		r.T.Errorf("runs (-want +got)\n%s", diff)
	}
}

// A store accepts an observation whatever texts clusters report, also with the character NUL, which PostgreSQL refuses.
func TestAccDeploymentRecordAnyText(t *testing.T) {
	eachRecordRoot(t, func(t *testing.T, r *recordRoot) {
		const text = "a\x00b\x1b"
		r.observe(map[string]string{"c1" + text: "1.0" + text + " current", "c2": "1.0 current"},
			func(o *observation.Observation) {
				o.Groups[0].Target, o.Groups[0].Members[0].Message = "web"+text, text
				o.PromotedCommit, o.Groups[0].Version.Workload = text, text
			})
		r.Apply()
		r.ExpectEmptyPlan()
		if runs := r.runs(); len(runs) != 2 || strings.ContainsAny(strings.Join(runs, ""), "\x00\x1b") {
			t.Errorf("the runs are %q", runs)
		}
		r.observe(map[string]string{"c1" + text: "1.0" + text + " current", "c2": "1.0 current"})
		r.Apply()
		r.ExpectEmptyPlan()
	})
}

// The plan of a record shows what it adds. The apply writes exactly these changes, and writes nothing twice. A destroy
// keeps the history, which the resource finds when it is created again.
func TestAccDeploymentRecord(t *testing.T) {
	eachRecordRoot(t, func(t *testing.T, r *recordRoot) {
		r.observe(map[string]string{"c1": "1.0 current", "c2": "1.0 current"})
		plan := r.Succeed("plan", "-no-color").Text()
		const first = "2 changes on 2 clusters\nlarge/shop-web: none → 1.0 on 2 clusters (current)"
		for _, text := range []string{`recorded_at = "2026-01-01T00:10:00Z"`, "changes = 2",
			"large/shop-web: none → 1.0 on 2 clusters (current)"} {
			if !strings.Contains(strings.Join(strings.Fields(plan), " "), text) {
				t.Errorf("the plan does not say %s: %s", text, plan)
			}
		}
		r.Apply()
		r.expectRecord(10, 2, first)
		r.ExpectEmptyPlan()
		size := r.size()

		// Nothing changes: another head, another time, and a commit with the same content.
		r.observe(map[string]string{"c1": "1.0 current", "c2": "1.0 current"}, func(o *observation.Observation) {
			o.Head = "another"
		})
		r.ExpectEmptyPlan()
		r.ExpectNoChanges()
		if r.size() != size {
			t.Errorf("the store was written: %s, then %s", size, r.size())
		}

		r.observe(map[string]string{"c1": "1.1 failed", "c2": "1.0 current"})
		r.Apply()
		r.expectRecord(30, 1, "1 change on 1 cluster\nlarge/shop-web: 1.0 → 1.1 on 1 cluster (failed)")
		r.expectRuns("c1 1.1 failed 00:30-", "c1 1.0 current 00:10-00:30", "c2 1.0 current 00:10-")

		// Runs of clusters that no longer report continue, also in later records.
		silent := func(o *observation.Observation) { o.Unanswered, o.Verdict = []string{"azure"}, "pending" }
		r.observe(map[string]string{"c1": "1.1 current"}, silent)
		r.Apply()
		r.expectRecord(40, 1, "1 change on 1 cluster\nlarge/shop-web: 1.1 → 1.1 on 1 cluster (current)")
		r.ExpectEmptyPlan()
		r.observe(map[string]string{"c1": "1.1 current"})
		r.Apply()
		r.expectRecord(50, 1, "1 change on 1 cluster\nlarge/shop-web: 1.0 → none on 1 cluster (removed)")
		want := []string{"c1 1.1 current 00:40-", "c1 1.1 failed 00:30-00:40", "c1 1.0 current 00:10-00:30",
			"c2 1.0 current 00:10-00:50"}
		r.expectRuns(want...)

		r.argument("cluster", "c2")
		r.Apply()
		r.expectRuns(want[3])
		r.argument("cluster", nil)

		size = r.size()
		r.Succeed("destroy", "-no-color", "-auto-approve")
		r.Apply() // the store already contains this observation
		if r.size() != size {
			t.Errorf("the store was written: %s, then %s", size, r.size())
		}
		r.expectRuns(want...)

		// The record is renewed at the age of renew_after.
		r.argument("renew_after", "20m")
		r.Apply()
		r.observe(map[string]string{"c1": "1.1 current"})
		r.ExpectEmptyPlan()
		r.observe(map[string]string{"c1": "1.1 current"})
		r.Apply()
		r.expectRecord(70, 0, "0 changes on 0 clusters")
		r.expectRuns(want...)
		r.ExpectEmptyPlan()

		// The store loses all rows. The next apply records the current runs.
		r.empty()
		r.observe(map[string]string{"c1": "1.1 current", "c3": "1.1 current"})
		r.Apply()
		r.expectRecord(80, 2, "2 changes on 2 clusters\nlarge/shop-web: none → 1.1 on 2 clusters (current)")
		r.expectRuns("c1 1.1 current 01:20-", "c3 1.1 current 01:20-")
		r.ExpectEmptyPlan()

		// The state is lost. The store keeps the past runs, and the apply corrects the current runs.
		r.EmptyState()
		r.observe(map[string]string{"c1": "1.2 current", "c3": "1.1 current"})
		r.Apply()
		r.expectRuns("c1 1.2 current 01:30-", "c1 1.1 current 01:20-01:30", "c3 1.1 current 01:20-")

		// An observation that is older than the record is not recorded.
		r.clock -= 50
		size = r.size()
		r.observe(map[string]string{"c1": "0.9 current"})
		if o := r.Apply(); !strings.Contains(o.Text(), "A newer observation was already recorded") {
			t.Errorf("no warning: %s", o.Text())
		}
		if r.size() != size {
			t.Errorf("the store was written: %s, then %s", size, r.size())
		}
		r.clock += 50
		// The apply compares the observation with the store, even if the state contains an equal observation.
		r.observe(map[string]string{"c1": "0.9 current"})
		r.Apply()
		r.expectRuns("c1 0.9 current 01:50-", "c1 1.2 current 01:30-01:50", "c1 1.1 current 01:20-01:30",
			"c3 1.1 current 01:20-01:50")
		r.ExpectEmptyPlan()

		// In the store, the name prod belongs to the earlier path, so the record of another path needs another name.
		r.observe(map[string]string{"c1": "2.0 current"}, func(o *observation.Observation) { o.Path = "elsewhere" })
		r.ExpectError([]string{"The record can't be stored", `"prod" in the store belongs to branch "prod"`,
			"set environment to another name"}, "apply", "-no-color", "-auto-approve")
		r.argument("environment", "prod-elsewhere")
		r.Apply()
		r.expectRecord(120, 1, "1 change on 1 cluster\nlarge/shop-web: none → 2.0 on 1 cluster (current)")
	})
}

// Errors in arguments fail the plan.
func TestAccDeploymentRecordErrors(t *testing.T) {
	t.Parallel()
	r := newRecordRoots(t)["postgres"](t)
	r.Set("deployment", map[string]any{"head": "head", "verdict": "success"})
	r.ExpectError([]string{"No observation", "Set versions = true"}, "plan", "-no-color")
	r.Set("deployment", map[string]any{"head": "head", "observation": "canary"})
	r.ExpectError([]string{"Invalid observation", "must come from kalypso_deployment_state"}, "plan", "-no-color")

	// Without a head nothing is recorded, and the store is not needed.
	r.Set("deployment", map[string]any{"head": nil, "observation": nil})
	r.Apply("-target=kalypso_deployment_record.this")
	var got map[string]any
	r.Output("record", &got)
	if diff := cmp.Diff(map[string]any{"at": nil, "changes": 0.0, "summary": nil}, got); diff != "" {
		t.Errorf("without a head (-want +got)\n%s", diff)
	}

	r.observe(map[string]string{"c1": "1.0 current"})
	url := r.Vars["postgres_url"]
	for bad, says := range map[string]string{
		"postgres://me:canary-me@db.acme.io/k?sslmode=require": "would not verify the server",
		"host=db.acme.io password=canary-me":                   "can't be parsed",
	} {
		r.Set("postgres_url", bad)
		r.ExpectError([]string{"Invalid URL of PostgreSQL", says}, "plan", "-no-color")
	}
	r.Set("postgres_url", nil)
	r.ExpectError([]string{"PostgreSQL is not configured", "KALYPSO_POSTGRES_URL"}, "plan", "-no-color")
	r.Set("postgres_url", url)
	r.Set("store", map[string]any{"postgres": map[string]any{"schema": "pg_own"}})
	r.ExpectError([]string{"Invalid schema"}, "plan", "-no-color")
	r.Set("store", map[string]any{"postgres": map[string]any{},
		"git": map[string]any{"repo": "file:///none", "branch": "history"}})
	r.ExpectError([]string{"Invalid Attribute Combination"}, "plan", "-no-color")
	r.Set("store", map[string]any{"git": map[string]any{"repo": "file:///none", "branch": "history"}})
	r.argument("history", map[string]any{"deployments": []any{}})
	r.ExpectError([]string{"Conflicting arguments", "remove history"}, "plan", "-no-color")
	if strings.Contains(r.Printed.String(), "canary") {
		t.Error("a secret was printed")
	}
}

// If the database is down, the plan warns, and the apply fails. No output and no state contains the password.
func TestAccDeploymentRecordUnavailable(t *testing.T) {
	t.Parallel()
	db := pgserver.Start(t)
	r := &recordRoot{Root: acc.NewRootFrom(t, "testdata/TestAccDeploymentRecord"), gitops: gitserver.InitBare(t)}
	r.Vars = map[string]any{"store": map[string]any{"postgres": map[string]any{}}, "arguments": map[string]any{}}
	r.Vars["gitops"], r.Vars["postgres_url"] = "file://"+r.gitops, db.Database(t)
	r.Env = append(r.Env, "TF_LOG=TRACE")
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Format(time.RFC3339)
	r.argument("history", map[string]any{"deployments": []any{map[string]any{"first_commit": "f", "commit": "c",
		"started_at": at, "kind": "first", "failed": false, "folders": []string{"large"}}}})
	r.observe(map[string]string{"c1": "1.0 current"})
	r.Apply()
	r.ExpectEmptyPlan()
	deployments := pgserver.Select(t, fmt.Sprint(r.Vars["postgres_url"]),
		"SELECT environment, first_commit, kind FROM kalypso.deployments")
	if strings.Join(deployments, ", ") != "prod f first" {
		t.Errorf("deployments %v", deployments)
	}

	db.Kill()
	r.observe(map[string]string{"c1": "1.1 current"})
	targeted := "-target=kalypso_deployment_record.this"
	o := r.Terraform("plan", "-no-color", "-detailed-exitcode", targeted)
	if o.Code != 2 || !strings.Contains(o.Stdout, "The store can't be read") {
		t.Errorf("the plan without a store ended with %d: %s", o.Code, o.Stdout)
	}
	r.ExpectError([]string{"The record can't be stored", "PostgreSQL at 127.0.0.1:" + db.Port, "Nothing was recorded"},
		"apply", "-no-color", "-auto-approve", targeted)
	db.Run(t)
	r.observe(map[string]string{"c1": "1.1 current"})
	r.Apply()
	r.expectRuns("c1 1.1 current 00:30-", "c1 1.0 current 00:10-00:30")

	state := acc.ToJSON(t, r.StateFile())
	for name, text := range map[string]string{"the output": r.Printed.String(), "the state": state} {
		if strings.Contains(text, pgserver.Password) {
			t.Errorf("%s contains the password", name)
		}
	}
}
