package rendering_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// evil clears the screen and reverses the following text. shownEvil is the escaped form.
const (
	evil      = "\x1b[2J\u202e"
	shownEvil = `\x1b[2J\u202e`
)

// TestAccPrintable checks that control characters of hooks, authors, subjects and file names are escaped in output,
// logs, commits and descriptions.
func TestAccPrintable(t *testing.T) {
	t.Parallel()
	const operators = "This folder contains deployment targets scheduled on the cluster type"
	r := newRendering(t, gitserver.InitBare(t))
	r.StartProviders() // for its log
	r.Env = append(r.Env, "TF_LOG=TRACE", "TF_LOG_PATH="+filepath.Join(r.Folder, acc.LogName))
	gitserver.Seed(t, r.repo, "dev", map[string]string{
		"README.md": "Others'.\n", evil + "/README.md": operators, evil + "/a/reconciler.yaml": "old\n",
	})

	// File names in errors, in warnings and in the commit that removes the files.
	r.options("adopt", true)
	r.ExpectError([]string{"Change exceeds guardrails", shownEvil + "/a"}, "plan", "-no-color")
	r.options("guardrails", map[string]any{"max_removed": 10, "allow_empty": true})
	r.options("delivery", map[string]any{"strategy": "push", "describe": "keys"})
	out := r.Apply().Text()
	if !strings.Contains(out, "Existing folders will be adopted") || !strings.Contains(out, shownEvil) {
		t.Errorf("the apply does not list the folders that it adopts:\n%s", out)
	}
	message := gitserver.Git(t, r.repo, "log", "-1", "--format=%B", "dev")
	if !strings.Contains(message, shownEvil+":") || strings.Contains(message, "\x1b") {
		t.Errorf("the commit's message is %q", message)
	}
	description, _ := r.Rendered()["description"].(string)
	if !strings.Contains(description, "`"+shownEvil+"`") || strings.Contains(description, "\x1b") {
		t.Errorf("the description is %q", description)
	}

	// Authors, subjects and paths of foreign commits.
	gitserver.Seed(t, r.repo, "dev", map[string]string{"large/" + evil: "by hand\n"})
	drift := exec.Command("git", "commit-tree", "-p", "dev~1", "-m", "Hotfix "+evil, "dev^{tree}")
	drift.Dir = r.repo
	drift.Env = append(gitserver.Env(), "GIT_AUTHOR_NAME=Some"+evil+"body", "GIT_AUTHOR_EMAIL=a"+evil+"@acme.io")
	commit, err := drift.Output()
	if err != nil {
		t.Fatal(err)
	}
	gitserver.Git(t, r.repo, "update-ref", "refs/heads/dev", strings.TrimSpace(string(commit)))
	r.ExpectError([]string{
		"by Some" + shownEvil + "body <a" + shownEvil + "@acme.io>", "Hotfix " + shownEvil, "- large/" + shownEvil,
	}, "plan", "-no-color")
	r.options("on_drift", "overwrite")
	r.Apply()

	// Hooks.
	gitserver.Hook(t, r.repo, "pre-receive", "go "+evil+" away", 1)
	r.Set("value", "2")
	refused := []string{"The server refused the push", "remote: go " + shownEvil + " away"}
	r.ExpectError(refused, "apply", "-no-color", "-auto-approve")

	log := acc.ReadFile(t, filepath.Join(r.Folder, acc.LogName))
	for place, text := range map[string]string{"output": r.Printed.String(), "log": log} {
		if i := strings.IndexAny(text, "\x1b\u202e"); i >= 0 {
			t.Errorf("the %s contains a control character: …%q…", place, text[max(0, i-300):min(len(text), i+100)])
		}
	}
}
