// Package programs finds the programs that some tests need besides Go, Git and Terraform. Without one, a test is
// skipped; make test lists it at its end. In CI it fails.
package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// NotRun names the environment variable with the file to which skipped tests are appended: a line each, with the
// program, the command that adds it, and the test, separated by tabs.
//
// Each run of make test has another file. So Go repeats tests that use programs, which its cache of results can't see.
const NotRun = "KALYPSO_NOT_RUN"

// Program is a program that tests need.
type Program struct {
	Name string // for people
	Add  string // the command that installs or builds it
}

// Find returns the first of the places that exists: a command on the PATH, or a file if it contains a slash.
func (p Program) Find(t testing.TB, places ...string) string {
	t.Helper()
	_ = os.Getenv(NotRun) // so that Go repeats the test
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
	p.skip(t, "is missing")
	return ""
}

// SkipOlder skips a test that needs a newer version of a program than the one at hand. Unlike a missing program, that
// does not fail in CI, where the versions are chosen.
func (p Program) SkipOlder(t testing.TB) {
	t.Helper()
	p.skip(t, "is needed")
}

// skip skips a test, and records that it did not run.
func (p Program) skip(t testing.TB, why string) {
	t.Helper()
	if notRun := os.Getenv(NotRun); notRun != "" {
		if err := record(notRun, fmt.Sprintf("%s\t%s\t%s\n", p.Name, p.Add, t.Name())); err != nil {
			t.Fatal(err)
		}
	}
	t.Skipf("%s %s: %s", p.Name, why, p.Add)
}

func record(file, line string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(line); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// Root returns the root folder of the repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}
