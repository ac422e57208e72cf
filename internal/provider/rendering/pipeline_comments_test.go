package rendering_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/programs"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/must"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// readPipeline reads a pipeline of examples/pipelines.
func readPipeline(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(acc.ReadFile(t, acc.Examples+"/pipelines/"+file)), into); err != nil {
		t.Fatal(err)
	}
}

// workflowComment returns the commands by which a workflow of GitHub or Gitea comments.
func workflowComment(t *testing.T, file string) string {
	t.Helper()
	var pipeline struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	readPipeline(t, file, &pipeline)
	for _, step := range pipeline.Jobs["plan"].Steps {
		if step.Name == "Comment" {
			return step.Run
		}
	}
	t.Fatal("no step posts a comment")
	return ""
}

// azureComment returns the commands by which Azure's pipeline comments, at a server.
func azureComment(t *testing.T, server string) string {
	t.Helper()
	var pipeline struct {
		Stages []struct {
			Jobs []struct {
				Steps []struct{ Script string }
			}
		}
	}
	readPipeline(t, "azure-pipelines.yml", &pipeline)
	return strings.NewReplacer("$(System.CollectionUri)", server+"/", "$(System.TeamProject)", "fleet",
		"$(Build.Repository.ID)", "3", "$(System.PullRequest.PullRequestId)", "7").
		Replace(pipeline.Stages[0].Jobs[0].Steps[1].Script)
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

// TestAccPipelineComments runs the steps of examples/pipelines that comment on a pull request. The comment begins with
// the warnings of the plan, and contains the description of the rendering's change, or the plan. Without a change and a
// warning, no description is posted.
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
	gh := t.TempDir() // the program gh posts the file that it gets
	must.Succeed(t, programs.Write(filepath.Join(gh, "gh"),
		"#!/bin/sh\ncurl --silent --data-binary @comment.md "+server.URL+"/gh\n"))
	run := func(script string) []string {
		t.Helper()
		r.Write("plan.txt", r.Succeed("plan", "-no-color", "-out=plan").Stdout)
		like := r.Command("plan")
		cmd := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", script)
		cmd.Dir, cmd.Env = like.Dir, append(like.Env, "JOB_TOKEN=job", "COMMENT_TOKEN=comment",
			"COMMENTS="+server.URL+"/api/v1/repos/acme/fleet/issues/7/comments", "CI_API_V4_URL="+server.URL+"/api/v4",
			"CI_PROJECT_ID=3", "CI_MERGE_REQUEST_IID=7",
			"SYSTEM_ACCESSTOKEN=job",
			"PATH="+gh+string(os.PathListSeparator)+acc.TerraformFolder(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
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
	got := run(workflowComment(t, "gitea.yaml"))
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

	// A target that no policy places is a warning.
	r.Set("targets", map[string]any{"a": "large", "b": "large", "c": "small", "d": "nowhere"})
	const warning = "    Warning: "
	for name, script := range map[string]string{
		"Gitea": workflowComment(t, "gitea.yaml"), "GitLab": gitlabComment(t), "Azure": azureComment(t, server.URL),
		"GitHub": strings.ReplaceAll(workflowComment(t, "github.yaml"), "${{ github.event.number }}", "7"),
	} {
		got := run(script)
		if len(got) != 2 {
			t.Fatalf("%s got %q", name, got)
		}
		text := got[1]
		switch name {
		case "GitLab":
			form, _ := url.ParseQuery(text)
			text = form.Get("body")
		case "Gitea":
			must.Succeed(t, json.Unmarshal([]byte(text), &comment))
			text = comment.Body
		case "Azure":
			var thread struct{ Comments []struct{ Content string } }
			must.Succeed(t, json.Unmarshal([]byte(text), &thread))
			text = thread.Comments[0].Content
		}
		if !strings.HasPrefix(text, warning) {
			t.Errorf("%s's comment does not begin with the warnings: %s", name, text)
		}
	}
	r.Set("targets", map[string]any{"a": "large", "b": "large", "c": "small"})
	r.Apply()
	for _, script := range []string{workflowComment(t, "gitea.yaml"), gitlabComment(t)} {
		if got := run(script); len(got) > 0 {
			t.Errorf("without a change, %q is posted", got)
		}
	}
}
