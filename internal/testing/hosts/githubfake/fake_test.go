package githubfake_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

type object = map[string]any

// caller sends requests to the API of a fake.
type caller struct {
	t     *testing.T
	s     *githubfake.Server
	token string
}

func (c caller) do(method, path string, body any) (int, http.Header, object) {
	c.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.s.URL+"/api/"+path, bytes.NewReader(data))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, nil, nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	var answer any
	if len(text) > 0 && json.Unmarshal(text, &answer) != nil {
		c.t.Fatalf("%s %s answers no JSON: %s", method, path, text)
	}
	if o, ok := answer.(object); ok {
		return resp.StatusCode, resp.Header, o
	}
	return resp.StatusCode, resp.Header, object{"list": answer}
}

// expect sends a request and compares the status. If said is not empty, the answer must contain it.
func (c caller) expect(status int, said, method, path string, body any) object {
	c.t.Helper()
	got, _, answer := c.do(method, path, body)
	text, err := json.Marshal(answer)
	if err != nil {
		c.t.Fatal(err)
	}
	if got != status || !strings.Contains(string(text), said) {
		c.t.Errorf("%s %s: %d %s, want %d %s", method, path, got, text, status, said)
	}
	return answer
}

const pulls = "v3/repos/acme/gitops/pulls"

func start(t *testing.T) (caller, *githubfake.Repo) {
	t.Helper()
	s := githubfake.New(t, hostfake.WithGitBackend())
	r := s.AddRepo(t, "acme/gitops")
	gitserver.Seed(t, r.Path, "main", map[string]string{"README.md": "hello\n"})
	return caller{t, s, s.Token}, r
}

// branch creates a branch at the head of main and adds commits, each with one file.
func branch(t *testing.T, r *githubfake.Repo, name string, files ...string) {
	t.Helper()
	gitserver.Git(t, r.Path, "branch", "--force", name, "main")
	for _, f := range files {
		gitserver.SeedFiles(t, r.Path, name, "Add "+f, map[string]gitserver.File{f: {Mode: "100644", Content: f + "\n"}})
	}
}

func propose(head string) object {
	return object{"title": "Change " + head, "head": head, "base": "main", "body": "Text"}
}

// The fake refuses pull requests that GitHub refuses, with GitHub's texts.
func TestOpenRefuses(t *testing.T) {
	c, r := start(t)
	branch(t, r, "change", "a")
	gitserver.Git(t, r.Path, "branch", "same", "main")
	c.expect(201, `"number":1`, "POST", pulls, propose("change"))
	c.expect(422, "A pull request already exists for acme:change.", "POST", pulls, propose("change"))
	c.expect(422, `"field":"head"`, "POST", pulls, propose("unknown"))
	c.expect(422, "No commits between main and same", "POST", pulls, propose("same"))
	long := propose("change")
	long["body"] = strings.Repeat("x", 65537)
	c.expect(422, "body is too long (maximum is 65536 characters)", "POST", pulls, long)
	long["base"] = "unknown"
	long["body"] = ""
	c.expect(422, `"field":"base"`, "POST", pulls, long)

	c.token = "wrong"
	c.expect(401, "Bad credentials", "GET", pulls+"/1", nil)
	c.token = "foreign"
	c.s.AddToken("foreign", "eve", nil)
	c.expect(404, "Not Found", "GET", pulls+"/1", nil)
	c.token = "reader"
	c.s.AddToken("reader", "bob", map[string]hostfake.Access{"acme/gitops": hostfake.Read})
	c.expect(200, `"number":1`, "GET", pulls+"/1", nil)
	c.expect(403, "Resource not accessible", "PATCH", pulls+"/1", object{"state": "closed"})
	c.token = ""
	c.expect(404, "Not Found", "GET", pulls+"/1", nil)
}

// A pull request's head follows its branch. A merge, by each method, merges in Git.
func TestMerge(t *testing.T) {
	for method, want := range map[string][]string{
		"merge":  {"Merge pull request #1 from acme/change", "Add b", "Add a", "Other", "Seed"},
		"squash": {"Change change (#1)", "Other", "Seed"},
		"rebase": {"Add b", "Add a", "Other", "Seed"},
	} {
		t.Run(method, func(t *testing.T) {
			c, r := start(t)
			branch(t, r, "change", "a")
			c.expect(201, "", "POST", pulls, propose("change"))
			branch(t, r, "change", "a", "b")
			head := gitserver.Rev(t, r.Path, "change")
			c.expect(200, `"sha":"`+head+`"`, "GET", pulls+"/1", nil)
			gitserver.SeedFiles(t, r.Path, "main", "Other", map[string]gitserver.File{"other": {Mode: "100644", Content: "x"}})

			c.expect(409, "Head branch was modified", "PUT", pulls+"/1/merge",
				object{"merge_method": method, "sha": strings.Repeat("0", 40)})
			c.expect(200, `"merged":true`, "PUT", pulls+"/1/merge", object{"merge_method": method, "sha": head})
			main := gitserver.Rev(t, r.Path, "main")
			c.expect(200, `"merge_commit_sha":"`+main+`","merged":true,"merged_at":"2`, "GET", pulls+"/1", nil)
			got := strings.Split(strings.TrimSpace(gitserver.Git(t, r.Path, "log", "--topo-order", "--format=%s", "main")), "\n")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if tree := gitserver.Tree(t, r.Path, "main"); len(tree) != 4 {
				t.Errorf("the tree is %v", tree)
			}
			gitserver.Fsck(t, r.Path)
			c.expect(405, "not mergeable", "PUT", pulls+"/1/merge", object{"merge_method": method})
			c.expect(422, "is merged", "PATCH", pulls+"/1", object{"state": "open"})
		})
	}
}

func TestMergeConflict(t *testing.T) {
	c, r := start(t)
	branch(t, r, "change", "a")
	c.expect(201, "", "POST", pulls, propose("change"))
	before := gitserver.Seed(t, r.Path, "main", map[string]string{"a": "other\n"})
	for _, method := range []string{"merge", "squash", "rebase"} {
		c.expect(405, "not mergeable", "PUT", pulls+"/1/merge", object{"merge_method": method})
	}
	if after := gitserver.Rev(t, r.Path, "main"); after != before || r.PullRequests()[0].State != "open" {
		t.Errorf("main is at %s, and the pull request %s", after, r.PullRequests()[0].State)
	}
	if list := gitserver.Git(t, r.Path, "worktree", "list"); strings.Count(list, "\n") != 1 {
		t.Errorf("worktrees stay behind: %s", list)
	}
}

// Pull requests show changes of their branches by hand.
func TestBranchesByHand(t *testing.T) {
	states := func(r *githubfake.Repo) (all []string) {
		for _, p := range r.PullRequests() {
			all = append(all, p.State)
		}
		return all
	}
	c, r := start(t)
	for _, head := range []string{"pushed", "deleted", "reset"} {
		branch(t, r, head, head)
		c.expect(201, "", "POST", pulls, propose(head))
	}
	gitserver.Git(t, r.Path, "branch", "--force", "reset", "main")
	gitserver.Git(t, r.Path, "update-ref", "refs/heads/main", gitserver.Rev(t, r.Path, "pushed"))
	gitserver.Git(t, r.Path, "branch", "-D", "deleted")
	if diff := cmp.Diff([]string{"merged", "closed", "closed"}, states(r)); diff != "" {
		t.Error(diff)
	}
	c.expect(422, "has been deleted", "PATCH", pulls+"/2", object{"state": "open"})
	branch(t, r, "deleted", "another")
	c.expect(422, "force-pushed or recreated", "PATCH", pulls+"/2", object{"state": "open"})
	gitserver.Git(t, r.Path, "update-ref", "refs/heads/deleted", "refs/pull/2/head")
	c.expect(200, `"state":"open"`, "PATCH", pulls+"/2", object{"state": "open"})
	r.KeepOpen()
	gitserver.Git(t, r.Path, "branch", "-D", "deleted")
	if diff := cmp.Diff([]string{"merged", "open", "closed"}, states(r)); diff != "" {
		t.Error(diff)
	}
}

// Lists are filtered and paged as GitHub does, and the newest is first.
func TestList(t *testing.T) {
	c, r := start(t)
	for i := range 3 {
		head := fmt.Sprintf("change-%d", i)
		branch(t, r, head, head)
		c.expect(201, "", "POST", pulls, propose(head))
	}
	c.expect(200, "", "PATCH", pulls+"/2", object{"state": "closed"})
	numbers := func(query string) (all []float64, header http.Header) {
		t.Helper()
		_, header, answer := c.do("GET", pulls+"?"+query, nil)
		list, _ := answer["list"].([]any)
		for _, p := range list {
			o, _ := p.(object)
			number, _ := o["number"].(float64)
			all = append(all, number)
		}
		return all, header
	}
	for query, want := range map[string][]float64{
		"":                                  {3, 1},
		"state=all":                         {3, 2, 1},
		"state=closed":                      {2},
		"head=acme:change-0":                {1},
		"head=other:change-0":               nil,
		"base=main&state=all&per_page=2":    {3, 2},
		"state=all&per_page=2&page=2":       {1},
		"base=other":                        nil,
		"state=closed&head=acme%3Achange-0": nil,
	} {
		got, header := numbers(query)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
		if next := header.Get("Link") != ""; next != (query == "base=main&state=all&per_page=2") {
			t.Errorf("%s: there is another page: %v", query, next)
		}
	}
}

func TestLabelsReviewersDraftAutoMerge(t *testing.T) {
	c, r := start(t)
	branch(t, r, "change", "a")
	draft := propose("change")
	draft["draft"] = true
	id := c.expect(201, `"draft":true`, "POST", pulls, draft)["node_id"]
	labels := "v3/repos/acme/gitops/issues/1/labels"
	c.expect(200, "platform", "POST", labels, []string{"platform", "promoted", "Platform"})
	c.expect(200, "", "DELETE", labels+"/promoted", nil)
	c.expect(404, "Label does not exist", "DELETE", labels+"/promoted", nil)
	reviewers := pulls + "/1/requested_reviewers"
	c.expect(422, "pull request author", "POST", reviewers, object{"reviewers": []string{"kalypso-bot"}})
	c.expect(422, "not a collaborator", "POST", reviewers, object{"team_reviewers": []string{"platform"}})
	r.AddTeam("platform")
	c.expect(201, "", "POST", reviewers, object{"reviewers": []string{"ann"}, "team_reviewers": []string{"platform"}})

	graphql := func(said, mutation string, variables object) {
		t.Helper()
		variables["id"] = id
		declared := "mutation($id: ID!)"
		if variables["method"] != nil {
			declared = "mutation($id: ID!, $method: PullRequestMergeMethod)"
		}
		c.expect(200, said, "POST", "graphql", object{"query": declared + " { " + mutation + " { clientMutationId } }",
			"variables": variables})
	}
	const autoMerge = "enablePullRequestAutoMerge(input: {pullRequestId: $id, mergeMethod: $method})"
	squash := object{"method": "SQUASH"}
	graphql("is a draft", autoMerge, squash)
	c.expect(405, "", "PUT", pulls+"/1/merge", object{})
	graphql(`"errors"`, "somethingElse", object{})
	graphql(`"data":{`, "markPullRequestReadyForReview(input: {pullRequestId: $id})", object{})
	graphql("is in clean status", autoMerge, squash)
	r.Require("main", "ci")
	graphql(`"data":{`, autoMerge, squash)
	c.expect(405, `Required status check \"ci\" is expected.`, "PUT", pulls+"/1/merge", object{})
	want := []hostfake.PullRequest{{
		Number: 1, Title: "Change change", Body: "Text", Head: "change", Base: "main",
		HeadCommit: gitserver.Rev(t, r.Path, "change"), BaseCommit: gitserver.Rev(t, r.Path, "main"),
		State: "open", Author: "kalypso-bot", AutoMerge: "squash", AutoMergeBy: "kalypso-bot", Labels: []string{"platform"},
		Reviewers: []string{"ann"}, Teams: []string{"platform"}, Asked: []string{"ann", "acme/platform"},
	}}
	times := cmpopts.IgnoreTypes(time.Time{})
	if diff := cmp.Diff(want, r.PullRequests(), times); diff != "" {
		t.Error(diff)
	}
	r.SetStatus("", want[0].HeadCommit, "ci", "success")
	if p := r.PullRequests()[0]; p.State != "merged" || p.MergeCommit != gitserver.Rev(t, r.Path, "main") {
		t.Errorf("auto-merge left %+v", p)
	}
}

func TestStatuses(t *testing.T) {
	c, r := start(t)
	commit := gitserver.Rev(t, r.Path, "main")
	set, read := "v3/repos/acme/gitops/statuses/"+commit, "v3/repos/acme/gitops/commits/"+commit+"/status"
	c.expect(200, `"total_count":0`, "GET", read, nil)
	c.expect(201, "", "POST", set, object{"state": "pending", "context": "kalypso/dev"})
	c.expect(201, "", "POST", set, object{"state": "success", "context": "Kalypso/dev", "target_url": "https://acme.io"})
	c.expect(200, `"total_count":1`, "GET", read, nil)
	c.expect(200, `"state":"success"`, "GET", read, nil)
	c.expect(422, "No commit found", "POST", "v3/repos/acme/gitops/statuses/main", object{"state": "success"})
	c.expect(422, "No commit found", "GET", "v3/repos/acme/gitops/commits/"+strings.Repeat("0", 40)+"/status", nil)
	c.expect(422, "not included", "POST", set, object{"state": "done"})
	c.expect(422, "maximum is 140", "POST", set, object{"state": "success", "description": strings.Repeat("x", 141)})
}

// A repo whose plan lacks drafts opens no drafts, and converts no pull request to one.
func TestNoDrafts(t *testing.T) {
	c, r := start(t)
	r.NoDrafts = true
	branch(t, r, "change", "a")
	draft := propose("change")
	draft["draft"] = true
	c.expect(422, "Draft pull requests are not supported in this repository.", "POST", pulls, draft)
	id := c.expect(201, `"draft":false`, "POST", pulls, propose("change"))["node_id"]
	c.expect(200, "does not have permission to convert the pull request", "POST", "graphql", object{
		"query":     "mutation($id: ID!) { convertPullRequestToDraft(input: {pullRequestId: $id}) { clientMutationId } }",
		"variables": object{"id": id},
	})
	if r.PullRequests()[0].Draft {
		t.Error("it is a draft")
	}
}

// People close, reopen and edit pull requests.
func TestPeople(t *testing.T) {
	_, r := start(t)
	branch(t, r, "change", "a")
	n := r.Open(t, "ann", "change", "main", "Mine", "Text")
	r.Close(t, n)
	if s := r.PullRequests()[0].State; s != "closed" {
		t.Errorf("it is %s", s)
	}
	r.Reopen(t, n)
	r.Edit(t, n, "Mine", "Other")
	if p := r.PullRequests()[0]; p.State != "open" || p.Body != "Other" || p.Author != "ann" {
		t.Errorf("it is %+v", p)
	}
}
