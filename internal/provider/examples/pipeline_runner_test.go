package examples_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// runner runs the commands of pipelines: each job in a new clone, with Terraform, the provider from a mirror, and the
// states on a server.
type runner struct {
	t      *testing.T
	folder string
	env    []string
	server string // it serves states below /api/v4/projects/1/terraform/state, and takes what is posted to it
	posted *[]string
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	acc.NeedTerraform(t)
	folder := t.TempDir()
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		at := filepath.Join(folder, "mirror", host, acc.OwnAddress, "0.0.1", runtime.GOOS+"_"+runtime.GOARCH)
		must.Succeed(t, os.MkdirAll(at, 0o755))
		must.Succeed(t, os.Link(acc.ProviderBinary(t), filepath.Join(at, "terraform-provider-kalypso_v0.0.1")))
	}
	rc := filepath.Join(folder, "terraform.rc")
	programs.WriteFile(t, rc, "disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror {\n    path = \""+
		filepath.Join(folder, "mirror")+"\"\n  }\n}\n")
	r := &runner{t: t, folder: folder, posted: new([]string)}
	r.server = serveStates(t, r.posted)
	r.env = append([]string{
		"PATH=" + acc.TerraformFolder(t) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + t.TempDir(), "TF_CLI_CONFIG_FILE=" + rc, "TF_IN_AUTOMATION=1", "TF_INPUT=0",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
	}, acc.Collector...)
	return r
}

// serveStates serves the states of Terraform as GitLab does, and keeps the bodies of all other requests.
func serveStates(t *testing.T, posted *[]string) string {
	t.Helper()
	var mu sync.Mutex
	states := map[string][]byte{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		mu.Lock()
		defer mu.Unlock()
		switch state, found := states[req.URL.Path]; {
		case !strings.Contains(req.URL.Path, "/terraform/state/"):
			*posted = append(*posted, string(body))
		case strings.HasSuffix(req.URL.Path, "/lock"):
		case req.Method == http.MethodPost:
			states[req.URL.Path] = body
		case !found:
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = w.Write(state)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// job contains the commands of a job of a pipeline, and its environment.
type job struct {
	env      map[string]string
	commands []string
}

// run runs a job in a folder, and returns what it printed, and whether it succeeded.
func (r *runner) run(folder string, j job) (printed string, ok bool) {
	r.t.Helper()
	cmd := exec.CommandContext(r.t.Context(), "bash", "-eo", "pipefail", "-c", strings.Join(j.commands, "\n"))
	cmd.Dir, cmd.Env = folder, slices.Clone(r.env)
	for name, value := range j.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// clone returns a new clone of a branch.
func (r *runner) clone(repo, branch string) string {
	r.t.Helper()
	folder := filepath.Join(r.t.TempDir(), "clone")
	gitserver.Git(r.t, r.folder, "clone", "--quiet", "--branch", branch, repo, folder)
	return folder
}

var (
	expression = regexp.MustCompile(`\$\{\{ *([^}]*?) *\}\}`)
	reference  = regexp.MustCompile(`\$(\w+)|\$\{(\w+)\}`)
)

// githubJob returns a job of a workflow. Its expressions have the given values; secrets and variables of the repo are
// empty. The states are on the server, at the key of the backend.
func (r *runner) githubJob(file, name string, values map[string]string) job {
	r.t.Helper()
	var workflow struct {
		Env  map[string]string
		Jobs map[string]struct {
			Env   map[string]string
			Steps []struct{ Run, Uses string }
		}
	}
	must.Succeed(r.t, yaml.Unmarshal([]byte(acc.ReadFile(r.t, file)), &workflow))
	evaluate := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(match string) string {
			name := expression.FindStringSubmatch(match)[1]
			value, known := values[name]
			if !known && !strings.HasPrefix(name, "secrets.") && !strings.HasPrefix(name, "vars.") {
				r.t.Fatalf("%s: the test has no value for %s", file, match)
			}
			return value
		})
	}
	found, ok := workflow.Jobs[name]
	if !ok {
		r.t.Fatalf("%s has no job %s", file, name)
	}
	j := job{env: map[string]string{}}
	for _, env := range []map[string]string{workflow.Env, found.Env} {
		for name, value := range env {
			j.env[name] = evaluate(value)
		}
	}
	for _, step := range found.Steps {
		if step.Run != "" {
			j.commands = append(j.commands, evaluate(step.Run))
		}
	}
	if key, ok := strings.CutPrefix(j.env["TF_CLI_ARGS_init"], "-backend-config=key="); ok {
		delete(j.env, "TF_CLI_ARGS_init")
		j.env["TF_HTTP_ADDRESS"] = r.server + "/terraform/state/" + key
	}
	return j
}

// gitlabJob returns a job of a GitLab pipeline, whose predefined variables have the given values. Programs are not
// installed.
func (r *runner) gitlabJob(file, name string, values map[string]string) job {
	r.t.Helper()
	_, text, isComponent := strings.Cut(acc.ReadFile(r.t, file), "\n---\n")
	if !isComponent {
		text = acc.ReadFile(r.t, file)
	}
	for name, value := range values {
		text = strings.ReplaceAll(text, "$[[ "+name+" ]]", value)
	}
	type commands struct {
		Variables map[string]any
		Script    []string
		Before    []string `json:"before_script"`
	}
	var parts map[string]any
	must.Succeed(r.t, yaml.Unmarshal([]byte(text), &parts))
	decode := func(v any) (c commands) {
		encoded, err := yaml.Marshal(v)
		must.Succeed(r.t, err)
		must.Succeed(r.t, yaml.Unmarshal(encoded, &c))
		return c
	}
	all, common, own := decode(parts), decode(parts["default"]), decode(parts[name])
	if len(own.Script) == 0 {
		r.t.Fatalf("%s has no job %s", file, name)
	}
	j := job{env: maps.Clone(values)}
	for _, variables := range []map[string]any{all.Variables, own.Variables} {
		for name, value := range variables {
			j.env[name] = strings.Trim(acc.ToJSON(r.t, value), `"`)
		}
	}
	for range 5 { // variables refer to variables
		for name, value := range j.env {
			j.env[name] = reference.ReplaceAllStringFunc(value, func(match string) string {
				return j.env[strings.Trim(match, "${}")]
			})
		}
	}
	for _, line := range slices.Concat(common.Before, own.Script) {
		if !strings.HasPrefix(line, "apk add ") {
			j.commands = append(j.commands, line)
		}
	}
	return j
}
