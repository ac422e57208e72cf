package kubernetes

import (
	"os/exec"
	"strconv"
)

// ownGroup does nothing: Windows knows which program started which.
func ownGroup(*exec.Cmd) {}

// endGroup kills a program and the programs that it started.
func endGroup(program *exec.Cmd) error {
	tree := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(program.Process.Pid)) //nolint:gosec // a number
	if tree.Run() == nil {
		return nil
	}
	return program.Process.Kill()
}
