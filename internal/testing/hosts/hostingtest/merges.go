package hostingtest

import "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"

var merges = []row{
	{"people merged it, by any method", func(p *place) {
		for _, method := range githost.MergeMethods {
			branch := string(method) + "-branch"
			opened := p.openFrom(branch)
			if opened.MergeCommit != "" {
				p.Errorf("the merge commit of an open pull request is %s", opened.MergeCommit)
			}
			commit := p.people.Merge(p, opened.Number, method)
			read := p.untilState(opened.Number, githost.Merged)
			found := p.Must(p.repo.Find(p.ctx, githost.Query{Branch: branch, Target: "main", Marker: Marker}))
			marked := p.Must(p.repo.Find(p.ctx, githost.Query{Target: "main", Marker: Marker}))
			for way, got := range map[string]githost.PullRequest{"read": read, "found": found, "found by marker": marked} {
				if got.State != githost.Merged || got.MergeCommit != commit || got.HeadCommit != opened.HeadCommit ||
					got.Number != opened.Number || commit != p.local.head("main") {
					p.Errorf("%s, %s: %+v, want merge commit %s", method, way, got, commit)
				}
			}
			p.local.pull("main")
		}
	}},
	{"the target took its commits by a push", func(p *place) {
		opened := p.open()
		p.local.git("update-ref", "refs/heads/main", "refs/heads/change")
		p.local.send("main")
		p.untilRead(opened.Number, "as the host leaves it", func(pr githost.PullRequest) bool {
			return (pr.State == githost.Open) == p.traits.KeepsPushed
		})
		p.found(Query, opened.Number)
	}},
	{"auto-merge can use these methods", func(p *place) {
		p.asking(0, func() {
			for _, method := range append(githost.MergeMethods[:3:3], "") {
				err := p.repo.CheckSupport(githost.Settings{AutoMerge: method})
				if reason := p.traits.NoMethod[method]; reason == "" {
					if err != nil {
						p.Errorf("%q: %v", method, err)
					}
				} else {
					p.refused(err, githost.ErrRejected, githost.FieldAutoMerge, reason)
				}
			}
			err := p.repo.CheckSupport(githost.Settings{AutoMerge: "fast-forward"})
			p.refused(err, githost.ErrRejected, githost.FieldAutoMerge, "auto-merge")
		})
	}},
	{"auto-merge waits for checks, by each method", func(p *place) {
		p.people.Require("main", "ci")
		now := p.open()
		for _, method := range append(p.methods(), p.methods()[0]) {
			now = p.Must(p.repo.MergeWhenReady(p.ctx, now, method))
			p.waits(now, method)
			before := p.world.Requests()
			p.Must(p.repo.MergeWhenReady(p.ctx, now, method))
			if asked := p.world.Requests() > before; asked != p.traits.AsksAgain {
				p.Errorf("it asks again: %v", asked)
			}
			p.waits(p.Must(p.repo.Read(p.ctx, now.Number)), method)
		}
		now = p.Must(p.repo.MergeWhenReady(p.ctx, now, ""))
		p.waits(now, "")
		p.waits(p.Must(p.repo.Read(p.ctx, now.Number)), "")
	}},
	{"auto-merge merges once the check passed, by each method", func(p *place) {
		p.people.Require("main", "ci")
		for _, method := range p.methods() {
			branch := string(method) + "-branch"
			now := p.openFrom(branch)
			p.waits(p.Must(p.repo.MergeWhenReady(p.ctx, now, method)), method)
			p.people.SetStatus(p.local.head(branch), "ci", githost.Success)
			merged := p.untilState(now.Number, githost.Merged)
			if merged.MergeCommit != p.local.head("main") {
				p.Errorf("the merge commit is %s, main is %s", merged.MergeCommit, p.local.head("main"))
			}
			p.local.pull("main")
		}
	}},
	{"auto-merge merges at once if no check is required", func(p *place) {
		for _, method := range p.methods() {
			now := p.openFrom(string(method) + "-branch")
			p.Must(p.repo.MergeWhenReady(p.ctx, now, method))
			merged := p.untilState(now.Number, githost.Merged)
			if merged.MergeCommit == "" || merged.MergeCommit != p.local.head("main") {
				p.Errorf("by %s, the merge commit is %s, main is %s", method, merged.MergeCommit, p.local.head("main"))
			}
			p.local.pull("main")
		}
	}},
	{"auto-merge after a push", func(p *place) {
		p.people.Require("main", "ci")
		method := p.methods()[0]
		now := p.Must(p.repo.MergeWhenReady(p.ctx, p.open(), method))
		pushed := p.local.push("change")
		now = p.untilRead(now.Number, "with its new head", func(pr githost.PullRequest) bool {
			return pr.HeadCommit == pushed && (pr.AutoMerge == "") == p.traits.StopsOnPush
		})
		p.waits(p.Must(p.repo.MergeWhenReady(p.ctx, now, method)), method)
		p.people.SetStatus(pushed, "ci", githost.Success)
		p.untilState(now.Number, githost.Merged)
	}},
	{"only the commit that was read is merged", func(p *place) {
		read := p.open()
		pushed := p.local.push("change")
		p.untilRead(read.Number, "with its new head", func(pr githost.PullRequest) bool { return pr.HeadCommit == pushed })
		main := p.local.head("main")
		_, err := p.repo.MergeWhenReady(p.ctx, read, p.methods()[0])
		p.refused(err, githost.ErrRejected, githost.FieldAutoMerge, "")
		if p.local.head("main") != main {
			p.Error("it was merged")
		}
	}},
	{"auto-merge of a closed one", func(p *place) {
		read := p.open()
		p.people.Close(p, read.Number)
		_, err := p.repo.MergeWhenReady(p.ctx, read, p.methods()[0])
		p.refused(err, githost.ErrRejected, githost.FieldAutoMerge, "")
	}},
}

// methods are those that auto-merge can use.
func (p *place) methods() []githost.MergeMethod {
	var all []githost.MergeMethod
	for _, method := range githost.MergeMethods {
		if p.traits.NoMethod[method] == "" {
			all = append(all, method)
		}
	}
	return all
}

// waits expects an open pull request with auto-merge by a method; "": without.
func (p *place) waits(now githost.PullRequest, method githost.MergeMethod) {
	p.Helper()
	same := now.AutoMerge == method
	if p.traits.HidesMethod {
		same = (now.AutoMerge == "") == (method == "")
	}
	if now.State != githost.Open || !same {
		p.Errorf("it is %+v, want auto-merge %q", now, method)
	}
}
