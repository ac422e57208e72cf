//go:build linux

package gitremote

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
)

// lateContext is a context that is not yet done when its deadline passes. On a busy machine, the timer of a context
// fires late, too.
type lateContext struct {
	context.Context //nolint:containedctx // only one method differs
	deadline        time.Time
}

func (c lateContext) Deadline() (time.Time, bool) { return c.deadline, true }

// TestDialDeadline: if a connection does not open before the deadline, the error is a timeout, not an unreachable
// server.
func TestDialDeadline(t *testing.T) {
	t.Parallel()
	full, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = full.Close() }()
	raw, err := full.(*net.TCPListener).SyscallConn() //nolint:forcetypeassert // the listener is for tcp
	if err == nil {
		err = raw.Control(func(fd uintptr) { _ = syscall.Listen(int(fd), 0) })
	}
	if err != nil {
		t.Fatal(err)
	}
	for { // fill the queue of connections
		conn, err := net.DialTimeout("tcp", full.Addr().String(), 100*time.Millisecond)
		if err != nil {
			break
		}
		defer func() { _ = conn.Close() }()
	}
	repo, err := giturl.Parse("ssh://git@" + full.Addr().String() + "/silent")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	host := "127.0.0.1 " + string(ssh.MarshalAuthorizedKey(signer.PublicKey()))
	ctx := lateContext{t.Context(), time.Now().Add(200 * time.Millisecond)}
	_, _, err = dialSSH(ctx, repo, &auth{signer: signer, knownHosts: host}, time.Minute)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
}
