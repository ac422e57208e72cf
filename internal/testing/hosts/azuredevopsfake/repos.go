package azuredevopsfake

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostfake"
)

const projectID = "00000000-0000-4000-8000-00000000aaaa"

// Repo is a private repository of a [Server].
type Repo struct {
	hostfake.Pulls[*pull]
	*hostfake.Statuses

	Name string
	Dir  string // of the bare repository
	URL  string // for Git over HTTP

	server   *Server
	id       string
	policies policies
}

// policy makes pull requests into a branch wait for a successful status of the pull request. Only auto-complete waits
// for an optional one, unless it ignores it (peer).
type policy struct {
	id         int
	branch     string
	context    string
	optional   bool
	strategies object // settings of a policy that limits the merge strategies; nil: it wants a status
}

// AddRepo creates an empty repository.
func (s *Server) AddRepo(t testing.TB, name string) *Repo {
	t.Helper()
	git := s.Server.AddRepo(t, name)
	r := &Repo{Name: name, Dir: git.Dir, URL: s.URL + "/" + url.PathEscape(project) + "/_git/" + name, server: s}
	// Only a request about a pull request updates it: see settle.
	r.Pulls = hostfake.Pulls[*pull]{Git: git, Server: s.Server, OpenAs: r.open, Sync: func() {}}
	r.Statuses = hostfake.NewStatuses(s.Server, false)
	s.Locked(func() {
		r.id = fmt.Sprintf("00000000-0000-4000-8000-00000000b%03d", len(s.repos))
		s.repos = append(s.repos, r)
	})
	return r
}

// repo returns the repo of an id or a name, whose case does not matter; nil: there is none.
func (s *Server) repo(name string) *Repo {
	i := slices.IndexFunc(s.repos, func(r *Repo) bool { return r.id == name || strings.EqualFold(r.Name, name) })
	if i < 0 {
		return nil
	}
	return s.repos[i]
}

func (r *Repo) show() object {
	return object{
		"id": r.id, "name": r.Name, "webUrl": r.URL, "remoteUrl": r.URL, "url": r.server.URL + "/_apis/git/" + r.id,
		"project": object{"id": projectID, "name": project, "state": "wellFormed", "visibility": "private"},
	}
}

// Require makes pull requests into a branch wait for a status of the pull request.
func (r *Repo) Require(branch string, contexts ...string) {
	r.Server.Locked(func() { r.policies.replace(branch, strings.Join(contexts, ""), false) })
}

// Expect adds an optional policy.
func (r *Repo) Expect(branch, context string) {
	r.Server.Locked(func() { r.policies.replace(branch, context, true) })
}

// LimitStrategies adds a policy that allows only the merge strategies whose settings are true, such as allowSquash.
func (r *Repo) LimitStrategies(branch string, optional bool, settings map[string]any) {
	r.Server.Locked(func() {
		r.policies = append(r.policies, &policy{
			id: 40 + len(r.policies), branch: branch, optional: optional, strategies: settings,
		})
	})
}

// policies are the policies of a repo.
type policies []*policy

// replace replaces the policies of a branch of that kind; "": by none.
func (ps *policies) replace(branch, context string, optional bool) {
	id := 40 + len(*ps)
	*ps = slices.DeleteFunc(*ps, func(p *policy) bool {
		return p.branch == branch && p.optional == optional && p.strategies == nil
	})
	if context != "" {
		*ps = append(*ps, &policy{id: id, branch: branch, context: context, optional: optional})
	}
}

// of returns the policies of a reference in the API's format.
func (ps policies) of(ref string) (all []object) {
	for _, p := range ps {
		if "refs/heads/"+p.branch == ref {
			o := object{
				"id": p.id, "isEnabled": true, "isBlocking": !p.optional, "isDeleted": false, "revision": 1,
				"type":     object{"id": "cbdc66da-9728-4af8-aada-9a5a32e4a226", "displayName": "Status"},
				"settings": object{"statusName": p.context},
			}
			if p.strategies != nil {
				o["type"] = object{"id": "fa4e907d-c16b-4a4c-9dfa-4916e5d171ab", "displayName": "Require a merge strategy"}
				o["settings"] = p.strategies
			}
			all = append(all, o)
		}
	}
	return all
}

// refs returns the branches whose names begin with a filter, such as heads/main.
func (s *Server) refs(r *Repo, filter string) (all []object) {
	creator := s.person(hostfake.BotLogin).show()
	for _, line := range strings.Fields(r.Git.Ask("for-each-ref", "--format=%(objectname)%(refname)")) {
		commit, name := line[:40], line[40:]
		if strings.HasPrefix(name, "refs/"+filter) {
			all = append(all, object{"name": name, "objectId": commit, "creator": creator})
		}
	}
	return all
}

// Protect makes the server refuse pushes to branches. Pull requests into them still work.
func (r *Repo) Protect(_ testing.TB, branches ...string) {
	for _, branch := range branches {
		r.server.Git.Azure.Protect(branch)
	}
}
