//go:build !windows

package gitremote

import "syscall"

// ownGroup starts a program in a process group of its own. Ctrl-C in a terminal goes to the group of the terminal: the
// provider ends the program itself, and then knows what it did.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
