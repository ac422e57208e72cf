// Package giteaserver runs a real Gitea on loopback for tests, which make builds into bin/. A proxy lies in front of
// it: it checks each request of the provider to the API against testdata/openapi.yaml, records it, and fails where a
// test asks for it.
package giteaserver

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// variable is the environment variable with the path of the program, which make test-all builds.
const variable = "KALYPSO_GITEA"

var program = programs.Program{Name: "Gitea", Add: "make test-all"}

// Server is a Gitea. Tests share it, each with repos of its own.
type Server struct {
	URL string // http://127.0.0.1:port

	dir     string // all files
	process *programs.Process
	direct  *http.Client // past the proxy
	proxy   *proxy
	front   *httptest.Server
	admin   string // authorizes the administrator
	// The token of Gitea's internal API.
	internal string

	mu    sync.Mutex
	users map[string]string // tokens by login
	repos int
}

var (
	starting sync.Once
	shared   *Server // nil: it does not run
	failed   error   // why not
)

// environment is the user's, before a test changes it.
var environment = os.Environ()

// Shared returns the server that all tests of a package share. It starts with the first call, and runs until [Stop].
// Without the program, the test is skipped.
func Shared(t testing.TB) *Server {
	t.Helper()
	binary := program.Find(t, os.Getenv(variable))
	starting.Do(func() { shared, failed = start(binary) })
	if failed != nil {
		t.Fatal(failed)
	}
	return shared
}

// Stop stops the server of [Shared], if it runs. TestMain calls it after the tests.
func Stop() {
	if shared != nil {
		shared.stop()
	}
}

// settings is app.ini. Cheap passwords, tokens that are hashed once instead of with each request, and no queues on disk
// make tests fast. On a busy machine, a request waits for another one's write, where Gitea's default gives up after
// half a second: "database is locked".
const settings = `APP_NAME = Gitea
RUN_MODE = prod
RUN_USER = %[1]s
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = %[2]s

[server]
PROTOCOL = http+unix
HTTP_ADDR = %[2]s/socket
ROOT_URL = %[3]s/
DOMAIN = 127.0.0.1
DISABLE_SSH = true
OFFLINE_MODE = true
STATIC_ROOT_PATH = %[4]s
LFS_START_SERVER = false

[git.config]
core.hooksPath = %[2]s/hooks
core.fsync = none
receive.autogc = false

[database]
DB_TYPE = sqlite3
PATH = %[2]s/data/gitea.db
SQLITE_JOURNAL_MODE = WAL
SQLITE_TIMEOUT = 60000

[security]
INSTALL_LOCK = true
INTERNAL_TOKEN = %[5]s
SUCCESSFUL_TOKENS_CACHE_SIZE = 100000
PASSWORD_HASH_ALGO = pbkdf2$1$1

[queue]
TYPE = channel

[log]
MODE = console
LEVEL = Warn

[service]
DISABLE_REGISTRATION = true

[cron]
ENABLED = false

[indexer]
ISSUE_INDEXER_TYPE = db

[actions]
ENABLED = false

[packages]
ENABLED = false
`

// start starts a server.
func start(binary string) (*Server, error) {
	static, err := moduleFolder()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kalypso-gitea-")
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(dir, "socket"))
	}
	s := &Server{
		dir: dir, users: map[string]string{}, internal: rand.Text(),
		direct: &http.Client{Transport: &http.Transport{DialContext: dial}},
	}
	s.proxy = newProxy(&http.Transport{DialContext: dial, MaxIdleConnsPerHost: 16})
	s.front = httptest.NewServer(s.proxy)
	s.URL = s.front.URL
	if err := s.run(binary, static); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// moduleFolder returns the folder of Gitea's module, which has the templates and texts that the program reads.
func moduleFolder() (string, error) {
	command := exec.Command("go", "mod", "download", "-json", "code.gitea.io/gitea")
	command.Dir, command.Env = filepath.Join(programs.Root(), "tools", "gitea"), environment
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("download the module of Gitea: %w: %s", err, out)
	}
	var module struct{ Dir string }
	return module.Dir, json.Unmarshal(out, &module)
}

// run runs the program, and creates its administrator.
func (s *Server) run(binary, static string) error {
	user := os.Getenv("USER")
	if os.Getuid() == 0 {
		user = "root"
	}
	config := filepath.Join(s.dir, "app.ini")
	if err := os.WriteFile(config, fmt.Appendf(nil, settings, user, s.dir, s.URL, static, s.internal), 0o600); err != nil {
		return err
	}
	if err := s.writeHooks(); err != nil {
		return err
	}
	web := exec.Command(binary, "web", "--config", config)
	web.Dir, web.Env = s.dir, append(slices.Clone(environment), "GOGC=400")
	var err error
	s.process, err = programs.Start(filepath.Join(s.dir, "log"), web)
	if err != nil {
		return err
	}
	if err := s.process.Try(s.healthy); err != nil {
		return err
	}
	create := exec.Command(binary, "admin", "user", "create", "--config", config, "--admin", "--username", "administrator",
		"--password", password, "--email", "administrator@acme.io", "--must-change-password=false", "--access-token")
	create.Dir, create.Env = s.dir, environment
	output, err := create.CombinedOutput()
	_, token, found := strings.Cut(string(output), "created... ")
	s.admin = "token " + strings.TrimSpace(token)
	if err != nil || !found {
		return fmt.Errorf("create an administrator: %w: %s", err, output)
	}
	return nil
}

// healthy reports whether the server answers.
func (s *Server) healthy() error {
	resp, err := s.direct.Get(s.URL + "/api/healthz")
	if err == nil {
		err = resp.Body.Close()
	}
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	return err
}

// stop stops the program by its process ID, and removes its files.
func (s *Server) stop() {
	if s.process != nil {
		s.process.Stop(syscall.SIGTERM)
	}
	s.front.CloseClientConnections()
	s.front.Close()
	_ = os.RemoveAll(s.dir)
}

// call sends a request past the proxy, as tests and people do, and returns the answer's status. A status of 400 and
// more fails the test, unless it is among the allowed ones.
func (s *Server) call(t testing.TB, authorization, method, path string, body, into any, allowed ...int) int {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, s.URL+apiPrefix+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", authorization)
	resp, err := s.direct.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		t.Fatal(err)
	case slices.Contains(allowed, resp.StatusCode):
		return resp.StatusCode
	case resp.StatusCode >= http.StatusBadRequest:
		t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, answer)
	}
	if into != nil {
		if err := json.Unmarshal(answer, into); err != nil {
			t.Fatalf("%s %s: %v: %s", method, path, err, answer)
		}
	}
	return resp.StatusCode
}
