package gitremote

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	sshagent "github.com/xanzy/ssh-agent"
	"golang.org/x/crypto/ssh"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/webproxy"
)

// sshOpener runs a service over a new SSH connection.
func (c *Client) sshOpener(repo giturl.URL, s *auth) opener {
	s = cmp.Or(s, &auth{})
	return func(ctx context.Context, service, protocol string) (session, error) {
		client, disconnect, err := dialSSH(ctx, repo, s, c.settings.limits.answerTimeout)
		if err != nil {
			return nil, err
		}
		p := &pipe{stderr: c.newOutput(), stop: func() error {
			disconnect()
			return ctx.Err()
		}}
		if err := p.runSSH(client, service, protocol, repo.CommandPath()); err != nil {
			disconnect()
			return nil, err
		}
		return p, nil
	}
}

// dialSSH connects. The connection closes when ctx ends, also during the handshake.
func dialSSH(ctx context.Context, repo giturl.URL, s *auth, answerTimeout time.Duration) (*ssh.Client, func(), error) {
	config, closeAgent, err := sshConfig(repo, s)
	if err != nil {
		return nil, nil, err
	}
	dialCtx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := webproxy.Dial(dialCtx, "tcp", repo.Address())
	if err != nil {
		closeAgent()
		if !fitsDeadline(ctx, 0) { // the dialer gives up at the deadline of ctx, often just before ctx is done
			err = context.DeadlineExceeded
		}
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	disconnect := func() {
		stop()
		_ = conn.Close()
		closeAgent()
	}
	timer := time.AfterFunc(answerTimeout, func() { _ = conn.Close() })
	c, channels, requests, err := ssh.NewClientConn(conn, repo.Address(), config)
	late := !timer.Stop()
	if err != nil || late {
		disconnect()
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case late:
			return nil, nil, fmt.Errorf("%w: the SSH handshake did not finish within %s", ErrUnreachable, answerTimeout)
		}
		return nil, nil, err
	}
	return ssh.NewClient(c, channels, requests), disconnect, nil
}

func sshConfig(repo giturl.URL, s *auth) (*ssh.ClientConfig, func(), error) {
	if repo.Ambiguous() { // no key of an agent either
		return nil, nil, fmt.Errorf("%w: no key is offered because the URL %s", ErrUnauthorized, ambiguousPath)
	}
	db, err := hostKeys(s)
	if err != nil {
		return nil, nil, err
	}
	config := &ssh.ClientConfig{
		User:              cmp.Or(repo.User, s.login.Username, s.at.User, "git"),
		HostKeyCallback:   hostKeyCheck(db),
		HostKeyAlgorithms: db.HostKeyAlgorithms(repo.Address()), // ask for a known type of key
	}
	if s.signer != nil {
		config.Auth = []ssh.AuthMethod{ssh.PublicKeys(s.signer)}
		return config, func() {}, nil
	}
	if !sshagent.Available() {
		return nil, nil, fmt.Errorf("%w: no private key is configured for this host, and no SSH agent is running; "+
			"set private_key of a credential whose url is ssh://%s", ErrUnauthorized, repo.HostPort())
	}
	agent, conn, err := sshagent.New()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: the SSH agent does not answer: %w", ErrUnauthorized, err)
	}
	config.Auth = []ssh.AuthMethod{ssh.PublicKeysCallback(agent.Signers)}
	return config, func() {
		if conn != nil { // Pageant has none
			_ = conn.Close()
		}
	}, nil
}

// runSSH runs a service in a session, which ends before the connection stops.
func (p *pipe) runSSH(client *ssh.Client, service, protocol, path string) error {
	session, err := client.NewSession()
	if err != nil {
		return err
	}
	if protocol != "" {
		// Servers that do not accept it answer in protocol version 0.
		_ = session.Setenv("GIT_PROTOCOL", protocol)
	}
	session.Stderr = p.stderr
	p.in, err = session.StdinPipe()
	if err != nil {
		return err
	}
	out, err := session.StdoutPipe()
	if err != nil {
		return err
	}
	if err := session.Start(service + " " + shellQuote(path)); err != nil {
		return err
	}
	p.out = bufio.NewReaderSize(out, 64<<10)
	disconnect := p.stop
	p.stop = func() error {
		_ = session.Close()
		_ = session.Wait() // for the program's complete output
		return disconnect()
	}
	return nil
}

// shellQuote quotes a path for the remote shell, as Git does. A path in a home folder loses the slash that precedes
// it in the URL.
func shellQuote(p string) string {
	if strings.HasPrefix(p, "/~") {
		p = p[1:]
	}
	return "'" + strings.NewReplacer(`'`, `'\''`, `!`, `'\!'`).Replace(p) + "'"
}
