package gitremote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	sshagent "github.com/xanzy/ssh-agent"
	"golang.org/x/crypto/ssh"
	"golang.org/x/net/proxy"
)

// sshOpener runs a service at the other end of an SSH connection of its own.
func sshOpener(repo Location, s *served, patience time.Duration) opener {
	return func(ctx context.Context, service, protocol string) (session, error) {
		client, hangUp, err := dialSSH(ctx, repo, s, patience)
		if err != nil {
			return nil, err
		}
		p, err := runSSH(client, service, protocol, repo.Path)
		if err != nil {
			hangUp()
			return nil, err
		}
		endSession := p.end
		p.end = func() error {
			_ = endSession()
			hangUp()
			return ctx.Err()
		}
		return p, nil
	}
}

// dialSSH connects. The connection closes when ctx ends, which ends the
// handshake too.
func dialSSH(ctx context.Context, repo Location, s *served, patience time.Duration) (*ssh.Client, func(), error) {
	config, closeAgent, err := sshConfig(repo, s)
	if err != nil {
		return nil, nil, err
	}
	dialCtx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := proxy.Dial(dialCtx, "tcp", repo.address())
	if err != nil {
		closeAgent()
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	hangUp := func() {
		stop()
		_ = conn.Close()
		closeAgent()
	}
	hurry := time.AfterFunc(patience, func() { _ = conn.Close() })
	c, channels, requests, err := ssh.NewClientConn(conn, repo.address(), config)
	late := !hurry.Stop()
	if err != nil || late {
		hangUp()
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case late:
			return nil, nil, fmt.Errorf("%w: the server did not let anybody in within %s", ErrUnreachable, patience)
		}
		return nil, nil, err
	}
	return ssh.NewClient(c, channels, requests), hangUp, nil
}

func sshConfig(repo Location, s *served) (*ssh.ClientConfig, func(), error) {
	if repo.ambiguous() { // it gets no key of an agent either
		return nil, nil, fmt.Errorf("%w: no key is shown to a repository whose URL %s", ErrUnauthorized, ambiguousPath)
	}
	db, err := hostKeys(s)
	if err != nil {
		return nil, nil, err
	}
	config := &ssh.ClientConfig{
		User:              repo.User,
		HostKeyCallback:   hostKeyCheck(db),
		HostKeyAlgorithms: db.HostKeyAlgorithms(repo.address()), // else the server may show a key of a kind that is not known
	}
	if config.User == "" && s != nil {
		config.User = s.username
	}
	if config.User == "" && s != nil {
		config.User = s.at.User
	}
	if config.User == "" {
		config.User = "git"
	}
	if s != nil && s.signer != nil {
		config.Auth = []ssh.AuthMethod{ssh.PublicKeys(s.signer)}
		return config, func() {}, nil
	}
	if !sshagent.Available() {
		return nil, nil, fmt.Errorf("%w: no private key is configured for this host and no SSH agent runs; "+
			"set private_key of a credential whose url is ssh://%s", ErrUnauthorized, repo.hostPort())
	}
	agent, conn, err := sshagent.New()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: the SSH agent does not answer: %w", ErrUnauthorized, err)
	}
	config.Auth = []ssh.AuthMethod{ssh.PublicKeysCallback(agent.Signers)}
	return config, closer(conn), nil
}

func closer(conn net.Conn) func() {
	return func() {
		if conn != nil {
			_ = conn.Close()
		}
	}
}

func runSSH(client *ssh.Client, service, protocol, path string) (*pipe, error) {
	session, err := client.NewSession()
	if err != nil {
		return nil, err
	}
	if protocol != "" {
		// Servers that do not take it answer in the older protocol.
		_ = session.Setenv("GIT_PROTOCOL", protocol)
	}
	stderr := &words{}
	session.Stderr = stderr
	in, err := session.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := session.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := session.Start(service + " " + shellQuote(path)); err != nil {
		return nil, err
	}
	return &pipe{in: in, out: bufio.NewReaderSize(out, 64<<10), stderr: stderr, end: func() error {
		err := session.Close()
		_ = session.Wait() // what the program printed is whole then
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		return err
	}}, nil
}

// shellQuote quotes a path as Git does for the shell at the other end. A path
// below a home is written without the slash that a URL puts before it.
func shellQuote(p string) string {
	if strings.HasPrefix(p, "/~") {
		p = p[1:]
	}
	return "'" + strings.NewReplacer(`'`, `'\''`, `!`, `'\!'`).Replace(p) + "'"
}
