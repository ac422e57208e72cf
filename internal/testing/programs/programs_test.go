package programs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// outcome records how a test ends.
type outcome struct {
	testing.TB
	skipped, failed string
}

func (o *outcome) Skipf(format string, args ...any) {
	o.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
func (o *outcome) Fatalf(format string, args ...any) {
	o.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

var missing = programs.Program{Name: "Flux", Add: "make flux"}

func find(t *testing.T, places ...string) (found string, o *outcome) {
	t.Helper()
	o = &outcome{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		found = missing.Find(o, places...)
	}()
	<-done
	return found, o
}

// TestFindMissing: if a program is missing, the test is skipped and recorded. In CI the test fails.
func TestFindMissing(t *testing.T) {
	record := filepath.Join(t.TempDir(), "record")
	t.Setenv(programs.NotRun, record)
	t.Setenv("CI", "")
	const message = "Flux is missing: make flux"
	if _, o := find(t, "no-such-program", "./no-such-file"); o.skipped != message || o.failed != "" {
		t.Errorf("skipped with %q, failed with %q", o.skipped, o.failed)
	}
	got, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("Flux\tmake flux\tTestFindMissing\n", string(got)); diff != "" {
		t.Errorf("the record (-want +got):\n%s", diff)
	}
	t.Setenv("CI", "true")
	if _, o := find(t, "no-such-program"); o.failed != message || o.skipped != "" {
		t.Errorf("in CI skipped with %q, failed with %q", o.skipped, o.failed)
	}
}

// TestFind: the first place that exists is found, whether it is a command on the PATH or a file.
func TestFind(t *testing.T) {
	folder := t.TempDir()
	command, file := filepath.Join(folder, "flux"), filepath.Join(folder, "file")
	for _, path := range []string{command, file} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // it is a command
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder)
	for want, places := range map[string][]string{
		command: {"no-such-program", "flux", file},
		file:    {filepath.Join(folder, "none"), file, "flux"},
	} {
		if got, o := find(t, places...); got != want {
			t.Errorf("found %q, want %q (%s%s)", got, want, o.skipped, o.failed)
		}
	}
}
