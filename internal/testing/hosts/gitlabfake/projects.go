package gitlabfake

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/gitserver"
)

// Project is a private project of a [Server].
type Project struct {
	Path string // group/project
	Dir  string // of the bare repository
	URL  string // for Git over HTTP

	server      *Server
	id          int
	oldPaths    []string
	requests    []*mergeRequest
	statuses    []*status
	mergeMethod string // merge or ff
	needsPass   bool   // only_allow_merge_if_pipeline_succeeds
	oneReviewer bool
	noMerge     bool
}

// AddProject creates an empty project ("group/project").
func (s *Server) AddProject(t testing.TB, path string) *Project {
	t.Helper()
	bare := gitserver.InitBare(t)
	dir := filepath.Join(s.root, filepath.FromSlash(path)+".git")
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(bare, dir); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &Project{
		Path: path, Dir: dir, URL: s.URL + "/" + path, server: s, id: 100 + len(s.projects), mergeMethod: "merge",
	}
	s.projects = append(s.projects, p)
	return p
}

// project returns the project of an id or an escaped path, and whether it is the path of a moved one.
func (s *Server) project(id string) (p *Project, moved bool) {
	number, _ := strconv.Atoi(id)
	path, _ := url.PathUnescape(id)
	for _, p := range s.projects {
		switch {
		case p.id == number, strings.EqualFold(p.Path, path):
			return p, false
		case slices.Contains(p.oldPaths, path):
			return p, true
		}
	}
	return nil, false
}

// Move moves the project to another path. The API redirects only GET (source).
func (p *Project) Move(path string) {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	p.oldPaths, p.Path = append(p.oldPaths, p.Path), path
}

// FastForward makes the project merge only by fast-forward.
func (p *Project) FastForward() {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	p.mergeMethod = "ff"
}

// OneReviewer puts the project on the Free plan, which keeps only the first reviewer (source).
func (p *Project) OneReviewer() {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	p.oneReviewer = true
}

// Protect rejects pushes to branches; merges of merge requests still work.
func (p *Project) Protect(t testing.TB, branches ...string) {
	t.Helper()
	gitserver.Protect(t, p.Dir, "GitLab: You are not allowed to push code to protected branches on this project.",
		branches...)
}

// DeleteBranch deletes a branch as a person does.
func (p *Project) DeleteBranch(t testing.TB, branch string) {
	t.Helper()
	gitserver.Git(t, p.Dir, "update-ref", "-d", "refs/heads/"+branch)
}

// NoMerge removes the right to merge from all users.
func (p *Project) NoMerge() {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	p.noMerge = true
}

// RequirePipeline sets whether merges need a successful pipeline. Statuses are its jobs.
func (p *Project) RequirePipeline(needed bool) {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	p.needsPass = needed
}

func (p *Project) showProject() object {
	_, name, _ := strings.Cut(p.Path, "/")
	return object{
		"id": p.id, "name": name, "path": name, "path_with_namespace": p.Path, "web_url": p.server.URL + "/" + p.Path,
		"http_url_to_repo": p.server.URL + "/" + p.Path + ".git", "visibility": "private", "default_branch": nil,
		"merge_method": p.mergeMethod, "squash_option": "default_off",
		"only_allow_merge_if_pipeline_succeeds": p.needsPass,
	}
}

// run runs git in the project's repo.
func (p *Project) run(args ...string) (string, error) { return gitserver.Run(p.Dir, args...) }

// git runs git for a question whose negative answer is a failure.
func (p *Project) git(args ...string) string {
	out, err := p.run(args...)
	if err != nil {
		return ""
	}
	return out
}

// rev returns the commit of a branch, or "".
func (p *Project) rev(branch string) string { return gitserver.Branch(p.Dir, branch) }

// contains reports whether a commit is an ancestor of another one, or equal to it.
func (p *Project) contains(descendant, ancestor string) bool {
	return gitserver.Contains(p.server.Git.Storage(p.Dir), descendant, ancestor)
}
