package upgrade_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/pgserver"
)

// record names a revision, such as a tag. TestUpgrades first records the files that the provider of this revision
// writes.
var record = flag.String("record", "", "record the states and branches of the provider at a revision")

// cli names the environment variable with the path of the CLI.
const cli = "TF_ACC_TERRAFORM_PATH"

// The files of a version below testdata/versions.
const (
	state    = "state.json" // .gitignore has terraform.tfstate
	gitops   = "gitops.bundle"
	history  = "history.bundle"
	database = "postgres.sql"
	reports  = "reports.json"
)

// TestUpgrades: today's provider plans no change for a state, private state, branch and history store that an earlier
// version wrote. It applies a change on top, and the stores contain the runs of both versions.
func TestUpgrades(t *testing.T) {
	if os.Getenv(cli) == "" {
		t.Skip(cli + " is not set: the test runs the Terraform CLI")
	}
	if *record != "" {
		t.Run("record", func(t *testing.T) { write(t, *record) })
	}
	versions, err := filepath.Glob("testdata/versions/*")
	if err != nil || len(versions) == 0 {
		t.Fatal("no version is recorded", err)
	}
	provider := build(t, programs.Root(), "999.0.0")
	server := pgserver.Start(t)
	for _, version := range versions {
		t.Run(filepath.Base(version), func(t *testing.T) {
			p := newPlace(t, filepath.Base(version), provider, server.Database(t))
			p.restore(version)
			if out, code := p.terraform("plan", "-no-color", "-detailed-exitcode"); code != 0 {
				t.Fatalf("the plan of the state that version %s wrote has exit code %d:\n%s", version, code, out)
			}
			before := p.commits("gitops.git", "stage")
			p.succeed("apply", "-no-color", "-auto-approve", "-var=region=north")
			if now := p.commits("gitops.git", "stage"); now != before+1 {
				t.Errorf("the branch has %d commits, and had %d", now, before)
			}
			p.report("1.3")
			p.succeed("apply", "-no-color", "-auto-approve", "-var=region=north")
			if out, code := p.terraform("plan", "-no-color", "-detailed-exitcode", "-var=region=north"); code != 0 {
				t.Errorf("the plan after the apply has exit code %d:\n%s", code, out)
			}
			const query = "SELECT DISTINCT version FROM kalypso.runs WHERE version LIKE '1.%' ORDER BY 1"
			runs := strings.Join(pgserver.Select(t, p.postgres, query), " ")
			if want := "1.1 1.2 1.3"; runs != want { // today's provider has recorded 1.3
				t.Errorf("PostgreSQL has runs of the versions %s, want %s", runs, want)
			}
			for _, version := range strings.Fields(runs) {
				run(t, p.folder, "git", "--git-dir=history.git", "grep", "--quiet", `"`+version+`"`, "history")
			}
			p.newer()
		})
	}
}

// newer sets the version of a newer provider in the store, in the record and in the state, one after the other. Each of
// them causes an error that names the newer version, and nothing is written.
func (p *place) newer() {
	p.t.Helper()
	refuses := func(name string, args ...string) {
		p.t.Helper()
		out, code := p.terraform(args...)
		text := strings.Join(strings.Fields(strings.NewReplacer("│", "", "╷", "", "╵", "").Replace(out)), " ")
		if code != 1 || !strings.Contains(text, name) {
			p.t.Errorf("terraform %s has exit code %d and does not say %q:\n%s", args[0], code, name, out)
		}
	}
	plan, apply := []string{"plan", "-no-color"}, []string{"apply", "-no-color", "-auto-approve", "-var=region=south"}
	before := p.commits("gitops.git", "stage") + p.commits("history.git", "history")

	pgserver.Exec(p.t, p.postgres, "UPDATE kalypso.schema_version SET version = 99, min_writer = 99")
	p.report("99.0")
	refuses("use a newer provider", "apply", "-no-color", "-auto-approve", "-target=kalypso_deployment_record.postgres",
		"-var=region=north")

	clone := filepath.Join(p.t.TempDir(), "clone")
	run(p.t, p.folder, "git", "clone", "--quiet", "--branch=stage", "gitops.git", clone)
	file := filepath.Join(clone, ".kalypso", "rendering.json")
	text, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`"version": 1,`), []byte(`"version": 99,`), 1)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		p.t.Fatal(err)
	}
	run(p.t, clone, "git", "-c", "user.name=N", "-c", "user.email=n@example.com", "commit", "--quiet", "-am", "Newer")
	run(p.t, clone, "git", "push", "--quiet")
	const record = "The rendering's record is newer than the provider"
	refuses(record, plan...)
	refuses(record, apply...)

	const stored = `"type": "kalypso_environment_rendering"`
	replaceIn(p.t, filepath.Join(p.folder, "terraform.tfstate"), stored, `"schema_version": 0`, `"schema_version": 99`)
	refuses("managed by newer provider version", plan...)
	refuses("managed by newer provider version", apply...)
	if now := p.commits("gitops.git", "stage") + p.commits("history.git", "history"); now != before+1 {
		p.t.Errorf("there were %d commits, and are %d", before+1, now)
	}
}

// replaceIn replaces the first old text that follows another text in a file.
func replaceIn(t *testing.T, file, after, old, now string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	begin, rest, found := strings.Cut(string(text), after)
	if !found || !strings.Contains(rest, old) {
		t.Fatalf("%s has no %s after %s", file, old, after)
	}
	if err := os.WriteFile(file, []byte(begin+after+strings.Replace(rest, old, now, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// write applies the root for two regions with the provider of a revision, and stores the files that it wrote.
func write(t *testing.T, revision string) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "source")
	run(t, programs.Root(), "git", "worktree", "add", "--detach", source, revision)
	t.Cleanup(func() { run(t, programs.Root(), "git", "worktree", "remove", "--force", source) })
	server := pgserver.Start(t)
	p := newPlace(t, revision, build(t, source, "0.0.1"), server.Database(t))
	for _, repo := range []string{"gitops.git", "history.git"} {
		run(t, p.folder, "git", "init", "--quiet", "--bare", repo)
	}
	for i, region := range []string{"east", "west"} {
		p.succeed("apply", "-no-color", "-auto-approve", "-var=region="+region)
		p.report(fmt.Sprintf("1.%d", i+1))
		p.succeed("apply", "-no-color", "-auto-approve", "-var=region="+region)
	}
	into, err := filepath.Abs(filepath.Join("testdata", "versions", revision))
	if err == nil {
		err = os.MkdirAll(into, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	run(t, p.folder, "git", "--git-dir=gitops.git", "bundle", "create", filepath.Join(into, gitops), "--all")
	run(t, p.folder, "git", "--git-dir=history.git", "bundle", "create", filepath.Join(into, history), "--all")
	copyFile(t, filepath.Join(p.folder, "terraform.tfstate"), filepath.Join(into, state))
	copyFile(t, filepath.Join(p.folder, reports), filepath.Join(into, reports))
	dump := server.Dump(t, p.postgres, "kalypso")
	if err := os.WriteFile(filepath.Join(into, database), []byte(dump), 0o600); err != nil {
		t.Fatal(err)
	}
}

// place is a folder with the root and its repos. The state contains their paths, so the folder of a version is always
// the same.
type place struct {
	t                *testing.T
	folder, postgres string
	environment      []string
}

func newPlace(t *testing.T, version, provider, database string) *place {
	t.Helper()
	folder := filepath.Join(os.TempDir(), "kalypso-upgrade-"+version)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	copyFile(t, filepath.Join("testdata", "root", "main.tf"), filepath.Join(folder, "main.tf"))
	rc := fmt.Sprintf(overrides, provider)
	if err := os.WriteFile(filepath.Join(folder, "terraform.rc"), []byte(rc), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, folder: folder, postgres: database}
	p.environment = append(os.Environ(), "TF_CLI_CONFIG_FILE="+filepath.Join(folder, "terraform.rc"),
		"TF_VAR_place="+folder, "KALYPSO_POSTGRES_URL="+database, "CHECKPOINT_DISABLE=1")
	return p
}

const overrides = `provider_installation {
  dev_overrides {
    "terraform-kalypso/kalypso" = %q
  }
}
`

// restore copies the recorded files of a version to the folder.
func (p *place) restore(version string) {
	p.t.Helper()
	from, err := filepath.Abs(version)
	if err != nil {
		p.t.Fatal(err)
	}
	run(p.t, p.folder, "git", "clone", "--quiet", "--mirror", filepath.Join(from, gitops), "gitops.git")
	run(p.t, p.folder, "git", "clone", "--quiet", "--mirror", filepath.Join(from, history), "history.git")
	copyFile(p.t, filepath.Join(from, state), filepath.Join(p.folder, "terraform.tfstate"))
	copyFile(p.t, filepath.Join(from, reports), filepath.Join(p.folder, reports))
	dump, err := os.ReadFile(filepath.Join(from, database))
	if err != nil {
		p.t.Fatal(err)
	}
	pgserver.Exec(p.t, p.postgres, string(dump))
}

// report writes the report of a cluster that runs the head of the branch, with a version of its deployment target.
func (p *place) report(version string) {
	p.t.Helper()
	head := run(p.t, p.folder, "git", "--git-dir=gitops.git", "rev-parse", "stage")
	text := fmt.Sprintf(`[{"cluster": "drone-1", "folder": "drone", "state": "current", "revision": %q,
  "time": "2026-11-25T12:00:00Z", "targets": [{"name": "web", "version": %q}]}]
`, head, version)
	if err := os.WriteFile(filepath.Join(p.folder, reports), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// commits returns the number of commits of a branch.
func (p *place) commits(repo, branch string) (n int) {
	p.t.Helper()
	if _, err := fmt.Sscan(run(p.t, p.folder, "git", "--git-dir="+repo, "rev-list", "--count", branch), &n); err != nil {
		p.t.Fatal(err)
	}
	return n
}

func (p *place) succeed(args ...string) {
	p.t.Helper()
	if out, code := p.terraform(args...); code != 0 {
		p.t.Fatalf("terraform %s: exit code %d\n%s", strings.Join(args, " "), code, out)
	}
}

func (p *place) terraform(args ...string) (out string, code int) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), os.Getenv(cli), args...)
	cmd.Dir, cmd.Env = p.folder, p.environment
	printed, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		p.t.Fatal(err)
	}
	return string(printed), cmd.ProcessState.ExitCode()
}

// build builds the provider in a folder of sources, and returns the folder with it.
func build(t *testing.T, source, version string) string {
	t.Helper()
	folder := t.TempDir()
	flags := "-ldflags=-s -w -X main.version=" + version
	run(t, source, "go", "build", flags, "-o", folder+"/terraform-provider-kalypso", ".")
	return folder
}

// run runs a command in a folder, and returns what it prints.
func run(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = folder
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, errOut.String())
	}
	return strings.TrimSpace(out.String())
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
