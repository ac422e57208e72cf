package rendering_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// readPipeline reads a pipeline of examples/pipelines.
func readPipeline(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(acc.ReadFile(t, acc.Examples+"/pipelines/"+file)), into); err != nil {
		t.Fatal(err)
	}
}

// giteaComment returns the commands by which Gitea's pipeline posts the description.
func giteaComment(t *testing.T) string {
	t.Helper()
	var pipeline struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	readPipeline(t, "gitea.yaml", &pipeline)
	for _, step := range pipeline.Jobs["plan"].Steps {
		if step.Name == "Comment" {
			return step.Run
		}
	}
	t.Fatal("no step posts a comment")
	return ""
}

// gitlabComment returns the commands by which GitLab's pipeline posts the description, without the installation of
// their programs.
func gitlabComment(t *testing.T) string {
	t.Helper()
	var pipeline struct {
		Plan struct{ Script []string }
	}
	readPipeline(t, "gitlab-ci.yml", &pipeline)
	_, script, found := strings.Cut(strings.Join(pipeline.Plan.Script, "\n"), "apk add --no-cache curl jq\n")
	if !found {
		t.Fatal("the job does not install curl and jq")
	}
	return script
}

// TestAccPipelineComments runs the steps of examples/pipelines that comment on a pull request. The comment is the
// description of the rendering's change. Without a change, no comment is posted.
func TestAccPipelineComments(t *testing.T) {
	t.Parallel()
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "dev", map[string]string{"README.md": "hello\n"})
	r := newRendering(t, repo)
	r.options("delivery", map[string]any{"describe": "keys"})

	var mu sync.Mutex
	var posted []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		credential := req.Header.Get("Authorization") + req.Header.Get("PRIVATE-TOKEN")
		mu.Lock()
		defer mu.Unlock()
		posted = append(posted, req.Method+" "+req.URL.Path+" "+credential, string(body))
		w.WriteHeader(http.StatusCreated)
	}))
	defer server.Close()
	run := func(script string) []string {
		t.Helper()
		r.Succeed("plan", "-no-color", "-out=plan")
		like := r.Command("plan")
		cmd := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", script)
		cmd.Dir, cmd.Env = like.Dir, append(like.Env, "JOB_TOKEN=job", "COMMENT_TOKEN=comment",
			"COMMENTS="+server.URL+"/api/v1/repos/acme/fleet/issues/7/comments", "CI_API_V4_URL="+server.URL+"/api/v4",
			"CI_PROJECT_ID=3", "CI_MERGE_REQUEST_IID=7",
			"PATH="+acc.TerraformFolder(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s\n%v\n%s", script, err, out)
		}
		mu.Lock()
		defer mu.Unlock()
		got := posted
		posted = nil
		return got
	}
	r.Apply()
	r.Set("value", "2")
	want, _ := r.Plan()[renderingAddress].After["description"].(string)
	if want == "" {
		t.Fatal("the plan has no description")
	}
	want += "\n"
	got := run(giteaComment(t))
	var comment struct{ Body string }
	if len(got) != 2 || got[0] != "POST /api/v1/repos/acme/fleet/issues/7/comments token job" ||
		json.Unmarshal([]byte(got[1]), &comment) != nil || comment.Body != want {
		t.Errorf("Gitea got %q, want %q", got, want)
	}
	got = run(gitlabComment(t))
	if len(got) != 2 || got[0] != "POST /api/v4/projects/3/merge_requests/7/notes comment" {
		t.Fatalf("GitLab got %q", got)
	}
	if form, err := url.ParseQuery(got[1]); err != nil || form.Get("body") != want {
		t.Errorf("GitLab got %q, want %q", form, want)
	}
	r.Apply()
	for _, script := range []string{giteaComment(t), gitlabComment(t)} {
		if got := run(script); len(got) > 0 {
			t.Errorf("without a change, %q is posted", got)
		}
	}
}
