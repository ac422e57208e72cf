package programs

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// WriteFile writes a file for a program, and creates the folders above it.
func WriteFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // another user may run the program
		t.Fatal(err)
	}
	must.Succeed(t, os.WriteFile(path, []byte(text), 0o600))
}

// Write writes a program, such as a hook of Git, so that it can run at once. Linux does not run a file that a process
// has open for writing (ETXTBSY). If another test forks a process at this time, the new process inherits the open file
// until it runs its own program, which takes long on a busy machine. So no process is started while the program is
// written.
func Write(path, text string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(text), 0o700) //nolint:gosec // it is a program
}
