package remote

import "syscall"

// ownGroup starts a program in a process group of its own. Ctrl-C in a console goes to the group of the console: the
// provider ends the program itself, and then knows what it did.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
