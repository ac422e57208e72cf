//go:build !windows

package kubernetes

import (
	"os/exec"
	"syscall"
)

// ownGroup starts a program in a process group of its own, which those that it starts join.
func ownGroup(program *exec.Cmd) { program.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup kills a program and the programs that it started.
func endGroup(program *exec.Cmd) error { return syscall.Kill(-program.Process.Pid, syscall.SIGKILL) }
