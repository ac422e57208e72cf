// Package programs finds the programs that some tests need besides Go, Git and Terraform. If a program is missing, the
// test is skipped, and make test lists it at the end. In CI the test fails.
package programs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// NotRun is the environment variable with the file to which skipped tests are appended. A line has the program, the
// command that adds it, and the name of the test, separated by tabs.
//
// Each run of make test uses a new file. Go caches the results of tests, and does not notice if a program changes.
// Since the variable changes, it runs the tests that use programs again.
const NotRun = "KALYPSO_NOT_RUN"

// Program is a program that tests need.
type Program struct {
	Name string // the name that people know
	Add  string // the command that installs or builds it
}

// Built returns the path of a program in bin/, where make test-tools builds it.
func Built(t testing.TB, name string) string {
	t.Helper()
	return Program{Name: name, Add: "make test-tools"}.Find(t, filepath.Join(Root(), "bin", name))
}

// Find returns the first of the places that exists: a command on the PATH, or a file if it contains a slash.
func (p Program) Find(t testing.TB, places ...string) string {
	t.Helper()
	_ = os.Getenv(NotRun) // makes Go run the test again, see NotRun
	for _, place := range places {
		if !strings.Contains(place, "/") {
			if path, err := exec.LookPath(place); err == nil {
				return path
			}
		} else if _, err := os.Stat(place); err == nil {
			return place
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing: %s", p.Name, p.Add)
	}
	p.Skip(t, "is missing")
	return ""
}

// Skip skips a test, and records that it did not run. Tests call it if a program is older than they need. Unlike a
// missing program, this does not fail in CI, which also tests with older versions.
func (p Program) Skip(t testing.TB, why string) {
	t.Helper()
	if notRun := os.Getenv(NotRun); notRun != "" {
		must.Succeed(t, record(notRun, fmt.Sprintf("%s\t%s\t%s\n", p.Name, p.Add, t.Name())))
	}
	t.Skipf("%s %s: %s", p.Name, why, p.Add)
}

func record(file, line string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}

// Root returns the root folder of the repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

// UserEnv is the environment of the user who runs the tests, before a test changes it. Go builds programs in it.
var UserEnv = os.Environ()

// BuildTool builds one of our own programs in tools/, whose modules are not in the provider's module graph, and returns
// its path.
func BuildTool(name string) (string, error) {
	path := filepath.Join(Root(), "bin", "test", name)
	return path, Build(filepath.Join(Root(), "tools", name), path)
}

// Build builds the main package in a folder. The packages of tests run at the same time: the first process builds the
// program, and for the other ones, Go finds that it is up to date.
func Build(folder, program string, flags ...string) (err error) {
	if err := os.MkdirAll(filepath.Dir(program), 0o750); err != nil {
		return err
	}
	lock, err := os.Create(program + ".lock")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	cmd := exec.Command("go", slices.Concat([]string{"build", "-o", program}, flags, []string{"."})...)
	cmd.Dir, cmd.Env = folder, UserEnv
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}
