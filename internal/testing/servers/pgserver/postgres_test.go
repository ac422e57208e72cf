package pgserver_test

import (
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/pgserver"
)

// TestServer checks that a database can be reached on loopback, with TLS, and on the socket, and that it still exists
// after the server was killed.
func TestServer(t *testing.T) {
	t.Parallel()
	s := pgserver.Start(t)
	loopback := s.Database(t)
	pgserver.Exec(t, loopback, "CREATE TABLE word AS SELECT 'kept' AS text")
	s.Kill()
	s.Run(t)
	for name, url := range map[string]string{
		"loopback": loopback,
		"TLS":      s.TLSURL(loopback),
		"socket":   s.SocketURL(loopback),
	} {
		conn := pgserver.Connect(t, url)
		var got string
		if err := conn.QueryRow(t.Context(), "SELECT text FROM word").Scan(&got); err != nil || got != "kept" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		var encrypted bool
		err := conn.QueryRow(t.Context(), "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&encrypted)
		if err != nil || encrypted != (name == "TLS") {
			t.Errorf("%s: encrypted %t, %v", name, encrypted, err)
		}
	}
}

// TestPgBouncer checks that PgBouncer uses transaction mode, in which a setting of one client reaches another.
func TestPgBouncer(t *testing.T) {
	t.Parallel()
	s := pgserver.Start(t)
	behind := s.PgBouncer(t, s.Database(t))
	// The second client gets the first one's connection to the server. While it has an open transaction, the first client
	// gets another connection.
	first, second := pgserver.Connect(t, behind), pgserver.Connect(t, behind)
	if _, err := first.Exec(t.Context(), "SET search_path = elsewhere"); err != nil {
		t.Fatal(err)
	}
	tx, err := second.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var path, kept string
	if err := tx.QueryRow(t.Context(), "SHOW search_path").Scan(&path); err != nil {
		t.Fatal(err)
	}
	other, err := first.Begin(t.Context())
	if err == nil {
		err = other.QueryRow(t.Context(), "SHOW search_path").Scan(&kept)
	}
	if err != nil || path != "elsewhere" || kept == "elsewhere" {
		t.Errorf("the second client has the setting %q, and the first, which set it, %q; %v", path, kept, err)
	}
}
