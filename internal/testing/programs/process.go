package programs

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
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

// Run starts a program that gets a signal when the test ends, unless it was stopped before. If the test fails, it logs
// the end of the program's output.
func Run(t testing.TB, log string, cmd *exec.Cmd, signal os.Signal) *Process {
	t.Helper()
	p, err := Start(log, cmd)
	must.Succeed(t, err)
	t.Cleanup(func() {
		p.Stop(signal)
		if t.Failed() {
			t.Logf("the log of %s:\n%s", cmd.Path, p.Log(2000))
		}
	})
	return p
}

// Await tries something until it succeeds, for at most two minutes, or until the program ends.
func (p *Process) Await(t testing.TB, try func() error) {
	t.Helper()
	must.Succeed(t, p.Try(try))
}

// Try does the same as [Process.Await], and returns an error if it fails.
func (p *Process) Try(try func() error) error {
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-p.Exited:
			return fmt.Errorf("%s ended: %s", p.Command, p.Log(10_000))
		default:
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s does not answer: %w: %s", p.Command, err, p.Log(10_000))
		}
	}
}

// AwaitListening waits until the program accepts connections at an address.
func (p *Process) AwaitListening(t testing.TB, network, address string) {
	t.Helper()
	p.Await(t, func() error {
		conn, err := net.Dial(network, address)
		if err == nil {
			err = conn.Close()
		}
		return err
	})
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
func (p *Process) Log(limit int) string {
	text, _ := os.ReadFile(p.log)
	return string(text[max(0, len(text)-limit):])
}

// FreeAddress returns a free address of loopback.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	defer l.Close()
	return l.Addr().String()
}

// Port returns the port of an address.
func Port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// Listen serves each connection to an address of loopback in a goroutine of its own, and closes it. It ends when the
// test ends.
func Listen(t testing.TB, serve func(net.Conn)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				defer context.AfterFunc(t.Context(), func() { _ = conn.Close() })()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	return listener.Addr().String()
}
