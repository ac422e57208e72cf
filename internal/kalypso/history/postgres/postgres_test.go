package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/observation"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/postgres"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/pgserver"
)

// observed returns an observation of a cluster that runs a version.
func observed(hour int, version string) *observation.Observation {
	return &observation.Observation{Environment: "prod", Repo: "https://acme.io/gitops", Branch: "prod", Path: ".",
		ObservedAt: time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC), Verdict: "success",
		Groups: []observation.Group{{Place: observation.Place{ClusterType: "large", Target: "web"},
			Condition: observation.Condition{State: "current",
				Version: observation.Version{Version: version, Content: version}},
			Members: []observation.Member{{Cluster: "c1"}}}}}
}

func open(t *testing.T, url string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(postgres.Settings{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func record(t *testing.T, s *postgres.Store, was, now *observation.Observation) (history.WriteResult, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return s.Record(ctx, history.Write{Previous: was, Observation: now})
}

func mustRecord(t *testing.T, s *postgres.Store, was, now *observation.Observation) {
	t.Helper()
	if _, err := record(t, s, was, now); err != nil {
		t.Fatal(err)
	}
}

// expectError checks that an error contains texts, and no password.
func expectError(t *testing.T, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one that contains %q", texts)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%v\ndoes not contain %q", err, text)
		}
	}
	if strings.Contains(err.Error(), pgserver.Password) || strings.Contains(err.Error(), "canary") {
		t.Errorf("the password is in %v", err)
	}
}

func TestSettings(t *testing.T) {
	for _, name := range []string{"PGSSLMODE", "PGHOST", "PGPASSWORD", "PGSSLROOTCERT", "PGSERVICE"} {
		t.Setenv(name, "")
		_ = os.Unsetenv(name)
	}
	const user = "postgres://me:canary-password@"
	for _, test := range []struct {
		url, sslmode string // sslmode is the value of PGSSLMODE
		want         error
	}{
		{user + "db.acme.io/kalypso", "", nil},
		{user + "db.acme.io/kalypso?application_name=x", "", nil},
		{user + "db.acme.io/kalypso?sslmode=verify-full", "", nil},
		{user + "db.acme.io/kalypso?sslmode=verify-ca", "", nil},
		{user + "db.acme.io/kalypso", "verify-ca", nil},
		{user + "db.acme.io/kalypso?sslmode=disable", "", postgres.ErrInsecure},
		{user + "db.acme.io/kalypso?sslmode=allow", "", postgres.ErrInsecure},
		{user + "db.acme.io/kalypso?sslmode=prefer", "", postgres.ErrInsecure},
		{user + "db.acme.io/kalypso?sslmode=require", "", postgres.ErrInsecure},
		{user + "db.acme.io/kalypso?ssl=true", "", postgres.ErrInsecure},
		{user + "db.acme.io/kalypso?sslmode=verify-full&sslmode=disable", "", postgres.ErrInsecure},
		{user + "db.acme.io/kalypso", "require", postgres.ErrInsecure},
		{user + "127.0.0.1,db.acme.io/kalypso?sslmode=disable", "", postgres.ErrInsecure},
		{user + "127.0.0.1/kalypso?sslmode=disable&host=db.acme.io", "", postgres.ErrInsecure},
		{user + "127.0.0.1/kalypso?sslmode=disable", "", nil},
		{user + "localhost/kalypso?sslmode=prefer", "", nil},
		{user + "[::1]:5432/kalypso?sslmode=disable", "", nil},
		{"postgresql:///kalypso?host=/run/postgresql&sslmode=disable", "", nil},
		{"host=db.acme.io password=canary-password", "", postgres.ErrURL},
		{"https://me:canary-password@db.acme.io", "", postgres.ErrURL},
		{user + "db.acme.io:port/kalypso", "", postgres.ErrURL},
		{"postgres://me:canary-%zz@db.acme.io/kalypso", "", postgres.ErrURL},
		{"postgres://me@db.acme.io/kalypso?password=canary-%zz", "", postgres.ErrURL},
		{user + "db.acme.io/kalypso?sslmode=canary", "", postgres.ErrURL},
		{"", "", postgres.ErrURL},
	} {
		t.Setenv("PGSSLMODE", test.sslmode)
		if test.sslmode == "" {
			_ = os.Unsetenv("PGSSLMODE")
		}
		_, err := postgres.Open(postgres.Settings{URL: test.url})
		if !errors.Is(err, test.want) || err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%s with PGSSLMODE=%s: %v", test.url, test.sslmode, err)
		}
	}
	_, err := postgres.Open(postgres.Settings{URL: user + "db.acme.io/kalypso?sslrootcert=/none/ca.pem"})
	expectError(t, err, "can't be read", "/none/ca.pem")
	for _, schema := range []string{"pg_catalog", strings.Repeat("x", 64), "a\x00b"} {
		_, err := postgres.Open(postgres.Settings{URL: user + "db.acme.io/k", Schema: schema})
		if !errors.Is(err, postgres.ErrSchema) {
			t.Errorf("schema %q: %v", schema, err)
		}
	}
}

// The schema file for users has the same SQL as schema.sql, with which the first record creates the schema.
func TestSchemaFile(t *testing.T) {
	own, err := os.ReadFile("schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("../../../../" + postgres.SchemaFile)
	if err != nil || string(own) != string(example) {
		t.Errorf("%s differs from schema.sql, %v: cp internal/kalypso/history/postgres/schema.sql %[1]s",
			postgres.SchemaFile, err)
	}
}

// A store works over each kind of connection: loopback, verified TLS, a socket, and a pool that gives each transaction
// another connection. None of them uses the proxies of the environment.
func TestConnections(t *testing.T) {
	for _, name := range []string{"ALL_PROXY", "HTTPS_PROXY"} {
		t.Setenv(name, "socks5://127.0.0.1:1")
	}
	db := pgserver.Start(t)
	loopback := db.Database(t)
	for _, url := range []string{
		loopback, db.TLSURL(loopback), db.SocketURL(loopback), db.PgBouncer(t, loopback),
	} {
		s := open(t, url)
		last, err := s.Snapshot(t.Context(), "prod")
		if err != nil {
			t.Fatal(err)
		}
		hour := last.ObservedAt.Hour() + 1
		mustRecord(t, s, nil, observed(hour, url))
		last, err = s.Snapshot(t.Context(), "prod")
		if err != nil || last.ObservedAt.Hour() != hour {
			t.Errorf("%s: %v, %v", url, last, err)
		}
	}
	// The certificate is for 127.0.0.1, from an unknown authority.
	unverified := strings.Replace(loopback, "?sslmode=disable", "", 1)
	begun := time.Now()
	_, err := open(t, unverified).Snapshot(t.Context(), "prod")
	expectError(t, err, "PostgreSQL at 127.0.0.1:"+db.Port, "certificate can't be verified", "sslrootcert",
		"sslmode is verify-full")
	other := strings.Replace(db.TLSURL(loopback), "127.0.0.1", "localhost", 1)
	_, err = open(t, other).Snapshot(t.Context(), "prod")
	expectError(t, err, "certificate can't be verified", "sslmode=verify-ca")
	pool := strings.Replace(db.PgBouncer(t, loopback), "?sslmode=disable", "", 1) // it has no TLS
	_, err = open(t, pool).Snapshot(t.Context(), "prod")
	expectError(t, err, "the server has no TLS", "sslmode is verify-full", "sslmode=disable")
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("a certificate was tried for %s", took)
	}
}

// TestRefusals checks that the error for each refusal of a server says what to do.
func TestRefusals(t *testing.T) {
	t.Parallel()
	db := pgserver.Start(t)
	loopback := db.Database(t)
	s := open(t, loopback)
	as := func(user, password string) string {
		return strings.Replace(loopback, pgserver.User+":"+pgserver.Password, user+":"+password, 1)
	}
	pgserver.Exec(t, loopback, "CREATE ROLE guest LOGIN PASSWORD 'canary-guest'",
		"CREATE ROLE writer LOGIN PASSWORD 'canary-writer'")

	_, err := record(t, open(t, as(pgserver.User, "canary-wrong")), nil, observed(1, "a"))
	expectError(t, err, "PostgreSQL at 127.0.0.1:"+db.Port, `database "db1"`, "Check the user and the password", "28P01")
	_, err = record(t, open(t, strings.Replace(loopback, "/db1", "/nowhere", 1)), nil, observed(1, "a"))
	expectError(t, err, "Create the database")
	_, err = record(t, open(t, as("guest", "canary-guest")), nil, observed(1, "a"))
	expectError(t, err, "permission denied for database", postgres.SchemaFile)

	// Another user creates the schema with the file. Then the writer can write, and the reader can read only the views.
	text, err := os.ReadFile("schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	pgserver.Exec(t, loopback, "CREATE SCHEMA kalypso; SET search_path = kalypso; "+string(text),
		"GRANT USAGE ON SCHEMA kalypso TO writer, guest", "GRANT SELECT ON kalypso.runs, kalypso.deployments TO guest",
		"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA kalypso TO writer")
	mustRecord(t, open(t, as("writer", "canary-writer")), nil, observed(1, "a"))
	mustRecord(t, open(t, as("writer", "canary-writer")), observed(1, "a"), observed(2, "b"))
	rows := pgserver.Select(t, as("guest", "canary-guest"), "SELECT version FROM kalypso.runs ORDER BY since")
	if strings.Join(rows, " ") != "a b" {
		t.Errorf("the reader sees %v", rows)
	}
	_, err = record(t, open(t, as("guest", "canary-guest")), nil, observed(3, "a"))
	expectError(t, err, "permission denied", postgres.SchemaFile)

	// A newer provider may raise the schema's version and min_writer. Then an older provider does not write, since its
	// rows might be wrong.
	pgserver.Exec(t, loopback, "UPDATE kalypso.schema_version SET version = 2; "+
		"ALTER TABLE kalypso.run ADD COLUMN more text")
	mustRecord(t, s, observed(2, "b"), observed(3, "c"))
	pgserver.Exec(t, loopback, "UPDATE kalypso.schema_version SET min_writer = 2")
	_, err = record(t, s, nil, observed(4, "d"))
	expectError(t, err, "the schema has version 2", "use a newer provider")
	if last, err := s.Snapshot(t.Context(), "prod"); err != nil || last.ObservedAt.Hour() != 3 {
		t.Errorf("reading a newer schema: %v, %v", last, err)
	}
	pgserver.Exec(t, loopback, "UPDATE kalypso.schema_version SET min_writer = 1", "DROP TABLE kalypso.delivery CASCADE")
	deliveries := []history.Delivery{{FirstCommit: "f"}}
	_, err = s.Record(t.Context(), history.Write{Observation: observed(4, "d"), Deliveries: deliveries})
	expectError(t, err, "delivery", "does not exist", "missing statements of "+postgres.SchemaFile)

	db.Standby(t)
	_, err = record(t, s, observed(3, "c"), observed(4, "d"))
	expectError(t, err, "read-write mode during recovery", "the primary server")
	if last, err := s.Snapshot(t.Context(), "prod"); err != nil || last.ObservedAt.Hour() != 3 {
		t.Errorf("reading a standby: %v, %v", last, err)
	}
}

// A delivery is one row, which later records update. A delivery that a later record does not contain is kept.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	db := pgserver.Start(t)
	loopback := db.Database(t)
	s := open(t, loopback)
	at, commits, lead := observed(1, "a").ObservedAt, 3, 90
	first := history.Delivery{FirstCommit: "f1", Commit: "c1", StartedAt: at, Kind: "first"}
	second := history.Delivery{FirstCommit: "f2", Commit: "c2", StartedAt: at, DeliveredAt: at, Author: "A <a@acme.io>",
		Kind: "promotion", PromotedCommit: "p2", PreviousCommit: "p1", Reason: "why", Commits: &commits, RunningAt: at,
		LeadTimeSeconds: &lead, FailedAt: at, RestoredAt: at, Failed: true}
	steps := [][]history.Delivery{{first}, {second, first}, {second}}
	for i, rows := range steps {
		now := observed(i+1, "a")
		if _, err := s.Record(t.Context(), history.Write{Observation: now, Deliveries: rows}); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			first.DeliveredAt, first.Commit = at, "c1b"
			steps[2] = append(steps[2], first)
		}
	}
	got := pgserver.Select(t, loopback, "SELECT xmin = (SELECT min(xmin::text)::xid FROM kalypso.delivery), "+
		"to_jsonb(d) - 'environment_id' FROM kalypso.delivery d ORDER BY first_commit")
	const moment = "2026-01-01T01:00:00+00:00"
	want := []string{
		"false map[author:<nil> commit:c1b commits:<nil> delivered_at:" + moment + " failed:false failed_at:<nil> " +
			"first_commit:f1 kind:first lead_time_seconds:<nil> previous_commit:<nil> promoted_commit:<nil> reason:<nil> " +
			"restored_at:<nil> running_at:<nil> started_at:" + moment + "]",
		"true map[author:A <a@acme.io> commit:c2 commits:3 delivered_at:" + moment + " failed:true failed_at:" + moment +
			" first_commit:f2 kind:promotion lead_time_seconds:90 previous_commit:p1 promoted_commit:p2 reason:why " +
			"restored_at:" + moment + " running_at:" + moment + " started_at:" + moment + "]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	columns := "first_commit, commit, failed"
	view := pgserver.Select(t, loopback, "SELECT environment, "+columns+" FROM kalypso.deployments ORDER BY first_commit")
	if strings.Join(view, ", ") != "prod f1 c1b false, prod f2 c2 true" {
		t.Errorf("the view has %v", view)
	}
}

// If the server restarts, the request is repeated. If the server is down or does not answer, the request fails within
// the timeout.
func TestUnavailableServer(t *testing.T) {
	t.Parallel()
	db := pgserver.Start(t)
	loopback := db.Database(t)
	s := open(t, loopback)
	mustRecord(t, s, nil, observed(1, "a"))

	// Another transaction has locked the environment's row.
	tx, err := pgserver.Connect(t, loopback).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT * FROM kalypso.environment FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err = s.Record(ctx, history.Write{Previous: observed(1, "a"), Observation: observed(2, "b")})
	if !errors.Is(err, history.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a locked row: %v", err)
	}
	expectError(t, err, "PostgreSQL at 127.0.0.1:"+db.Port, "does not answer in time")
	// Other environments do not wait, even if both add the same version.
	other := observed(2, "b")
	other.Environment = "dev"
	mustRecord(t, s, nil, other)

	// The server restarts while the record waits.
	recorded := make(chan error)
	go func() {
		_, err := s.Record(context.Background(), history.Write{Previous: observed(1, "a"), Observation: observed(2, "b")})
		recorded <- err
	}()
	waiting := "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
	for end := time.Now().Add(20 * time.Second); pgserver.Select(t, loopback, waiting)[0] == "0"; {
		if time.Now().After(end) {
			t.Fatal("the record does not wait")
		}
	}
	db.Kill()
	db.Run(t)
	if err := <-recorded; err != nil {
		t.Error(err)
	}
	runs := pgserver.Select(t, loopback, "SELECT version FROM kalypso.runs WHERE environment = 'prod' ORDER BY since")
	if strings.Join(runs, " ") != "a b" {
		t.Errorf("runs %v", runs)
	}

	db.Kill()
	_, err = record(t, s, observed(2, "b"), observed(3, "c"))
	if !errors.Is(err, history.ErrUnavailable) {
		t.Error(err)
	}
	expectError(t, err, "PostgreSQL at 127.0.0.1:"+db.Port, "connection refused")
	_, err = s.Snapshot(t.Context(), "prod")
	expectError(t, err, "connection refused")
	_, err = s.Read(t.Context(), history.Query{Environment: "prod"})
	expectError(t, err, "connection refused")
}

// If the connection is cut during the commit, another attempt checks whether the record was written, and does not write
// it twice.
func TestCommitWithoutAnswer(t *testing.T) {
	t.Parallel()
	db := pgserver.Start(t)
	loopback := db.Database(t)
	mustRecord(t, open(t, loopback), nil, observed(1, "a"))
	for _, before := range []bool{true, false} {
		proxy := db.CutAt(t, "commit", before)
		behind, err := url.Parse(loopback)
		if err != nil {
			t.Fatal(err)
		}
		behind.Host = proxy.Address
		last, err := open(t, loopback).Snapshot(t.Context(), "prod")
		if err != nil {
			t.Fatal(err)
		}
		hour := last.ObservedAt.Hour() + 1
		done, err := record(t, open(t, behind.String()), nil, observed(hour, behind.Host))
		if err != nil || !done.StoredAt.IsZero() || proxy.Cuts() != 1 {
			t.Errorf("cut before the commit %t: %+v, %v, %d cuts", before, done, err, proxy.Cuts())
		}
		counts := pgserver.Select(t, loopback, "SELECT count(*), (SELECT count(*) FROM kalypso.run) FROM kalypso.observation")
		if want := fmt.Sprint(hour, " ", hour); counts[0] != want {
			t.Errorf("cut before the commit %t: %s observations and runs, want %s", before, counts[0], want)
		}
	}
}
