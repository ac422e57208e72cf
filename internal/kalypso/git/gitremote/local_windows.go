package gitremote

import "syscall"

// ownGroup starts a program in a process group of its own. Ctrl-C in a console would otherwise reach the program too.
// The provider ends the program itself, so that it knows what the program did.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
