package source_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/source"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// server is a Git server. A bare repo is created by its first commit.
type server struct {
	*gitserver.Server
	t     testing.TB
	repos map[string]string // folders by the names of the repos
}

func serve(t testing.TB, options ...gitserver.Option) *server {
	t.Helper()
	return &server{gitserver.New(t, t.TempDir(), options...), t, map[string]string{}}
}

func (s *server) dir(name string) string {
	s.t.Helper()
	if s.repos[name] == "" {
		dir := filepath.Join(s.Root, name+".git")
		gitserver.InitBareAt(s.t, dir)
		s.repos[name] = dir
	}
	return s.repos[name]
}

func (s *server) url(name string) string { return s.URL + "/" + name + ".git" }

// commit commits files to a branch of the named repo.
func (s *server) commit(name, branch string, files map[string]string) string {
	s.t.Helper()
	return gitserver.Seed(s.t, s.dir(name), branch, files)
}

func (s *server) registration(name, branch, path string) *fleet.WorkloadRegistration {
	return &fleet.WorkloadRegistration{
		Meta: fleet.Meta{Name: name, Origin: problem.Origin{Attribute: "registrations", Key: name}},
		Repo: s.url(name), Branch: branch, Path: path, Workspace: "team-" + name,
	}
}

// conversations returns the number of sessions and of requests since the log was reset.
func (s *server) conversations() (conversations, requests int) {
	for _, r := range s.Requests() {
		if r.Method == "GET" {
			conversations++
		}
		requests++
	}
	return conversations, requests
}

func reader(t testing.TB, credentials ...gitremote.Credential) *source.Reader {
	t.Helper()
	return readerWithLimits(t, source.DefaultLimits, credentials...)
}

func readerWithLimits(t testing.TB, limits source.Limits, credentials ...gitremote.Credential) *source.Reader {
	t.Helper()
	client, err := gitremote.NewClient(credentials)
	if err != nil {
		t.Fatal(err)
	}
	return source.NewReader(client, limits)
}

// workload returns the document of a Workload.
func workload(name string, labels ...string) string {
	text := "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata:\n  name: " + name + "\n"
	if len(labels) > 0 {
		text += "  labels: {" + strings.Join(labels, ", ") + "}\n"
	}
	return text + "spec:\n  deploymentTargets:\n  - {name: test, environment: dev}\n"
}

// document returns the document of a scheduler object of any kind.
func document(kind, name, spec string) string {
	return fmt.Sprintf(
		"apiVersion: scheduler.kalypso.io/v1alpha1\nkind: %s\nmetadata: {name: %s}\nspec: %s\n",
		kind,
		name,
		spec,
	)
}

// problemLines returns a line for each problem, such as "error shop w.yaml:3 Invalid YAML".
func problemLines(fs source.Problems) []string {
	var all []string
	for _, f := range fs {
		severity := "error"
		if f.Severity == problem.Warning {
			severity = "warning"
		}
		text := severity
		for _, part := range []string{f.Registration, f.File} {
			if part != "" {
				text += " " + part
			}
		}
		if f.Line > 0 {
			text += fmt.Sprintf(":%d", f.Line)
		}
		all = append(all, text+" "+f.Summary)
	}
	return all
}

// wants fails the test unless the problems are these lines, in any order, and their messages contain the texts.
func wants(t *testing.T, fs source.Problems, want []string, texts ...string) {
	t.Helper()
	if got := problemLines(fs); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("problems: got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	var all strings.Builder
	for _, f := range fs {
		all.WriteString(f.Error() + "\n")
	}
	for _, text := range texts {
		if !strings.Contains(all.String(), text) {
			t.Errorf("the problems do not say %q:\n%s", text, &all)
		}
	}
}
