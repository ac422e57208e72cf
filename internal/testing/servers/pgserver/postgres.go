// Package pgserver runs Debian's PostgreSQL for tests, in a temporary folder, on loopback and on a socket. It also
// runs Debian's PgBouncer in front of it.
package pgserver

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/tlsserver"
)

// User is the owner of all databases.
const User = "owner"

// Password is the password of [User]. It is a canary: no output may contain it.
const Password = "canary-postgres"

var (
	program = programs.Program{Name: "PostgreSQL", Add: "apt-get install postgresql"}
	bouncer = programs.Program{Name: "PgBouncer", Add: "apt-get install pgbouncer"}
)

// Server is a server on loopback. It accepts connections with and without TLS.
type Server struct {
	Folder string // the folder with the socket
	Port   string
	CA     string // the file with the certificate that verifies the server

	postgres string // the path of the program
	process  *programs.Process
	made     atomic.Int64 // the number of databases
}

// Start starts a server. It stops when the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	initdb := program.Find(t, append(debian(), "initdb")...)
	folder := shortTempDir(t)
	port := programs.Port(programs.FreeAddress(t))
	s := &Server{
		Folder: folder, Port: port, CA: filepath.Join(folder, "ca.pem"),
		postgres: filepath.Join(filepath.Dir(initdb), "postgres"),
	}
	authority := tlsserver.NewAuthority(t)
	own := authority.Issue(t, "PostgreSQL", x509.ExtKeyUsageServerAuth)
	programs.WriteFile(t, s.CA, authority.PEM)
	programs.WriteFile(t, filepath.Join(folder, "certificate.pem"), own.Certificate)
	programs.WriteFile(t, filepath.Join(folder, "key.pem"), own.Key)
	password := filepath.Join(folder, "password")
	programs.WriteFile(t, password, Password)
	cmd := unprivileged(t, folder, initdb, "--pgdata", filepath.Join(folder, "data"), "--no-sync", "--auth=scram-sha-256",
		"--username="+User, "--pwfile="+password, "--encoding=UTF8", "--locale=C")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	s.Run(t)
	return s
}

// debian returns the paths at which Debian installs initdb, the newest version first.
func debian() []string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	slices.Reverse(found)
	return found
}

// Run runs the server again after [Server.Kill], with the same data, and waits until it answers.
func (s *Server) Run(t testing.TB) {
	t.Helper()
	cmd := unprivileged(t, s.Folder, s.postgres, "-D", filepath.Join(s.Folder, "data"), "-p", s.Port,
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+s.Folder,
		"-c", "timezone=UTC", "-c", "fsync=off",
		"-c", "ssl=on", "-c", "ssl_cert_file="+filepath.Join(s.Folder, "certificate.pem"),
		"-c", "ssl_key_file="+filepath.Join(s.Folder, "key.pem"))
	s.process = programs.Run(t, filepath.Join(s.Folder, "log"), cmd, syscall.SIGQUIT)
	await(t, s.process, s.URL("postgres"))
}

// Standby runs the server again as a standby, which can only be read.
func (s *Server) Standby(t testing.TB) {
	t.Helper()
	s.Kill()
	programs.WriteFile(t, filepath.Join(s.Folder, "data", "standby.signal"), "")
	s.Run(t)
}

// Kill stops the server at once. The server closes all connections, and recovers its data when it starts again.
func (s *Server) Kill() { s.process.Stop(syscall.SIGQUIT) }

// Processor returns the processor time that the server has used. It waits until all connections are closed, since the
// system adds the time of a connection's process only when the process ends.
func (s *Server) Processor(t testing.TB) time.Duration {
	t.Helper()
	pid := s.process.Command.Process.Pid
	for end := time.Now().Add(time.Minute); serves(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a connection is still open after a minute")
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must.Succeed(t, err)
	// After the name in parentheses, the fields 14 to 17 are the times of the process and its children, in 1/100 s.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var total time.Duration
	for _, field := range fields[11:15] {
		ticks, err := strconv.Atoi(field)
		must.Succeed(t, err)
		total += time.Duration(ticks) * 10 * time.Millisecond
	}
	return total
}

// serves reports whether a child of the server serves a connection, or has ended and not been waited for.
func serves(pid int) bool {
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	for child := range strings.FieldsSeq(string(children)) {
		title, _ := os.ReadFile("/proc/" + child + "/cmdline")
		for _, text := range []string{" 127.0.0.1(", " [local]", "parallel worker"} {
			if len(title) == 0 || strings.Contains(string(title), text) {
				return true
			}
		}
	}
	return false
}

// Database creates an empty database, and returns its URL on loopback without TLS.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprint("db", s.made.Add(1))
	Exec(t, s.URL("postgres"), "CREATE DATABASE "+name)
	return s.URL(name)
}

// URL returns the URL of a database on loopback without TLS.
func (s *Server) URL(database string) string {
	return "postgres://" + User + ":" + Password + "@127.0.0.1:" + s.Port + "/" + database + "?sslmode=disable"
}

// TLSURL returns the URL of the same database on loopback with TLS that is verified.
func (s *Server) TLSURL(loopback string) string {
	return strings.Replace(loopback, "sslmode=disable", "sslmode=verify-full&sslrootcert="+url.QueryEscape(s.CA), 1)
}

// SocketURL returns the URL of the same database on the socket.
func (s *Server) SocketURL(loopback string) string {
	return strings.Replace(loopback, "127.0.0.1:"+s.Port, url.QueryEscape(s.Folder)+":"+s.Port, 1)
}

// Dump returns the statements that restore a schema, from pg_dump.
func (s *Server) Dump(t testing.TB, url, schema string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(filepath.Dir(s.postgres), "pg_dump"), "--inserts", "--schema="+schema, url)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("pg_dump: %v\n%s", err, errOut.String())
	}
	// Only psql understands its own commands.
	return regexp.MustCompile(`(?m)^\\.*$`).ReplaceAllString(out.String(), "")
}

// Exec runs statements on a database.
func Exec(t testing.TB, url string, statements ...string) {
	t.Helper()
	conn := Connect(t, url)
	for _, statement := range statements {
		if _, err := conn.Exec(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	_ = conn.Close(context.Background())
}

// Select returns the rows of a query. A row is the text of its values, with a space between them.
func Select(t testing.TB, url, query string, args ...any) []string {
	t.Helper()
	conn := Connect(t, url)
	defer conn.Close(context.Background())
	rows, _ := conn.Query(context.Background(), query, args...) // CollectRows returns the error
	texts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		values, err := row.Values()
		return strings.TrimSuffix(fmt.Sprintln(values...), "\n"), err
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return texts
}

// Connect connects to a database, and closes the connection when the test ends.
func Connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	must.Succeed(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// PgBouncer starts PgBouncer in front of the server, in its mode "transaction", in which the settings of a session are
// lost after a transaction. It returns the URL of the same database through PgBouncer.
func (s *Server) PgBouncer(t testing.TB, database string) string {
	t.Helper()
	found := bouncer.Find(t, "/usr/sbin/pgbouncer", "pgbouncer")
	folder := shortTempDir(t)
	port := programs.Port(programs.FreeAddress(t))
	programs.WriteFile(t, filepath.Join(folder, "users"), strconv.Quote(User)+" "+strconv.Quote(Password)+"\n")
	config := filepath.Join(folder, "config")
	programs.WriteFile(t, config, strings.Join([]string{
		"[databases]", "* = host=127.0.0.1 port=" + s.Port,
		"[pgbouncer]", "listen_addr = 127.0.0.1", "listen_port = " + port, "unix_socket_dir =",
		"auth_type = scram-sha-256", "auth_file = " + filepath.Join(folder, "users"),
		"pool_mode = transaction", "default_pool_size = 4",
	}, "\n")+"\n")
	p := programs.Run(t, filepath.Join(folder, "log"), unprivileged(t, folder, found, config), syscall.SIGTERM)
	behind := strings.Replace(database, "127.0.0.1:"+s.Port, "127.0.0.1:"+port, 1)
	await(t, p, behind)
	return behind
}

// await waits until a database answers.
func await(t testing.TB, p *programs.Process, url string) {
	t.Helper()
	p.Await(t, func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		return conn.Ping(ctx)
	})
}

// unprivileged returns a command that does not run as root, since PostgreSQL and PgBouncer refuse that. If root runs
// the tests, the command runs as the user whom Debian's package creates, who gets the folder and its files.
func unprivileged(t testing.TB, folder, name string, args ...string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		return exec.Command(name, args...)
	}
	who, err := user.Lookup("postgres")
	must.Succeed(t, err)
	if out, err := exec.Command("chown", "-R", who.Uid, folder).CombinedOutput(); err != nil {
		t.Fatalf("chown: %v\n%s", err, out)
	}
	as := []string{"--reuid=" + who.Uid, "--regid=" + who.Gid, "--clear-groups", name}
	return exec.Command("setpriv", append(as, args...)...)
}

// shortTempDir returns a new folder. Its path is short, since the path of a socket may have at most 107 bytes, and
// t.TempDir is longer.
func shortTempDir(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "kalypso-pg-") //nolint:usetesting // see above
	must.Succeed(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}
