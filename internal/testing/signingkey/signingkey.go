// Package signingkey makes keys that sign commits, and verifies signatures with the programs that people use: git,
// ssh-keygen and gpg.
package signingkey

import (
	"bytes"
	"crypto/ed25519"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"golang.org/x/crypto/ssh"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/signing"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// Email is the mail address in all keys.
const Email = "kalypso@acme.io"

// The programs that verify signatures.
var (
	SSHKeygen = programs.Program{Name: "ssh-keygen", Add: "apt-get install openssh-client"}
	GPG       = programs.Program{Name: "gpg", Add: "apt-get install gnupg"}
)

// Key is a private key whose signatures can be verified.
type Key struct {
	Private string
	Public  string // a line for a file of allowed signers (SSH), or an armored block (OpenPGP)
	format  string // the value of Git's gpg.format
	signers string // the file of allowed signers, for SSH
	home    string // the home folder of gpg, for OpenPGP
}

// NewSSH makes an Ed25519 key without a passphrase.
func NewSSH(t testing.TB) Key {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	must.Succeed(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	must.Succeed(t, err)
	return OfSSH(t, string(pem.EncodeToMemory(block)), private.Public())
}

// OfSSH returns a key of SSH. public has a type that [ssh.NewPublicKey] accepts.
func OfSSH(t testing.TB, private string, public any) Key {
	t.Helper()
	SSHKeygen.Find(t, "ssh-keygen")
	key, err := ssh.NewPublicKey(public)
	must.Succeed(t, err)
	signers := filepath.Join(t.TempDir(), "allowed_signers")
	line := Email + " " + string(ssh.MarshalAuthorizedKey(key))
	programs.WriteFile(t, signers, line)
	return Key{Private: private, Public: line, format: "ssh", signers: signers}
}

// Encrypted returns the same key of SSH, with its private key encrypted by a passphrase.
func (k Key) Encrypted(t testing.TB, passphrase string) Key {
	t.Helper()
	private, err := ssh.ParseRawPrivateKey([]byte(k.Private))
	must.Succeed(t, err)
	block, err := ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(passphrase))
	must.Succeed(t, err)
	k.Private = string(pem.EncodeToMemory(block))
	return k
}

// NewOpenPGP makes an Ed25519 key without a passphrase.
func NewOpenPGP(t testing.TB) Key {
	t.Helper()
	entity, err := openpgp.NewEntity("Kalypso", "", Email, &packet.Config{
		Algorithm: packet.PubKeyAlgoEdDSA, Time: func() time.Time { return time.Now().Add(-time.Hour) },
	})
	must.Succeed(t, err)
	return OfOpenPGP(t, Armoured(t, entity), entity)
}

// OfOpenPGP returns a key of OpenPGP.
func OfOpenPGP(t testing.TB, private string, public *openpgp.Entity) Key {
	t.Helper()
	gpg := GPG.Find(t, "gpg")
	k := Key{Private: private, format: "openpgp", home: t.TempDir()}
	must.Succeed(t, os.Chmod(k.home, 0o700))
	var exported bytes.Buffer
	must.Succeed(t, public.Serialize(&exported))
	k.Public = armoured(t, openpgp.PublicKeyType, exported.Bytes())
	cmd := exec.CommandContext(t.Context(), gpg, "--batch", "--quiet", "--import")
	cmd.Stdin, cmd.Env = &exported, append(gitserver.Env(), "GNUPGHOME="+k.home)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gpg --import: %v\n%s", err, out)
	}
	return k
}

// Armoured returns the armored private key of an entity.
func Armoured(t testing.TB, entity *openpgp.Entity) string {
	t.Helper()
	var private bytes.Buffer
	must.Succeed(t, entity.SerializePrivateWithoutSigning(&private, nil))
	return armoured(t, openpgp.PrivateKeyType, private.Bytes())
}

func armoured(t testing.TB, kind string, content []byte) string {
	t.Helper()
	var text strings.Builder
	w, err := armor.Encode(&text, kind, nil)
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	must.Succeed(t, err)
	return text.String()
}

// SignHead replaces the newest commit of a branch with a signed copy, and returns the copy's hash.
func (k Key) SignHead(t testing.TB, repo, branch string) string {
	t.Helper()
	text := gitserver.Git(t, repo, "cat-file", "commit", branch)
	signer, err := signing.New(signing.Settings{PrivateKey: k.Private}, time.Now())
	must.Succeed(t, err)
	signature, err := signer([]byte(text), time.Now())
	must.Succeed(t, err)
	headers, message, _ := strings.Cut(text, "\n\n")
	lines := strings.ReplaceAll(strings.TrimSpace(string(signature)), "\n", "\n ")
	file := filepath.Join(t.TempDir(), "commit")
	programs.WriteFile(t, file, headers+"\ngpgsig "+lines+"\n\n"+message)
	commit := strings.TrimSpace(gitserver.Git(t, repo, "hash-object", "-t", "commit", "-w", file))
	gitserver.Git(t, repo, "update-ref", "refs/heads/"+branch, commit)
	return commit
}

// VerifyCommits verifies commits of a repo with git verify-commit, and checks that each signature has the key's mail
// address.
func (k Key) VerifyCommits(t testing.TB, repo string, commits ...string) {
	t.Helper()
	for _, commit := range commits {
		cmd := exec.CommandContext(t.Context(), "git", "-C", repo, "-c", "gpg.format="+k.format,
			"-c", "gpg.ssh.allowedSignersFile="+k.signers, "verify-commit", "-v", commit)
		cmd.Env = append(gitserver.Env(), "GNUPGHOME="+k.home)
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte(Email)) {
			t.Errorf("git verify-commit %s: %v\n%s", commit, err, out)
		}
	}
}

// Verify verifies a signature of a text with ssh-keygen or gpg.
func (k Key) Verify(t testing.TB, text, signature []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "signature")
	programs.WriteFile(t, file, string(signature))
	cmd := exec.CommandContext(t.Context(), "gpg", "--batch", "--verify", file, "-")
	if k.format == "ssh" {
		cmd = exec.CommandContext(t.Context(), "ssh-keygen", "-Y", "verify", "-f", k.signers, "-I", Email, "-n", "git",
			"-s", file)
	}
	cmd.Stdin, cmd.Env = bytes.NewReader(text), append(gitserver.Env(), "GNUPGHOME="+k.home)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the signature can't be verified: %v\n%s", err, out)
	}
}
