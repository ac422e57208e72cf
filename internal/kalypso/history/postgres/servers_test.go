package postgres_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/postgres"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/pgserver"
)

// A trigger or a policy of the database may drop a row of a run without an error. Then the record fails, and none of
// its rows is stored.
func TestDroppedRows(t *testing.T) {
	t.Parallel()
	db := pgserver.Start(t)
	loopback := db.Database(t)
	s := open(t, db.PgBouncer(t, loopback))
	mustRecord(t, s, nil, observed(1, "a"))
	pgserver.Exec(t, loopback, `CREATE FUNCTION drop_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
	other := observed(2, "b")
	other.Groups[0].Members[0].Cluster = "c2"
	elsewhere := observed(2, "a")
	elsewhere.Environment = "elsewhere"
	for _, test := range []struct {
		event, table string
		recording    history.Write
	}{
		{"INSERT", "run", history.Write{Previous: observed(1, "a"), Observation: observed(2, "b")}},
		{"UPDATE", "run", history.Write{Previous: observed(1, "a"), Observation: observed(2, "b")}},
		{"INSERT", "instance", history.Write{Previous: observed(1, "a"), Observation: other}},
		{"INSERT", "observation", history.Write{Previous: observed(1, "a"), Observation: observed(2, "a")}},
		{"UPDATE", "environment", history.Write{Previous: observed(1, "a"), Observation: observed(2, "a")}},
		{"INSERT", "environment", history.Write{Observation: elsewhere}},
		{"INSERT", "version", history.Write{Previous: observed(1, "a"), Observation: observed(2, "never stored")}},
	} {
		pgserver.Exec(t, loopback, "CREATE TRIGGER drop_row BEFORE "+test.event+" ON kalypso."+test.table+
			" FOR EACH ROW EXECUTE FUNCTION drop_row()")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err := s.Record(ctx, test.recording)
		cancel()
		expectError(t, err, test.table, "A trigger, a rule or a row-level policy")
		pgserver.Exec(t, loopback, "DROP TRIGGER drop_row ON kalypso."+test.table)
		rows := pgserver.Select(t, loopback, "SELECT count(*), (SELECT count(*) FROM kalypso.observation), "+
			"(SELECT count(*) FROM kalypso.run WHERE until IS NULL) FROM kalypso.run")
		if strings.Join(rows, "") != "1 1 1" {
			t.Errorf("%s %s: %s runs, observations and open runs", test.event, test.table, rows)
		}
	}
	if _, err := s.Record(t.Context(), history.Write{Previous: observed(1, "a"), Observation: other}); err != nil {
		t.Error(err)
	}
}

// A restored dump may add rows to schema_version. Then the row with the highest min_writer is used.
func TestSeveralSchemaVersions(t *testing.T) {
	t.Parallel()
	db := pgserver.Start(t)
	loopback := db.Database(t)
	s := open(t, db.PgBouncer(t, loopback))
	mustRecord(t, s, nil, observed(1, "a"))
	for _, rows := range []string{"(1, 1), (2, 2)", "(2, 2), (1, 1)"} {
		pgserver.Exec(t, loopback, "TRUNCATE kalypso.schema_version", "INSERT INTO kalypso.schema_version VALUES "+rows)
		_, err := record(t, s, observed(1, "a"), observed(2, "b"))
		expectError(t, err, "the schema has version 2", "use a newer provider")
	}
	pgserver.Exec(t, loopback, "TRUNCATE kalypso.schema_version")
	begun := time.Now()
	_, err := record(t, s, observed(1, "a"), observed(2, "b"))
	expectError(t, err, "schema_version is empty", postgres.SchemaFile)
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("the error took %s", took)
	}
}

// The URL leads in turn to two servers, of which only one has the schema. So each record finds that the schema is
// missing, and each attempt to create it finds that it exists. This must end with an error.
func TestSchemaOnOneOfTwoServers(t *testing.T) {
	t.Parallel()
	empty, filled := pgserver.Start(t), pgserver.Start(t)
	mustRecord(t, open(t, filled.URL("postgres")), nil, observed(1, "a"))
	var connections atomic.Int32
	address := listen(t, func(client net.Conn) {
		to := []*pgserver.Server{empty, filled}[(connections.Add(1)-1)%2]
		backend, err := net.Dial("tcp", "127.0.0.1:"+to.Port)
		if err != nil {
			return
		}
		defer backend.Close()
		go func() {
			_, _ = io.Copy(client, backend)
			_ = client.Close()
		}()
		_, _ = io.Copy(backend, client)
	})
	begun := time.Now()
	_, err := record(t, open(t, at(t, empty.URL("postgres"), address)), nil, observed(1, "a"))
	expectError(t, err, "the schema is missing again", "several servers")
	if took, n := time.Since(begun), connections.Load(); took > 15*time.Second || took < time.Second || n > 20 {
		t.Errorf("%d connections in %s", n, took)
	}
}

// listen returns an address on loopback, and calls serve for each connection to it until the test ends.
func listen(t *testing.T, serve func(client net.Conn)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				serve(client)
			}()
		}
	}()
	return listener.Addr().String()
}

// at returns a URL with another host and port.
func at(t *testing.T, text, address string) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = address
	return u.String()
}
