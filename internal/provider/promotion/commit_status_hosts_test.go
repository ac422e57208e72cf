package promotion_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// hostStatus is a kalypso_commit_status on a host, with the arguments of its configuration.
type hostStatus struct {
	acc.ProtocolRun
	world  *hostingtest.World
	people *hostingtest.Repo
	repo   githost.Repo
	local  string // a bare repo, from which commits are pushed
	given  map[string]any
}

func newHostStatus(t *testing.T, on hosts.Host) *hostStatus {
	t.Helper()
	s := &hostStatus{world: on.New(t), local: gitserver.InitBare(t)}
	s.T, s.Resource = t, protocol.Resource{Type: "kalypso_commit_status"}
	s.people = s.world.AddRepo(t)
	s.repo = s.as(hostingtest.Writer)
	s.given = map[string]any{
		"repo": s.people.URL, "commit": s.commit("1"), "context": "kalypso/dev", "state": "success",
		"description": "Rolled out", "target_url": "https://acme.io/runs/1",
	}
	return s
}

// as makes the provider use a credential.
func (s *hostStatus) as(credential hostingtest.Credential) githost.Repo {
	s.T.Helper()
	repo, err := s.world.Host(s.T, credential).Repo(s.people.URL)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Config = map[string]any{repo.Block: s.world.Arguments(s.T, credential)}
	return repo
}

// commit pushes a commit.
func (s *hostStatus) commit(text string) string {
	s.T.Helper()
	commit := gitserver.Seed(s.T, s.local, "main", map[string]string{"a": text})
	gitserver.Git(s.T, s.local, "push", "--quiet", "--force", s.people.Remote, "refs/heads/main")
	return commit
}

// target returns the commit that the configuration names.
func (s *hostStatus) target() string {
	commit, _ := s.given["commit"].(string)
	return commit
}

// set changes arguments. The parameters are names, each with its value.
func (s *hostStatus) set(pairs ...any) {
	for i := 0; i < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		s.given[name] = pairs[i+1]
	}
}

// apply applies, and expects that a second apply changes nothing.
func (s *hostStatus) apply() {
	s.T.Helper()
	s.Run(maps.Clone(s.given), s.given)
	after := s.Resource.State
	s.Run(maps.Clone(s.given), s.given)
	if !after.Equal(s.Resource.State) {
		s.T.Errorf("the next apply changes the state from %v to %v", protocol.Lines(after), protocol.Lines(s.Resource.State))
	}
}

// expect compares the last status of the commit, and the number of statuses that were set.
func (s *hostStatus) expect(state githost.StatusState, description string, posted int) {
	s.T.Helper()
	all, _, err := s.repo.StatusHistory(s.T.Context(), s.target())
	if err != nil {
		s.T.Fatal(err)
	}
	if len(all) != posted || all[0].State != state || all[0].Description != description ||
		all[0].Creator != s.world.Traits.Login {
		s.T.Fatalf("the host has %+v, want %s %q by %s after %d", all, state, description, s.world.Traits.Login, posted)
	}
	if posted > 0 && s.attribute("set_at") != all[0].SetAt.UTC().Format(time.RFC3339) {
		s.T.Errorf("set_at is %q, and the host has %s", s.attribute("set_at"), all[0].SetAt)
	}
}

// attribute returns an attribute of the state.
func (s *hostStatus) attribute(name string) string {
	return strings.Trim(protocol.Lines(s.Resource.State)[name], `"`)
}

// refused fails the test unless an apply fails with these texts.
func (s *hostStatus) refused(says ...string) {
	s.T.Helper()
	_, ds := s.TryRun(s.given)
	if !ds.HasErrors() {
		s.T.Error("the apply succeeds")
	}
	acc.ExpectTexts(s.T, ds.String(), says...)
	if strings.Contains(ds.String(), "canary") {
		s.T.Errorf("a secret is in %s", ds)
	}
}

// statusesOfHosts lists situations of a status that a resource manages. Each row runs on every host.
var statusesOfHosts = []struct {
	rule string
	test func(*hostStatus)
}{
	{"a status that is created, changed, and left by a destroy", func(s *hostStatus) {
		s.apply()
		s.expect(githost.Success, "Rolled out", 1)
		s.set("state", "failure", "description", nil, "target_url", nil)
		s.apply()
		s.expect(githost.Failure, "", 2)
		first := s.target()
		s.set("commit", s.commit("2"), "state", "error")
		s.apply()
		s.expect(githost.Errored, "", 1)
		s.Destroy()
		if now, err := s.repo.Status(s.T.Context(), first, "kalypso/dev"); err != nil || now.State != githost.Failure {
			s.T.Errorf("the old commit has %+v, %v", now, err)
		}
	}},
	{"a pending status with a new description", func(s *hostStatus) {
		s.set("state", "pending", "description", "1 of 2")
		s.apply()
		s.set("description", "2 of 2")
		s.apply()
		if s.world.Traits.UpdatesPending {
			s.expect(githost.Pending, "1 of 2", 1)
		} else {
			s.expect(githost.Pending, "2 of 2", 2)
		}
		s.set("state", "success")
		s.apply()
		want := 3
		if s.world.Traits.UpdatesPending {
			want = 1
		}
		s.expect(githost.Success, "2 of 2", want)
	}},
	{"a status changed by people", func(s *hostStatus) {
		s.set("context", "dev", "description", nil, "target_url", nil)
		s.apply()
		s.people.SetStatus(s.target(), "dev", githost.Failure)
		s.apply()
		s.expect(githost.Success, "", 3)
		s.people.SetStatus(s.target(), "dev", githost.Success) // the expected status
		s.Run(maps.Clone(s.given), s.given)
		if now, err := s.repo.Status(s.T.Context(), s.target(), "dev"); err != nil || now.Creator != hostingtest.Ann {
			s.T.Errorf("the status is set again: %+v, %v", now, err)
		}
	}},
	{"an imported status", func(s *hostStatus) {
		s.apply()
		want := s.Resource.State
		imported, ds := s.Start().Import(s.T.Context(), s.Resource.Type, s.people.URL+"@"+s.target()+"#kalypso/dev")
		if ds.HasErrors() || imported == nil {
			s.T.Fatal(ds)
		}
		if !imported.State.Equal(want) {
			s.T.Errorf("imported %v, want %v", protocol.Lines(imported.State), protocol.Lines(want))
		}
	}},
	{"a renewed status", func(s *hostStatus) {
		s.set("renew_after", "2s")
		s.apply()
		set := s.attribute("set_at")
		renewed := s.world.Await(func() bool {
			s.Run(maps.Clone(s.given), s.given)
			return s.attribute("set_at") != set
		})
		if !renewed {
			s.T.Fatal("the status is never renewed")
		}
		s.expect(githost.Success, "Rolled out", 2)
	}},
	{"a commit that the host does not have", func(s *hostStatus) {
		s.set("commit", strings.Repeat("ab", 20))
		s.refused("Commit not found", "Set status kalypso/dev of commit abab")
	}},
	{"a credential without permission for statuses", func(s *hostStatus) {
		for credential, says := range map[hostingtest.Credential]string{
			hostingtest.Reader: " denies the request", hostingtest.Wrong: " does not accept the credential",
			hostingtest.Foreign: "Repo not found, or not visible",
		} {
			host := s.as(credential).Host
			s.refused(strings.ReplaceAll(says, " d", host+" d"), "Set status kalypso/dev of commit "+
				s.target())
		}
	}},
}

// TestCommitStatusOnHosts specifies what a kalypso_commit_status does on each host.
func TestCommitStatusOnHosts(t *testing.T) {
	t.Parallel()
	for _, row := range statusesOfHosts {
		t.Run(row.rule, func(t *testing.T) {
			t.Parallel()
			hosts.Each(t, hosts.Prompt(), func(t *testing.T, on hosts.Host) { row.test(newHostStatus(t, on)) })
		})
	}
}
