package postgres_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/postgres"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/pgserver"
)

// runsVariable is the environment variable with the number of runs for [BenchmarkQueries].
const runsVariable = "KALYPSO_RUNS"

// fill fills the tables with runs by SQL. Each cluster has 100 deployment targets, and each of them 10 runs, the last
// of which has not ended. One in 1,000 targets fails.
func fill(b *testing.B, url string, runs int) {
	b.Helper()
	schema, err := os.ReadFile("schema.sql")
	if err != nil {
		b.Fatal(err)
	}
	pgserver.Exec(b, url, "CREATE SCHEMA kalypso; SET search_path = kalypso; "+string(schema)+`;
		SET session_replication_role = replica; -- foreign keys are right, and take most of the time
		INSERT INTO environment (name, repo, branch, path, observed_at, observation)
			VALUES ('prod', 'https://acme.io/gitops', 'prod', '.', '2026-04-11', 'hash');
		INSERT INTO observation SELECT 1, timestamptz '2026-01-01' + n * interval '1 hour', 'head', 'c', 'success', NULL, 1
			FROM generate_series(0, 2399) AS n;
		INSERT INTO version (repo, path, content, version, commit, workload, workspace)
			SELECT 'r', 'target-' || t, 'tree ' || v, 'v' || v, 'commit ' || v, 'w', 's'
			FROM generate_series(0, 99) AS t, generate_series(0, 9) AS v;
		INSERT INTO instance (environment_id, cluster, cluster_type, deployment_target)
			SELECT 1, 'cluster-' || c, 'edge', 'target-' || t
			FROM generate_series(1, `+strconv.Itoa(runs/1000)+`) AS c, generate_series(0, 99) AS t;
		INSERT INTO run (instance_id, since, until, version_id, state)
			SELECT i.id, timestamptz '2026-01-01' + (n * 10 + (i.id % 9)) * interval '1 day',
				CASE WHEN n < 9 THEN timestamptz '2026-01-01' + (n * 10 + 10 + (i.id % 9)) * interval '1 day' END,
				(i.id * 7 % 100) * 10 + n + 1, CASE WHEN n = 9 AND i.id % 1000 = 0 THEN 'failed' ELSE 'current' END
			FROM instance AS i, generate_series(0, 9) AS n;
		INSERT INTO delivery (environment_id, first_commit, commit, started_at, delivered_at, kind, failed, lead_time_seconds)
			SELECT 1, 'f' || n, 'f' || n, timestamptz '2026-01-01' + n * interval '6 hours',
				timestamptz '2026-01-01' + n * interval '6 hours', 'promotion', n % 7 = 0, 3600
			FROM generate_series(0, 399) AS n;
		ANALYZE;`)
}

// BenchmarkQueries measures the queries of the dashboard and of the provider over 1,000,000 runs, or the number in
// KALYPSO_RUNS. The bounds are for 10,000,000 on two idle cores: 0.1 s for a cluster, 2 s for a deployment target, and
// 5 s for an environment. It also reports the server's processor time, which is more reliable on a busy machine.
func BenchmarkQueries(b *testing.B) {
	runs := 1_000_000
	if text := os.Getenv(runsVariable); text != "" {
		var err error
		runs, err = strconv.Atoi(text)
		if err != nil {
			b.Fatal(err)
		}
	}
	db := pgserver.Start(b)
	url := db.Database(b)
	fill(b, url, runs)
	g := grafana{from: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), to: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		variables: map[string][]string{"environment": {"prod"}, "target": {"target-7"}, "cluster": {"cluster-7"},
			"silent_after": {"25 hours"}}}
	measure := func(name string, bound time.Duration, query func() int) {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			query() // fills the caches of the server
			least, cpu, rows := time.Hour, time.Hour, 0
			for range 3 {
				spent, start := db.Processor(b), time.Now()
				rows = query()
				least = min(least, time.Since(start))
				cpu = min(cpu, db.Processor(b)-spent)
			}
			b.ReportMetric(least.Seconds(), "s")
			b.ReportMetric(cpu.Seconds(), "cpu-s")
			b.ReportMetric(float64(rows), "rows")
			if rows == 0 || least > bound {
				b.Errorf("%d rows in %s; the bound is %s", rows, least, bound)
			}
		})
	}
	const cluster, target, environment = 100 * time.Millisecond, 2 * time.Second, 5 * time.Second
	d := readDashboard(b)
	for _, p := range d.Panels {
		bound := environment
		for text, of := range map[string]time.Duration{"$cluster": cluster, "$target": target} {
			if strings.Contains(p.Title, text) {
				bound = of
			}
		}
		sql := g.expand(b, p.Targets[0].RawSQL)
		if p.Title == "Failing" { // nothing fails in the past
			sql = strings.ReplaceAll(sql, "2026-03-01", "2026-04-11")
		}
		measure(p.Title, bound, func() int { return len(pgserver.Select(b, url, sql)) })
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			sql := g.expand(b, v.Query)
			measure("variable "+v.Name, environment, func() int { return len(pgserver.Select(b, url, sql)) })
		}
	}
	s, err := postgres.Open(postgres.Settings{URL: url})
	if err != nil {
		b.Fatal(err)
	}
	one := func(text string) *string { return &text }
	for _, read := range []struct {
		name  string
		bound time.Duration
		query history.Query
	}{
		{"read a cluster", cluster, history.Query{Cluster: one("cluster-7")}},
		{"read a target", target, history.Query{Target: one("target-7")}},
		{"read an environment", environment, history.Query{}},
	} {
		read.query.Environment, read.query.Limit = "prod", 100
		read.query.Since, read.query.Until = g.from, g.to
		measure(read.name, read.bound, func() int {
			past, err := s.Read(context.Background(), read.query)
			if err != nil || len(past.Versions) == 0 {
				b.Fatalf("%d versions, %v", len(past.Versions), err)
			}
			return len(past.Runs)
		})
	}
}
