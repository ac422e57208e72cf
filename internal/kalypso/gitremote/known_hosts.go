package gitremote

import (
	"errors"
	"fmt"
	"net"
	"os"

	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
)

// parseKnownHosts reads the text of a known_hosts file. The library wants
// files, so the text is one for as long as that takes; it is no secret.
// Where it can't be, the error is [ErrNoTempFile].
func parseKnownHosts(text string) (*knownhosts.HostKeyDB, error) {
	f, err := os.CreateTemp("", "known_hosts")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoTempFile, err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	if _, err = f.WriteString(text + "\n"); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%w: %w", ErrNoTempFile, err)
	}
	if err = f.Close(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoTempFile, err)
	}
	db, err := knownhosts.NewDB(f.Name())
	if err != nil {
		return nil, errors.New("a line does not parse; each has a host, a key type and a key, as ssh-keyscan prints them")
	}
	return db, nil
}

// hostKeys are the known hosts that hold for a credential: its own, else the
// user's files.
func hostKeys(s *served) (*knownhosts.HostKeyDB, error) {
	if s != nil && s.knownHosts != "" {
		return parseKnownHosts(s.knownHosts)
	}
	db, err := gitssh.NewKnownHostsDb()
	if err != nil {
		return nil, fmt.Errorf("%w: no known hosts are configured and the user has no known_hosts file; "+
			"set known_hosts of the credential to the server's line, as its operator publishes it", ErrUnknownHost)
	}
	return db, nil
}

// hostKeyCheck refuses every host key but those known, and says which key it
// was.
func hostKeyCheck(db *knownhosts.HostKeyDB) ssh.HostKeyCallback {
	known := db.HostKeyCallback()
	return func(host string, remote net.Addr, key ssh.PublicKey) error {
		err := known(host, remote, key)
		name, shown := knownhosts.Normalize(host), key.Type()+" "+ssh.FingerprintSHA256(key)
		switch {
		case err == nil:
			return nil
		case knownhosts.IsHostKeyChanged(err):
			return fmt.Errorf("%w: %s shows the key %s, and the known hosts have another: somebody may be in between, "+
				"or the server has a new key; compare with what its operator publishes, then replace its line in known_hosts",
				ErrUnknownHost, name, shown)
		case knownhosts.IsHostUnknown(err):
			return fmt.Errorf("%w: %s shows the key %s, and is not among the known hosts; "+
				"compare with what its operator publishes, then add its line to known_hosts",
				ErrUnknownHost, name, shown)
		}
		return fmt.Errorf("%w: %s: %w", ErrUnknownHost, name, err)
	}
}
