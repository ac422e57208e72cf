package history_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/historylookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/seeds"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/pgserver"
)

// pipelineRun is one run of the pipeline, in which it observes the clusters.
type pipelineRun struct {
	observedVerdict
	now  *observation.Observation
	lost bool // Terraform's state is lost before the run
	due  bool // the observation must be recorded, since it differs from the last one
}

// days simulates an environment with a pipeline that delivers and observes the clusters.
type days struct {
	*pipeline
	truth        model
	pipelineRuns []pipelineRun
	gitops       string // the path of the GitOps repo
	source       string // the path of the control plane's repo
	// real translates hashes of the simulation to hashes of Git, made the other way round.
	real, made map[string]string
}

// simulate simulates a number of days.
func simulate(random *rand.Rand, n int) *days {
	d := &days{pipeline: &pipeline{Rand: random, sources: []int{0}}, truth: model{}}
	c := &clusters{Rand: random, run: map[string]report{}}
	verdict, promoted := "", ""
	for d.now < n*24*60 {
		before := len(d.seen)
		d.step()
		if len(d.seen) == before {
			continue
		}
		l := pipelineRun{observedVerdict: d.seen[before], lost: len(d.pipelineRuns) == 0 || random.IntN(30) == 0}
		// Two observations in one minute are one second apart.
		c.now = max(c.now+1000, observation.Millis(minute(l.at)))
		c.change()
		var reports map[string]report
		reports, l.now = c.observe()
		l.now.Verdict, l.now.VerdictSince, l.now.PromotedCommit = l.verdict, minute(l.since), ""
		if r := d.branch[l.head].Record; r != nil {
			l.now.PromotedCommit = r.PromotedCommit
		}
		changes := d.truth.record(reports, len(l.now.Unanswered) == 0, c.now)
		l.due = l.lost || changes || verdict != l.verdict || promoted != l.now.PromotedCommit
		if l.due {
			verdict, promoted = l.verdict, l.now.PromotedCommit
		} else {
			d.seen = d.seen[:before] // what is not recorded does not count for the deliveries
		}
		d.pipelineRuns = append(d.pipelineRuns, l)
	}
	return d
}

// write writes the branches of the simulation to repos.
func (d *days) write(t *testing.T) {
	t.Helper()
	d.gitops, d.source = gitserver.InitBare(t), gitserver.InitBare(t)
	d.real, d.made = map[string]string{"": ""}, map[string]string{"": ""}
	script := func(repo, branch string, commits []string) []string {
		gitserver.FastImport(t, repo, strings.Join(commits, ""))
		return strings.Fields(gitserver.Git(t, repo, "rev-list", "--reverse", branch))
	}
	head := func(branch, author string, at time.Time, message string) string {
		return fmt.Sprintf("commit refs/heads/%s\nauthor %s 0 +0000\ncommitter Bot <bot@acme.io> %d +0000\ndata %d\n%s\n",
			branch, author, at.Unix(), len(message), message)
	}
	var commits []string
	for n, at := range d.sources {
		commits = append(commits, head("main", "Ann <ann@acme.io>", minute(at), fmt.Sprint("source ", n)))
	}
	for n, hash := range script(d.source, "main", commits) {
		d.real[sourceHash(n)], d.made[hash] = hash, sourceHash(n)
	}
	commits = nil
	for _, c := range d.branch {
		text := head("prod", c.Author, c.Time, c.Subject) + "deleteall\n"
		if c.Record != nil {
			folders := slices.Collect(maps.Keys(c.Folders))
			r := record.New(c.Record.Environment, folders, d.real[c.Record.PromotedCommit], nil, nil)
			r.Promotion, r.Rollout = c.Record.Promotion, c.Record.Rollout
			r.Promotion.RolledBack = d.real[c.Record.Promotion.RolledBack]
			files := map[string]string{record.File: string(r.Marshal())}
			for name, content := range c.Folders {
				files[name+"/web.yaml"] = content
			}
			for name, content := range files {
				text += fmt.Sprintf("M 100644 inline %s\ndata %d\n%s\n", name, len(content), content)
			}
		}
		commits = append(commits, text)
	}
	for n, hash := range script(d.gitops, "prod", commits) {
		d.real[d.branch[n].Hash], d.made[hash] = hash, d.branch[n].Hash
	}
}

// read reads the history as the data source does, with the deliveries and runs in a store.
func (d *days) read(t *testing.T, s history.Store, since, until int) history.History {
	t.Helper()
	client, err := gitremote.NewClient(nil)
	if err != nil {
		t.Fatal(err)
	}
	request := historylookup.Request{Client: client, GitOps: destination.New("file://"+d.gitops, "prod", "."),
		Since: minute(since), Until: minute(until)}
	request.ControlPlane.Repo, request.ControlPlane.Branch = "file://"+d.source, "main"
	past, err := s.Read(t.Context(), history.Query{Repo: "https://acme.io/gitops", Branch: "prod", Path: ".",
		Since: request.Since, Until: request.Until, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	request.Observed = past.Observed
	h, err := historylookup.Read(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// convert converts a history to expectations with the hashes of the simulation.
func (d *days) convert(h history.History) ([]expectation, string) {
	deliveries, metrics := describe(h)
	for i := range deliveries {
		e := &deliveries[i]
		for _, hash := range []*string{&e.First, &e.Last, &e.Promoted, &e.Previous} {
			*hash = d.made[*hash]
		}
	}
	return deliveries, metrics
}

// rows returns the deliveries of a history for the record.
func rows(h history.History) (rows []history.Delivery) {
	for _, d := range h.Deliveries {
		rows = append(rows, *d)
	}
	return rows
}

// recordAll records all observations, each twice. Some records also get the deliveries up to their time.
func (d *days) recordAll(t *testing.T, p place) {
	t.Helper()
	s := p.open(t)
	var was *observation.Observation
	for i, l := range d.pipelineRuns {
		now := *l.now
		now.Head, now.PromotedCommit = d.real[d.branch[l.head].Hash], d.real[now.PromotedCommit]
		if l.lost {
			was = nil
		}
		if due := history.Due(was, &now, 0); due != l.due {
			t.Fatalf("run %d of the pipeline: due is %t", i, due)
		}
		if !l.due {
			continue
		}
		r := history.Write{Previous: was, Observation: &now}
		if i%40 == 20 {
			gitserver.Git(t, d.gitops, "update-ref", "refs/heads/prod", now.Head)
			r.Deliveries = rows(d.read(t, s, 0, d.now+1))
		}
		done, err := s.Record(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		was = done.Present
		before := p.size(t)
		r.Previous = was
		if i%3 == 0 {
			r.Previous = nil
		}
		if again, err := s.Record(t.Context(), r); err != nil || again.Changes != 0 || p.size(t) != before {
			t.Fatalf("run %d of the pipeline, recorded twice: %+v, %v, from %s to %s", i, again, err, before, p.size(t))
		}
	}
	// One more record contains the deliveries up to the end.
	gitserver.Git(t, d.gitops, "update-ref", "refs/heads/prod", d.real[d.branch[len(d.branch)-1].Hash])
	last := *was
	last.ObservedAt = last.ObservedAt.Add(time.Second)
	write := history.Write{Previous: was, Observation: &last, Deliveries: rows(d.read(t, s, 0, d.now+1))}
	_, err := s.Record(t.Context(), write)
	if err != nil {
		t.Fatal(err)
	}
}

// TestSimulatedDays simulates many days of deliveries, rollbacks and abandoned rollouts, with clusters that are added,
// removed and offline. Each store, and SQL, must return every delivery, metric and run, and the versions at random
// times.
func TestSimulatedDays(t *testing.T) {
	slow.Skip(t)
	t.Parallel()
	n, moments := 20, 20
	if seeds.Long() {
		n, moments = 200, 500
	}
	for name, empty := range stores(t) {
		t.Run(name, func(t *testing.T) {
			for seed := range seeds.Of(t, 1, 3) {
				d := simulate(rand.New(rand.NewPCG(seed, 200)), n)
				d.write(t)
				p := empty(t)
				d.recordAll(t, p)
				d.check(t, p, moments)
				t.Logf("%d days: %d commits, %d deliveries, %d observations, %d runs", n, len(d.branch), len(d.pipeline.made),
					len(d.pipelineRuns), len(d.truth.texts()))
			}
		})
	}
}

// check compares the content of a store and of Git with the simulation.
func (d *days) check(t *testing.T, p place, moments int) {
	t.Helper()
	s := p.open(t)
	past, err := s.Read(t.Context(), everything("prod"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d.truth.texts(), textsOf(past.Runs)); diff != "" {
		t.Fatalf("runs (-want +got)\n%s", diff)
	}
	for i := range 8 {
		since := d.IntN(d.now)
		until := since + 1 + d.IntN(d.now)
		if i == 0 {
			since, until = 0, d.now+1
		}
		want, metrics := d.want(since, until)
		deliveries, gotMetrics := d.convert(d.read(t, s, since, until))
		if diff := cmp.Diff(want, deliveries); diff != "" || metrics != gotMetrics {
			t.Fatalf("%d to %d (-want +got)\n%s\nmetrics %s, want %s", since, until, diff, gotMetrics, metrics)
		}
	}
	for range moments {
		checkMoment(t, p, s, d.truth, observation.Millis(minute(d.IntN(d.now))))
	}
	if db, ok := p.(*databasePlace); ok {
		d.checkViews(t, db.url)
	}
}

// checkViews compares the views of the database with the simulation.
func (d *days) checkViews(t *testing.T, url string) {
	t.Helper()
	runs := pgserver.Select(t, url, `
		SELECT cluster, cluster_type || '/' || deployment_target, coalesce(version, ''), state,
		(extract(epoch FROM since) * 1000)::bigint || '-' || coalesce((extract(epoch FROM until) * 1000)::bigint, 0)
		FROM kalypso.runs WHERE environment = 'prod'`)
	slices.Sort(runs)
	if diff := cmp.Diff(d.truth.texts(), runs); diff != "" {
		t.Errorf("the view runs (-want +got)\n%s", diff)
	}
	want, _ := d.want(0, d.now+1)
	var texts []string
	for _, e := range want {
		commits, _, _ := strings.Cut(e.Commits, " ")
		texts = append(texts, strings.Join([]string{d.real[e.First], d.real[e.Last], e.Started, e.Delivered, e.Kind,
			d.real[e.Promoted], d.real[e.Previous], commits, e.Reason, e.Lead, e.Running, e.Failed, e.Restored}, "|"))
	}
	slices.Sort(texts)
	const stamp = `coalesce(to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), '')`
	columns := []string{"first_commit", "commit", fmt.Sprintf(stamp, "started_at"), fmt.Sprintf(stamp, "delivered_at"),
		"kind", "coalesce(promoted_commit, '')", "coalesce(previous_commit, '')", "commits::text", "reason",
		"coalesce(lead_time_seconds::text, 'none')", fmt.Sprintf(stamp, "running_at"), fmt.Sprintf(stamp, "failed_at"),
		fmt.Sprintf(stamp, "restored_at")}
	deployments := pgserver.Select(t, url, "SELECT concat_ws('|', "+strings.Join(columns, ", ")+
		") FROM kalypso.deployments WHERE environment = 'prod'")
	slices.Sort(deployments)
	if diff := cmp.Diff(texts, deployments); diff != "" {
		t.Errorf("the view deployments (-want +got)\n%s", diff)
	}
}
