package programs

import (
	"os"
	"syscall"
)

// Write writes a program, such as a hook of Git, that can run at once. While a file is open for writing, Linux does not
// run it (ETXTBSY), and a process that another test starts meanwhile inherits the open file until it runs its own
// program. On a busy machine that takes long. So nothing starts while the program is written.
func Write(path, text string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(text), 0o700) //nolint:gosec // it is a program
}
