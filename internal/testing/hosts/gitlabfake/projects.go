package gitlabfake

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// Project is a private project of a [Server].
type Project struct {
	hostfake.Pulls[*mergeRequest]
	*hostfake.Statuses

	Path string // group/project
	Dir  string // of the bare repository
	URL  string // for Git over HTTP
	// Issues are its issues.
	Issues hostfake.Issues
	// Settings, which tests change between requests.
	FastForward bool // it merges only so
	OneReviewer bool // it is on the Free plan, which keeps only the first reviewer (source)
	NoMerge     bool // no user has the right to merge

	server    *Server
	id        int
	oldPaths  []string
	needsPass bool // only_allow_merge_if_pipeline_succeeds
}

// AddProject creates an empty project ("group/project").
func (s *Server) AddProject(t testing.TB, path string) *Project {
	t.Helper()
	git := s.AddRepo(t, path+".git")
	p := &Project{Path: path, Dir: git.Dir, URL: s.URL + "/" + path, server: s}
	p.Pulls = hostfake.Pulls[*mergeRequest]{Git: git, Server: s.Server, OpenAs: p.open, Sync: p.sync}
	p.Statuses = hostfake.NewStatuses(s.Server, true)
	s.Locked(func() {
		p.id = 100 + len(s.projects)
		s.projects = append(s.projects, p)
	})
	return p
}

// project returns the project of an id or a path, and whether it is the path of a moved one.
func (s *Server) project(path string) (p *Project, moved bool) {
	number, _ := strconv.Atoi(path)
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
	p.server.Locked(func() { p.oldPaths, p.Path = append(p.oldPaths, p.Path), path })
}

// Protect rejects pushes to branches; merges of merge requests still work.
func (p *Project) Protect(t testing.TB, branches ...string) {
	t.Helper()
	gitserver.Protect(t, p.Dir, "GitLab: You are not allowed to push code to protected branches on this project.",
		branches...)
}

// Require makes merges need a successful pipeline, unless the only context is empty. Statuses are its jobs. GitLab
// knows no single contexts.
func (p *Project) Require(_ string, contexts ...string) {
	p.server.Locked(func() { p.needsPass = len(contexts) > 0 && contexts[0] != "" })
}

func (p *Project) showProject() object {
	_, name, _ := strings.Cut(p.Path, "/")
	method := "merge"
	if p.FastForward {
		method = "ff"
	}
	return object{
		"id": p.id, "name": name, "path": name, "path_with_namespace": p.Path, "web_url": p.server.URL + "/" + p.Path,
		"http_url_to_repo": p.server.URL + "/" + p.Path + ".git", "visibility": "private", "default_branch": nil,
		"merge_method": method, "squash_option": "default_off",
		"only_allow_merge_if_pipeline_succeeds": p.needsPass,
	}
}
