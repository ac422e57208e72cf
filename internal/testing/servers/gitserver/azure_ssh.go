package gitserver

import (
	"bufio"
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
)

// AzureSSHServer behaves as Azure Repos does over SSH. It differs from git as [Azure] does over HTTP, and accepts only
// RSA keys.
type AzureSSHServer struct {
	Host       string // 127.0.0.1:port
	PrivateKey string // the accepted key, in PEM format
	KnownHosts string // the line of the server for known_hosts

	AzureRepos
	root     string // the folder with the repositories
	config   *ssh.ServerConfig
	accepted []byte // the public key of PrivateKey
}

// ServeAzureSSH starts a server for one bare repository, and returns the repository's URL.
func ServeAzureSSH(t testing.TB, repo string) (*AzureSSHServer, string) {
	t.Helper()
	_, hostKey := newKey(t, newRSA)
	userPEM, userKey := newKey(t, newRSA)
	s := &AzureSSHServer{
		root: filepath.Dir(repo), PrivateKey: userPEM, accepted: userKey.PublicKey().Marshal(),
	}
	s.config = &ssh.ServerConfig{PublicKeyCallback: s.checkKey}
	s.config.AddHostKey(hostKey)
	s.Host = programs.Listen(t, s.connection)
	s.KnownHosts = knownhosts.Line([]string{s.Host}, hostKey.PublicKey())
	return s, s.URL(filepath.Base(repo))
}

// URL returns the URL of a repository by its name.
func (s *AzureSSHServer) URL(name string) string {
	return "ssh://git@" + s.Host + (&url.URL{Path: "/" + azureSSHFolder + name}).EscapedPath()
}

func newRSA() (crypto.Signer, error) { return rsa.GenerateKey(rand.Reader, 2048) }

func (s *AzureSSHServer) checkKey(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
	if !bytes.Equal(key.Marshal(), s.accepted) {
		return nil, errors.New("unknown key")
	}
	return &ssh.Permissions{}, nil
}

// connection serves one connection until after the first command, as Azure Repos does.
func (s *AzureSSHServer) connection(conn net.Conn) {
	server, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		return
	}
	defer server.Close()
	go ssh.DiscardRequests(requests)
	for next := range channels {
		channel, requests, err := next.Accept()
		if err != nil {
			return
		}
		for request := range requests {
			if request.Type != "exec" { // such as a request to set GIT_PROTOCOL
				_ = request.Reply(false, nil)
				continue
			}
			_ = request.Reply(true, nil)
			var command struct{ Line string }
			code := uint32(1)
			if ssh.Unmarshal(request.Payload, &command) == nil && s.run(channel, command.Line) {
				code = 0
			}
			_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{code}))
			_ = channel.Close()
			return
		}
	}
}

// run runs a command, and reports whether it succeeded.
func (s *AzureSSHServer) run(channel ssh.Channel, command string) bool {
	service, at, _ := strings.Cut(command, " ")
	path, _ := url.PathUnescape(strings.TrimPrefix(strings.Trim(at, "'"), "/")) // clients may escape the path or not
	name, ok := strings.CutPrefix(path, azureSSHFolder)
	repo := filepath.Join(s.root, name)
	if _, err := os.Stat(repo); err != nil || !ok {
		return s.fail(channel, fmt.Sprintf(azureNoRepo, name))
	}
	if service == "git-receive-pack" && s.ReadOnly.Load() {
		return s.fail(channel, azureDenied)
	}
	var args []string
	for _, c := range azureConfig {
		args = append(args, "-c", c)
	}
	git := exec.Command("git", append(args, strings.TrimPrefix(service, "git-"), repo)...)
	git.Env, git.Stdout, git.Stderr = Env(), channel, channel.Stderr()
	stdin, err := git.StdinPipe()
	if err != nil || git.Start() != nil {
		return false
	}
	request := bufio.NewReader(channel)
	head, err := readHead(request)
	answer, refused := s.answer(repo, service, head)
	if answer != "" || refused != "" {
		_ = git.Process.Kill()
		_ = git.Wait()
		if refused != "" {
			return s.fail(channel, refused)
		}
		_, _ = io.WriteString(channel, answer)
		return true
	}
	if err == nil {
		_, _ = io.Copy(stdin, io.MultiReader(strings.NewReader(head), request))
	}
	_ = stdin.Close()
	return git.Wait() == nil
}

func (s *AzureSSHServer) fail(channel ssh.Channel, text string) bool {
	_, _ = io.WriteString(channel.Stderr(), "remote: "+text+"\n")
	return false
}
