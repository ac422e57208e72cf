// Package cosign runs cosign, the program with which people verify the signatures of OCI artifacts.
package cosign

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
)

// Run runs cosign in a folder, with a password for keys, and returns its output.
func Run(t testing.TB, folder, password string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), programs.Built(t, "cosign"), args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "COSIGN_PASSWORD="+password, "HOME="+folder)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("cosign %s: %w\n%s", strings.Join(args, " "), err, &problems)
	}
	return out.String(), nil
}

// Key is a pair of keys that cosign has made, in PEM.
type Key struct {
	Private, Password string
	Public            string

	folder string
}

// NewKey lets cosign make a pair of keys.
func NewKey(t testing.TB) Key {
	t.Helper()
	k := Key{Password: "to the cosign key", folder: t.TempDir()}
	if _, err := Run(t, k.folder, k.Password, "generate-key-pair"); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]*string{"cosign.key": &k.Private, "cosign.pub": &k.Public} {
		content, err := os.ReadFile(filepath.Join(k.folder, name))
		must.Succeed(t, err)
		*text = string(content)
	}
	return k
}

// verify runs a command of cosign that verifies, with a public key, a signature or provenance that is attached to an
// artifact.
func verify(t testing.TB, public, artifact string, args ...string) (string, error) {
	t.Helper()
	folder := t.TempDir()
	programs.WriteFile(t, filepath.Join(folder, "key.pub"), public)
	args = append(args, "--key", "key.pub", "--insecure-ignore-tlog", "--allow-http-registry", artifact)
	return Run(t, folder, "", args...)
}

// Verify verifies the signature of an artifact with a public key.
func Verify(t testing.TB, public, artifact string) error {
	t.Helper()
	_, err := verify(t, public, artifact, "verify")
	return err
}

// Provenance verifies the provenance of an artifact with a public key, and returns cosign's output.
func Provenance(t testing.TB, public, artifact string) (string, error) {
	t.Helper()
	return verify(t, public, artifact, "verify-attestation", "--type", "slsaprovenance1")
}

// Sign signs an artifact as people do.
func (k Key) Sign(t testing.TB, artifact string) {
	t.Helper()
	_, err := Run(t, k.folder, k.Password, "sign", "--key", "cosign.key", "--allow-http-registry", "--yes",
		"--tlog-upload=false", "--use-signing-config=false", "--new-bundle-format=false", artifact)
	must.Succeed(t, err)
}
