package gitremote_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestHookEnvironment: a hook of a local repo gets the variables that programs need to run, such as PATH, but no other
// variable of the provider's environment.
func TestHookEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"GITHUB_TOKEN": "canary-1", "TF_VAR_password": "canary-2", "AWS_SECRET_ACCESS_KEY": "canary-3",
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "http.extraHeader", "GIT_CONFIG_VALUE_0": "Authorization: canary-4",
		"GIT_DIR": "/canary-5", "ANYTHING": "canary-6",
	} {
		t.Setenv(name, value)
	}
	repo := gitserver.InitBare(t)
	seen := filepath.Join(t.TempDir(), "environment")
	script := "#!/bin/sh\ncat >/dev/null\nenv >'" + seen + "'\nexit 1\n"
	if err := programs.Write(filepath.Join(repo, "hooks", "pre-receive"), script); err != nil {
		t.Fatal(err)
	}
	head := gitserver.Seed(t, repo, "main", map[string]string{"a": "1\n"})
	err := pushTo(t.Context(), open(t, "file://"+repo, nil),
		gitremote.PushRequest{Branch: main, Old: plumbing.NewHash(head)})
	if !errors.Is(err, gitremote.ErrRejected) {
		t.Fatal(err)
	}
	environment, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	text := string(environment)
	if strings.Contains(text, "canary") || !strings.Contains(text, "PATH=") || !strings.Contains(text, "LC_ALL=C") {
		t.Errorf("the hook's environment is\n%s", text)
	}
}
