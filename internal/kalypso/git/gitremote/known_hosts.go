package gitremote

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"

	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
)

// parseKnownHosts parses the content of a known_hosts file. The library only reads files, so the content, which is
// not secret, goes to a temporary file. If that fails, the error is [ErrNoTempFile].
func parseKnownHosts(text string) (*knownhosts.HostKeyDB, error) {
	f, err := os.CreateTemp("", "known_hosts")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoTempFile, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(text + "\n")
	if err = cmp.Or(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoTempFile, err)
	}
	db, err := knownhosts.NewDB(f.Name())
	if err != nil {
		return nil, errors.New("a line is invalid; each line has a host, a key type and a key, as printed by ssh-keyscan")
	}
	return db, nil
}

// hostKeys returns the known hosts of a credential, or those of the user's files.
func hostKeys(s *auth) (*knownhosts.HostKeyDB, error) {
	if s.knownHosts != "" {
		return parseKnownHosts(s.knownHosts)
	}
	db, err := gitssh.NewKnownHostsDb()
	if err != nil {
		return nil, fmt.Errorf("%w: no known hosts are configured, and the user's known_hosts files can't be used: %w; "+
			"set known_hosts of the credential to the line that the server's operator publishes", ErrUnknownHost, err)
	}
	return db, nil
}

// hostKeyCheck rejects unknown host keys with an error that shows the key.
func hostKeyCheck(db *knownhosts.HostKeyDB) ssh.HostKeyCallback {
	known := db.HostKeyCallback()
	return func(host string, remote net.Addr, key ssh.PublicKey) error {
		err := known(host, remote, key)
		name, shown := knownhosts.Normalize(host), key.Type()+" "+ssh.FingerprintSHA256(key)
		switch {
		case err == nil:
			return nil
		case knownhosts.IsHostKeyChanged(err):
			return fmt.Errorf("%w: %s presents the key %s, but known_hosts has another one: a third party may intercept the "+
				"connection, or the server has a new key; compare it with the key that the operator publishes, "+
				"then update known_hosts",
				ErrUnknownHost, name, shown)
		case knownhosts.IsHostUnknown(err):
			return fmt.Errorf("%w: %s presents the key %s, but is not in known_hosts; "+
				"compare it with the key that the operator publishes, then add it to known_hosts",
				ErrUnknownHost, name, shown)
		}
		return fmt.Errorf("%w: %s: %w", ErrUnknownHost, name, err)
	}
}
