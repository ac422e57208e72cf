package hostingtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

// unknown is the hash of no commit.
var unknown = strings.Repeat("ab", 20)

var statuses = []row{
	{"each state is set and read", func(p *place) {
		commit := p.local.head("change")
		if s, err := p.repo.Status(p.ctx, commit, "kalypso/dev"); s != nil || err != nil {
			p.Errorf("it is %+v, %v", s, err)
		}
		for _, state := range append(githost.StatusStates, githost.Pending, githost.Success) {
			want := githost.Status{Context: "kalypso/dev", State: state, Description: "It is " + string(state),
				TargetURL: "https://acme.io/runs/1"}
			set := p.set(commit, want)
			read, err := p.repo.Status(p.ctx, commit, "kalypso/dev")
			if err != nil || read == nil {
				p.Fatal(read, err)
			}
			want.Creator = p.traits.Login
			p.same([]githost.Status{want, want}, []githost.Status{set, *read})
		}
	}},
	{"a status that says the same is the same", func(p *place) {
		commit := p.local.head("change")
		want := githost.Status{Context: "dev", State: githost.Success, Description: "Fine", TargetURL: "https://acme.io/1"}
		for _, state := range githost.StatusStates {
			want.State = state
			have := p.set(commit, want)
			loose := state == githost.Pending && p.traits.UpdatesPending
			p.asking(0, func() {
				other, elsewhere, text := want, want, want
				other.State = githost.Failure
				switch state {
				case githost.Failure:
					other.State = githost.Success
				case githost.Success:
					other.State = githost.Pending
				}
				elsewhere.TargetURL, text.Description = "", "Other"
				if !p.repo.SameStatus(want, have) || p.repo.SameStatus(other, have) ||
					p.repo.SameStatus(elsewhere, have) != loose || p.repo.SameStatus(text, have) != loose {
					p.Errorf("%s is not compared as it should be", state)
				}
			})
			if again, err := p.repo.SetStatus(p.ctx, commit, want); err != nil || !p.repo.SameStatus(want, again) {
				p.Errorf("%s again: %+v, %v", state, again, err)
			}
		}
	}},
	{"the latest of each context, of many commits and of anybody", func(p *place) {
		first, second := p.local.head("change"), p.local.push("change")
		p.people.SetStatus(first, "ci", githost.Failure)
		p.people.SetStatus(first, "ci", githost.Success)
		p.set(first, githost.Status{Context: "dev", State: githost.Pending})
		p.set(first, githost.Status{Context: "dev", State: githost.Errored})
		p.set(second, githost.Status{Context: "dev", State: githost.Success})
		main := p.local.head("main")
		got, err := p.repo.LatestStatuses(p.ctx, []string{first, second, main, unknown}, []string{"dev", "ci"})
		if err != nil {
			p.Fatal(err)
		}
		ci, dev := githost.Status{Context: "ci", State: githost.Success, Creator: Ann},
			githost.Status{Context: "dev", State: githost.Errored, Creator: p.traits.Login}
		p.same([]githost.Status{ci, dev}, got.ByCommit[first])
		dev.State = githost.Success
		p.same([]githost.Status{dev}, got.ByCommit[second])
		if len(got.ByCommit[unknown])+len(got.ByCommit[main])+len(got.Unread) > 0 || got.Viewer != p.traits.Login ||
			got.SeenAt.IsZero() {
			p.Errorf("got %+v", got)
		}
	}},
	{"the history is the newest first", func(p *place) {
		commit := p.local.head("change")
		var want []githost.Status
		for i, state := range []githost.StatusState{githost.Pending, githost.Failure, githost.Success, githost.Success} {
			s := githost.Status{Context: "dev", State: state, Description: fmt.Sprint(i), Creator: p.traits.Login}
			p.set(commit, s)
			if state != githost.Pending || !p.traits.UpdatesPending {
				want = append([]githost.Status{s}, want...)
			}
		}
		got, more, err := p.repo.StatusHistory(p.ctx, commit)
		if err != nil || more {
			p.Error(more, err)
		}
		p.same(want, got)
	}},
	{"one of many contexts is found", func(p *place) {
		commit := p.local.head("change")
		for i := range 60 {
			p.set(commit, githost.Status{Context: fmt.Sprint("other/", i), State: githost.Failure})
		}
		p.set(commit, githost.Status{Context: "dev", State: githost.Success})
		for range 60 {
			p.set(commit, githost.Status{Context: "other/0", State: githost.Success})
		}
		if s, err := p.repo.Status(p.ctx, commit, "dev"); err != nil || s == nil || s.State != githost.Success {
			p.Errorf("it is %+v, %v", s, err)
		}
		got, err := p.repo.LatestStatuses(p.ctx, []string{commit}, []string{"dev"})
		if err != nil || len(got.Unread) > 0 {
			p.Fatal(got, err)
		}
		found := false
		for _, s := range got.ByCommit[commit] {
			found = found || s.Context == "dev" && s.State == githost.Success
		}
		if !found {
			p.Errorf("got %+v", got.ByCommit[commit])
		}
	}},
	{"the repo has no such commit", func(p *place) {
		_, err := p.repo.Status(p.ctx, unknown, "dev")
		p.refused(err, githost.ErrCommitNotFound, "", "read status dev of commit "+unknown)
		_, err = p.repo.SetStatus(p.ctx, unknown, githost.Status{Context: "dev", State: githost.Success})
		p.refused(err, githost.ErrCommitNotFound, "", "set status dev of commit "+unknown)
	}},
}

// set sets a status as the provider does, and returns it.
func (p *place) set(commit string, s githost.Status) githost.Status {
	p.Helper()
	set, err := p.repo.SetStatus(p.ctx, commit, s)
	if err != nil {
		p.Fatal(err)
	}
	return set
}

// same compares statuses, in any order of their contexts, and checks their times by the host's clock.
func (p *place) same(want, got []githost.Status) {
	p.Helper()
	for _, s := range got {
		if age := s.SeenAt.Sub(s.SetAt); s.SetAt.IsZero() || age < -2*time.Second || age > 10*time.Minute {
			p.Errorf("%s was set at %s, and seen at %s", s.Context, s.SetAt, s.SeenAt)
		}
	}
	byContext := cmpopts.SortSlices(func(a, b githost.Status) bool { return a.Context < b.Context })
	ignored := cmpopts.IgnoreFields(githost.Status{}, "SetAt", "SeenAt")
	if diff := cmp.Diff(want, got, byContext, ignored); diff != "" {
		p.Errorf("-want +got:\n%s", diff)
	}
}
