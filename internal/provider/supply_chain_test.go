package provider_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// action matches a step that uses an action, with the rest of its line; pinned matches an action that is pinned by
// commit.
var (
	action = regexp.MustCompile(`(?m)^\s*-?\s*uses:\s*(\S+)(.*)$`)
	pinned = regexp.MustCompile(`^(?:https://github\.com/)?[\w./-]+@[0-9a-f]{40}$`)
)

// TestActionsArePinned checks that all workflows pin their actions by commit: in this repo, in the guides and in the
// examples.
func TestActionsArePinned(t *testing.T) {
	t.Parallel()
	found := 0
	for _, root := range []string{".github", "templates", "examples", "docs"} {
		err := filepath.WalkDir(filepath.Join("..", "..", root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, use := range action.FindAllStringSubmatch(string(text), -1) {
				found++
				if strings.HasPrefix(use[1], "acme/") { // a workflow of the reader's own
					continue
				}
				if !pinned.MatchString(use[1]) || !strings.HasPrefix(use[2], " # v") {
					t.Errorf("%s: %s%s has no commit with its version as a comment", path, use[1], use[2])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 20 {
		t.Errorf("only %d actions", found)
	}
}

// TestRelease checks that a release has SBOMs and an attestation, that the script of make dist builds it, and that its
// job, which has the signing key, runs in a protected environment.
func TestRelease(t *testing.T) {
	t.Parallel()
	read := func(into any, path ...string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
		if err == nil {
			err = yaml.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var workflow struct {
		Permissions map[string]string
		Jobs        map[string]struct {
			Environment string
			Permissions map[string]string
			Steps       []struct {
				Uses string
				Run  string
			}
		}
	}
	read(&workflow, ".github", "workflows", "release.yml")
	if len(workflow.Permissions) != 1 || workflow.Permissions["contents"] != "read" {
		t.Errorf("the default permissions are %v", workflow.Permissions)
	}
	uses := map[string]bool{}
	for name, job := range workflow.Jobs {
		if job.Environment == "" {
			t.Errorf("%s runs in no environment", name)
		}
		for _, step := range job.Steps {
			by, _, _ := strings.Cut(step.Uses, "@")
			uses[by] = true
			uses[step.Run] = true
		}
		if job.Permissions["attestations"] != "write" || job.Permissions["id-token"] != "write" {
			t.Errorf("%s can't attest", name)
		}
	}
	for _, want := range []string{"scripts/dist.sh --release", "actions/attest-build-provenance"} {
		if !uses[want] {
			t.Errorf("a release does not use %s", want)
		}
	}
	var config struct{ Sboms []struct{ Artifacts string } }
	read(&config, ".goreleaser.yml")
	if len(config.Sboms) != 1 || config.Sboms[0].Artifacts != "binary" {
		t.Errorf("SBOMs: %v", config.Sboms)
	}
	var updates struct {
		Updates []struct {
			Ecosystem string `json:"package-ecosystem"`
		}
	}
	read(&updates, ".github", "dependabot.yml")
	ecosystems := map[string]bool{}
	for _, u := range updates.Updates {
		ecosystems[u.Ecosystem] = true
	}
	if !ecosystems["gomod"] || !ecosystems["github-actions"] || !ecosystems["npm"] {
		t.Errorf("updates of %v", ecosystems)
	}
	var tests struct {
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	read(&tests, ".github", "workflows", "test.yml")
	runs := false
	for _, job := range tests.Jobs {
		for _, step := range job.Steps {
			runs = runs || step.Run == "make vulncheck"
		}
	}
	if !runs {
		t.Error("no workflow runs govulncheck")
	}
}
