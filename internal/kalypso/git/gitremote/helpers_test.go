package gitremote_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/crypto/ssh"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
)

// is fails the test unless an error is of a kind and contains no secret of the test servers.
func is(t *testing.T, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("got error %v, want %v", err, kind)
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), "canary") {
			t.Errorf("the error contains a secret: %v", e)
		}
	}
}

// loginFunc returns an option with a function that returns a login for a repo, also after a refusal.
func loginFunc(f func(repo string) (gitremote.Login, error)) gitremote.Option {
	return func(s *gitremote.Settings) {
		s.Login = func(_ context.Context, repo string, _ gitremote.Login) (gitremote.Login, error) { return f(repo) }
	}
}

// renewedBy returns an option with a function that returns a login, also if the last one was refused.
func renewedBy(f gitremote.LoginFunc) gitremote.Option {
	return func(s *gitremote.Settings) { s.Login = f }
}

// remote is a repository. Each call opens a session.
type remote struct{ *gitremote.Remote }

// Ref looks up one reference.
func (r remote) Ref(ctx context.Context, name plumbing.ReferenceName) (plumbing.Hash, error) {
	rd := r.Reader(ctx, gitremote.ReadLimits{})
	defer rd.Close()
	return rd.Ref(name)
}

// Fetch fetches objects.
func (r remote) Fetch(ctx context.Context, req gitremote.FetchRequest, into gitremote.Objects) error {
	rd := r.Reader(ctx, gitremote.ReadLimits{})
	defer rd.Close()
	return rd.Fetch(req, into)
}

// pushTo opens a connection, pushes, and closes the connection.
func pushTo(ctx context.Context, r remote, req gitremote.PushRequest) error {
	w, err := r.Writer(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	return w.Push(req)
}

func encryptedKey(t *testing.T, passphrase string) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(passphrase))
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block))
}
