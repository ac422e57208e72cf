package programs

import (
	"net"
	"os"
	"os/exec"
	"testing"
	"time"
)

// Process is a running program.
type Process struct {
	Command *exec.Cmd
	Exited  <-chan struct{} // closed when the program has ended

	log string
}

// Start starts a program, whose output is appended to a file.
func Start(log string, cmd *exec.Cmd) (*Process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = file, file
	if err := cmd.Start(); err != nil {
		_ = file.Close()
		return nil, err
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		_ = file.Close()
		close(exited)
	}()
	return &Process{cmd, exited, log}, nil
}

// Stop sends a signal, and waits until the program has ended. After 10 seconds, it kills it.
func (p *Process) Stop(signal os.Signal) {
	_ = p.Command.Process.Signal(signal)
	select {
	case <-p.Exited:
	case <-time.After(10 * time.Second):
		_ = p.Command.Process.Kill()
		<-p.Exited
	}
}

// Log returns the end of the program's output, of at most this number of bytes.
func (p *Process) Log(most int) string {
	text, _ := os.ReadFile(p.log)
	return string(text[max(0, len(text)-most):])
}

// FreeAddress returns a free address of loopback, and its port.
func FreeAddress(t testing.TB) (address, port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	address = l.Addr().String()
	_, port, _ = net.SplitHostPort(address)
	return address, port
}
