package hostingtest

import (
	"fmt"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
)

var pullRequests = []row{
	{"it is opened as proposed, and an equal edit asks for nothing", func(p *place) {
		wanted := p.full()
		opened := p.Must(p.repo.Open(p.ctx, wanted))
		want := githost.PullRequest{
			Number: opened.Number, State: githost.Open, Title: "Title", Body: wanted.Body, Branch: "change", Target: "main",
			HeadCommit: p.local.head("change"), Draft: true, Labels: wanted.Labels, Reviewers: wanted.Reviewers,
		}
		p.expect(want, opened)
		p.expect(want, p.Must(p.repo.Read(p.ctx, opened.Number)))
		p.asking(0, func() { p.expect(want, p.Must(p.repo.Edit(p.ctx, opened, wanted))) })
	}},
	{"an edit changes all, and keeps what people added", func(p *place) {
		wanted := p.full()
		opened := p.Must(p.repo.Open(p.ctx, wanted))
		p.people.Label(p, opened.Number, "theirs")
		opened = p.Must(p.repo.Read(p.ctx, opened.Number))
		wanted.Title, wanted.Body, wanted.Draft = "Other", "Other\n\n"+Marker, false
		wanted.Labels, wanted.RemoveLabels = []string{"platform", "urgent"}, []string{"promoted", "never there"}
		edited := p.Must(p.repo.Edit(p.ctx, opened, wanted))
		want := opened
		want.Title, want.Body, want.Draft = wanted.Title, wanted.Body, false
		want.Labels = []string{"platform", "theirs", "urgent"}
		p.expect(want, edited)
		p.expect(want, p.Must(p.repo.Read(p.ctx, opened.Number)))
		wanted.Draft = true
		want.Draft = true
		p.expect(want, p.Must(p.repo.Edit(p.ctx, edited, wanted)))
		p.expect(want, p.Must(p.repo.Read(p.ctx, opened.Number)))
	}},
	{"one more reviewer is asked", func(p *place) {
		wanted := Proposal()
		wanted.Reviewers = []string{Ann}
		opened := p.Must(p.repo.Open(p.ctx, wanted))
		wanted.Reviewers = []string{Bob}
		p.Must(p.repo.Edit(p.ctx, opened, wanted))
		want := opened
		want.Reviewers = []string{Ann, Bob}
		p.expect(want, p.Must(p.repo.Read(p.ctx, opened.Number)))
	}},
	{"a reviewer who reviewed is not asked again", func(p *place) {
		wanted := p.full()
		opened := p.Must(p.repo.Open(p.ctx, wanted))
		p.people.Review(p, opened.Number, Ann)
		now := p.Must(p.repo.Read(p.ctx, opened.Number))
		missing, err := p.repo.MissingReviewers(p.ctx, now, append(wanted.Reviewers, Bob))
		if err != nil || strings.Join(missing, " ") != Bob {
			p.Errorf("to be asked: %v (%v)", missing, err)
		}
	}},
	{"labels differ by case or not", func(p *place) {
		wanted := Proposal()
		wanted.Labels = []string{"env"}
		opened := p.Must(p.repo.Open(p.ctx, wanted))
		wanted.Labels = []string{"Env"}
		want := opened
		if !p.traits.FoldsLabels {
			want.Labels = []string{"Env", "env"}
		}
		p.Must(p.repo.Edit(p.ctx, opened, wanted))
		p.expect(want, p.Must(p.repo.Read(p.ctx, opened.Number)))
	}},
	{"a label has a comma", func(p *place) {
		p.asking(0, func() {
			if err := p.repo.CheckSupport(githost.Settings{Labels: []string{"env: prod"}}); err != nil {
				p.Error(err)
			}
			switch err := p.repo.CheckSupport(githost.Settings{Labels: []string{"a,b"}}); {
			case p.traits.NoLabel != "":
				p.refused(err, githost.ErrRejected, githost.FieldLabels, p.traits.NoLabel)
			case err != nil:
				p.Error(err)
			}
		})
	}},
	{"a title that begins like a draft's is no draft", func(p *place) {
		for _, prefix := range []string{"Draft: ", "[Draft] ", "(draft) ", "WIP: ", "[wip] ", "draft - "} {
			for _, draft := range []bool{false, true} {
				wanted := Proposal()
				wanted.Title, wanted.Draft = prefix+"of a policy", draft
				opened := p.Must(p.repo.Open(p.ctx, wanted))
				read := p.Must(p.repo.Read(p.ctx, opened.Number))
				if opened.Title != wanted.Title || opened.Draft != draft || read.Title != wanted.Title || read.Draft != draft {
					p.Errorf("%q as draft %v is %q, draft %v", wanted.Title, draft, read.Title, read.Draft)
				}
				p.Must(p.repo.Close(p.ctx, opened.Number))
			}
		}
	}},
	{"title and description at their limits stay whole", func(p *place) {
		wide := strings.Repeat("😀", p.repo.MaxBody/2)[len("😀")*(len(Marker)+4):]
		for _, draft := range []bool{true, false} {
			wanted := Proposal()
			wanted.Draft = draft
			wanted.Title = strings.Repeat("ü", p.repo.MaxTitle-2) + "😀"
			wanted.Body = wide + "\n\n" + Marker
			opened := p.Must(p.repo.Open(p.ctx, wanted))
			read := p.Must(p.repo.Read(p.ctx, opened.Number))
			if read.Title != wanted.Title || read.Body != wanted.Body {
				p.Errorf("draft %v: %d of %d characters of the title, %d of %d bytes of the description", draft,
					len([]rune(read.Title)), len([]rune(wanted.Title)), len(read.Body), len(wanted.Body))
			}
			p.found(Query, opened.Number)
			p.Must(p.repo.Close(p.ctx, opened.Number))
		}
	}},
	{"it is closed, once and again, and reopened by people", func(p *place) {
		number := p.open().Number
		for range 2 {
			if closed := p.Must(p.repo.Close(p.ctx, number)); closed.State != githost.Closed || closed.MergeCommit != "" {
				p.Errorf("closed: %+v", closed)
			}
		}
		p.people.Reopen(p, number)
		if now := p.Must(p.repo.Read(p.ctx, number)); now.State != githost.Open {
			p.Errorf("reopened: %+v", now)
		}
	}},
	{"the head of a closed one is the last it had", func(p *place) {
		opened := p.open()
		p.people.Close(p, opened.Number)
		p.local.push("change")
		for range 3 {
			p.world.Pause()
			if now := p.Must(p.repo.Read(p.ctx, opened.Number)); now.HeadCommit != opened.HeadCommit {
				p.Errorf("its head is %s, want %s", now.HeadCommit, opened.HeadCommit)
			}
		}
		found := p.Must(p.repo.Find(p.ctx, Query))
		if found.HeadCommit != opened.HeadCommit {
			p.Errorf("its head in a list is %s, want %s", found.HeadCommit, opened.HeadCommit)
		}
	}},
	{"the head of an open one follows the branch", func(p *place) {
		opened := p.open()
		pushed := p.local.push("change")
		p.untilRead(opened.Number, "with its new head", func(pr githost.PullRequest) bool { return pr.HeadCommit == pushed })
	}},
	{"people edit the text", func(p *place) {
		number := p.open().Number
		for _, body := range []string{
			"Reworded by people\r\n\r\n" + Marker + "\r\n", Marker + "\r\n\r\nThe marker is first, as on hosts that cut texts",
		} {
			p.people.Edit(p, number, "Theirs", body)
			p.found(Query, number)
			if now := p.Must(p.repo.Read(p.ctx, number)); now.Title != "Theirs" || !githost.HasMarker(now.Body, Marker) {
				p.Errorf("it is %+v", now)
			}
		}
		p.people.Edit(p, number, "Theirs", "> "+Marker)
		p.found(Query, 0)
		unmarked := Query
		unmarked.Marker = ""
		p.found(unmarked, number)
	}},
	{"ours is found among those of others, with as many requests", func(p *place) {
		p.found(Query, 0)
		p.local.branch("theirs")
		p.local.branch("elsewhere")
		p.people.Open(p, "theirs", "main", "Quotes our marker", Marker)
		p.found(Query, 0)
		number := p.people.Open(p, "change", "main", "From our branch, without a marker", "As kalypso says: "+Marker)
		p.found(Query, 0)
		p.people.Close(p, number)
		first := p.open().Number
		p.people.Close(p, first)
		before := p.world.Requests()
		p.found(Query, first)
		requests := p.world.Requests() - before
		for range 12 {
			p.people.Close(p, p.people.Open(p, "elsewhere", "main", "Another", ""))
		}
		p.asking(requests, func() { p.found(Query, first) })
		second := p.open().Number
		p.found(Query, second)
		p.people.Close(p, second)
		p.found(Query, second)
		open := Query
		open.Open = true
		p.found(open, 0)
	}},
	{"one to another branch is not ours", func(p *place) {
		p.local.push("another")
		to := Proposal()
		to.Target = "another"
		other := p.Must(p.repo.Open(p.ctx, to))
		p.found(Query, 0)
		p.found(githost.Query{Branch: "change", Target: "another", Marker: Marker}, other.Number)
		ours := p.open().Number
		p.found(Query, ours)
	}},
	{"any branch's is found by its marker", func(p *place) {
		p.local.branch("other")
		file := githost.FileMarker("main", "base-repo.yaml")
		number := p.people.Open(p, "other", "main", "Pins a commit", "Text\n\n"+file)
		p.open()
		p.found(githost.Query{Target: "main", Marker: file}, number)
	}},
	{"an open one of the branches exists", func(p *place) {
		p.people.Open(p, "change", "main", "Theirs", "Theirs")
		_, err := p.repo.Open(p.ctx, Proposal())
		p.refused(err, githost.ErrExists, "", "already exists")
	}},
	{"an equal one was opened, and its answer was lost", func(p *place) {
		opened := p.open()
		wanted := Proposal()
		wanted.Labels = []string{"platform"}
		again := p.Must(p.repo.Open(p.ctx, wanted))
		want := opened
		want.Labels = wanted.Labels
		p.expect(want, again)
	}},
	{"its branch does not exist", func(p *place) {
		wanted := Proposal()
		wanted.Branch = "unknown"
		_, err := p.repo.Open(p.ctx, wanted)
		p.refused(err, githost.ErrBranchNotFound, "", "from unknown to main")
	}},
	{"its branch has no difference", func(p *place) {
		p.local.git("branch", "same", "main")
		p.local.send("same")
		wanted := Proposal()
		wanted.Branch = "same"
		opened, err := p.repo.Open(p.ctx, wanted)
		if p.traits.OpensEmpty {
			p.Must(opened, err)
			return
		}
		p.refused(err, githost.ErrNothingToMerge, "", "from same to main")
	}},
	{"its branch is deleted", func(p *place) {
		opened := p.open()
		p.local.git("push", "--quiet", p.people.Remote, ":refs/heads/change")
		state := githost.Closed
		if p.traits.KeepsDeleted {
			state = githost.Open
		}
		closed := p.untilState(opened.Number, state)
		if closed.HeadCommit != opened.HeadCommit || closed.Branch != "change" {
			p.Errorf("it is %+v", closed)
		}
		p.found(Query, opened.Number)
	}},
	{"a team can be asked or not", func(p *place) {
		team := p.traits.Team
		if team == "" {
			p.asking(0, func() {
				err := p.repo.CheckSupport(githost.Settings{Reviewers: []string{Ann, "acme/platform"}})
				p.refused(err, githost.ErrRejected, githost.FieldReviewers, p.traits.NoTeam)
			})
			return
		}
		p.asking(0, func() {
			if err := p.repo.CheckSupport(githost.Settings{Reviewers: []string{Ann, team}}); err != nil {
				p.Error(err)
			}
			unknown := "unknown/platform"
			if p.traits.AnyTeam {
				unknown = "unknown/platform/"
			}
			p.refused(p.repo.CheckSupport(githost.Settings{Reviewers: []string{team, unknown}}), githost.ErrRejected,
				githost.FieldReviewers, unknown)
		})
		wanted := Proposal()
		wanted.Reviewers = []string{team}
		opened := p.Must(p.repo.Open(p.ctx, wanted))
		if read := p.Must(p.repo.Read(p.ctx, opened.Number)); fmt.Sprint(read.Reviewers) != fmt.Sprint(wanted.Reviewers) {
			p.Errorf("asked: %v", read.Reviewers)
		}
	}},
	{"it is open although its reviewer can't be asked", func(p *place) {
		wanted := Proposal()
		wanted.Labels, wanted.Reviewers = []string{"platform"}, []string{Outsider}
		opened, err := p.repo.Open(p.ctx, wanted)
		p.refused(err, githost.ErrRejected, githost.FieldReviewers, "")
		if opened == nil || len(opened.Labels) != 1 || len(opened.Reviewers) != 0 {
			p.Fatalf("opened %+v", opened)
		}
		p.found(Query, opened.Number)
	}},
	{"its number does not exist", func(p *place) {
		_, err := p.repo.Read(p.ctx, 99)
		p.refused(err, githost.ErrNotVisible, "", "99")
		_, err = p.repo.Close(p.ctx, 99)
		p.refused(err, githost.ErrNotVisible, "", "99")
	}},
}

// full returns a proposal with all features that all hosts have.
func (p *place) full() githost.PullRequestContent {
	wanted := Proposal()
	wanted.Draft, wanted.Labels, wanted.Reviewers = true, []string{"platform", "promoted"}, []string{Ann}
	return wanted
}
