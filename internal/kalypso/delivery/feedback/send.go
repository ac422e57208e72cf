package feedback

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/giturl"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/parallel"
)

// MaxTime bounds the time that an apply takes to say something after its delivery.
const MaxTime = 30 * time.Second

// maxConcurrent bounds the statuses that are set at the same time on one server.
const maxConcurrent = 8

// sender carries out a plan.
type sender struct {
	plan  *Plan
	hosts githost.Host

	mu      sync.Mutex
	sent    Sent
	skipped map[string]bool // the teams that a request is left for
	errs    []error
}

// Send carries out a plan. It returns the feedback so far, and the errors, at most one of each kind for a host. What
// failed is due again. It takes at most [MaxTime].
func (p *Plan) Send(ctx context.Context, hosts githost.Host) (Sent, []error) {
	ctx, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	s := &sender{plan: p, hosts: hosts, sent: p.sent, skipped: map[string]bool{}}
	s.sent.Statuses, s.sent.Issues = maps.Clone(p.sent.Statuses), maps.Clone(p.sent.Issues)
	s.sent.Lists = maps.Clone(p.sent.Lists)
	var group sync.WaitGroup
	for _, w := range s.work() {
		group.Go(func() { s.onServer(ctx, w) })
	}
	group.Wait()
	// An apply that is killed later may open what is due, so that the number is not known. It is looked for then.
	for _, issue := range slices.Concat(p.Opened, p.waiting) {
		if _, sent := s.sent.find(issue.Workload, issue.Repo); !sent {
			s.sent.set(issue.Workload, SentIssue{Repo: issue.Repo, Marker: issue.Marker})
		}
	}
	slices.Sort(s.sent.Unchecked)
	s.sent.Basis, s.sent.Proposed = p.message.After, ""
	s.sent.Next = p.next
	teams := slices.Sorted(maps.Keys(s.skipped))
	if at, _ := slices.BinarySearch(teams, p.sent.Next); at < len(teams) {
		s.sent.Next = teams[at]
	} else if len(teams) > 0 {
		s.sent.Next = teams[0]
	}
	return s.sent, distinct(s.errs)
}

// work contains the requests to one server.
type work struct {
	statuses []Status
	steps    []step
	lists    map[string]*list // of the repos whose issues are listed, by repo
}

// step is an issue to open, edit or close.
type step struct {
	team string
	do   func(context.Context) error
}

// list contains the issues of a repo that we opened, newest first, as they were before this apply.
type list struct {
	repo string
	read func(context.Context) ([]githost.Issue, error) // requests them once
}

// work returns the requests of the plan, by server.
func (s *sender) work() map[string]*work {
	servers := map[string]*work{}
	at := func(repo string) *work {
		server := serverOf(repo)
		if servers[server] == nil {
			servers[server] = &work{lists: map[string]*list{}}
		}
		return servers[server]
	}
	listOf := func(repo string) *list {
		lists, key := at(repo).lists, giturl.Key(repo)
		if lists[key] == nil {
			lists[key] = s.newList(repo)
		}
		return lists[key]
	}
	add := func(repo, team string, do func(context.Context) error) {
		to := at(repo)
		to.steps = append(to.steps, step{team, do})
	}
	for _, status := range s.plan.Statuses {
		to := at(status.Repo)
		to.statuses = append(to.statuses, status)
	}
	moved := map[string]Closing{}
	for _, closing := range s.plan.Closed {
		s.sent.set(closing.Workload, closing.Issue)
		if slices.ContainsFunc(s.plan.Opened, func(i Issue) bool {
			return i.Workload != "" && i.Workload == closing.Workload
		}) {
			moved[closing.Workload] = closing // to another repo
			continue
		}
		add(closing.Issue.Repo, giturl.Key(closing.Issue.Repo), func(ctx context.Context) error {
			return s.close(ctx, closing)
		})
	}
	for _, issue := range s.plan.Edited {
		add(issue.Repo, issue.team(), func(ctx context.Context) error { return s.edit(ctx, issue) })
	}
	for _, issue := range s.plan.Opened {
		all := listOf(issue.Repo)
		add(issue.Repo, issue.team(), func(ctx context.Context) error {
			if closing, moves := moved[issue.Workload]; moves && issue.Workload != "" {
				if err := s.close(ctx, closing); err != nil {
					return err
				}
			}
			return s.open(ctx, issue, all)
		})
	}
	for _, repo := range s.plan.Checked {
		listOf(repo)
	}
	return servers
}

// newList returns the issues of a repo that we opened.
func (s *sender) newList(repo string) *list {
	var mu sync.Mutex
	var all []githost.Issue
	var err error
	read := false
	return &list{repo, func(ctx context.Context) ([]githost.Issue, error) {
		mu.Lock()
		defer mu.Unlock()
		if !read {
			read = true
			var issues githost.Issues
			issues, err = s.issues(repo)
			if err == nil {
				all, err = issues.List(ctx)
			}
		}
		return all, err
	}}
}

// lasting lists the kinds of errors that all requests to a server would have.
var lasting = []error{githost.ErrUnavailable, githost.ErrRateLimited, githost.ErrUnauthenticated}

func lasts(err error) bool {
	return slices.ContainsFunc(lasting, func(kind error) bool { return errors.Is(err, kind) })
}

// onServer sends to one server: statuses, then issues, one after the other, of each team in turn, and at last it closes
// the issues that it finds and that are not due any more. It stops once the server does not answer, or does not accept
// the credential: the other requests would fail in the same way.
func (s *sender) onServer(ctx context.Context, w *work) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	try := func(err error) {
		if err == nil || ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return
		}
		s.note(func() { s.errs = append(s.errs, err) })
		if lasts(err) {
			stop()
		}
	}
	parallel.Limited(len(w.statuses), maxConcurrent, func(i int) {
		if ctx.Err() == nil {
			try(s.set(ctx, w.statuses[i]))
		}
	})
	repos := slices.Sorted(maps.Keys(w.lists))
	parallel.Limited(len(repos), maxConcurrent, func(i int) {
		if ctx.Err() == nil {
			if _, err := w.lists[repos[i]].read(ctx); lasts(err) {
				try(err)
			}
		}
	})
	for _, one := range inTurn(w.steps, func(one step) string { return one.team }, s.plan.sent.Next) {
		if ctx.Err() != nil {
			s.note(func() { s.skipped[one.team] = true })
			continue
		}
		try(one.do(ctx))
	}
	for _, key := range repos {
		try(s.check(ctx, w.lists[key]))
	}
}

func (s *sender) set(ctx context.Context, status Status) error {
	repo, err := s.hosts.Repo(status.Repo)
	if err != nil {
		return err
	}
	if _, err = repo.SetStatus(ctx, status.Commit, status.Status); err != nil {
		return err
	}
	s.note(func() { s.sent.Statuses[status.key()] = status.fingerprint() })
	return nil
}

// note notes what was sent, and what failed.
func (s *sender) note(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// says notes that an issue says what it should.
func (s *sender) says(issue Issue, number int) {
	s.note(func() {
		s.sent.set(issue.Workload, SentIssue{issue.Repo, number, issue.text(), issue.Marker, issue.listed})
	})
}

// issues returns the issues of a repo. If its server became one of a host without issues, the error is
// [githost.ErrOtherHost].
func (s *sender) issues(url string) (githost.Issues, error) {
	repo, err := s.hosts.Repo(url)
	if err == nil && repo.Issues == nil {
		err = githost.ErrOtherHost
	}
	return repo.Issues, err
}

// open opens an issue, or continues with the one of ours that has its marker: the open one, or else the newest. One
// that people closed stays closed if the failure is the same.
func (s *sender) open(ctx context.Context, issue Issue, list *list) error {
	repo, err := s.issues(issue.Repo)
	if err != nil {
		return err
	}
	all, err := list.read(ctx)
	if err != nil {
		return err
	}
	is := func(one githost.Issue) bool { return one.Own && githost.HasMarker(one.Body, issue.Marker) }
	i := slices.IndexFunc(all, func(one githost.Issue) bool { return is(one) && !one.Closed })
	if i < 0 {
		i = slices.IndexFunc(all, is)
	}
	if i >= 0 {
		return s.update(ctx, repo, all[i], issue)
	}
	opened, err := repo.Open(ctx, issue.Content)
	if opened != nil {
		s.says(issue, opened.Number)
	}
	return err
}

// edit edits an issue. A deleted one is opened again. If the number belongs to an issue of another account or workload,
// the repo was created anew, and the issue is opened again too.
func (s *sender) edit(ctx context.Context, issue Issue) error {
	repo, err := s.issues(issue.Repo)
	if err != nil {
		return err
	}
	sent, _ := s.plan.sent.find(issue.Workload, issue.Repo)
	now, err := repo.Read(ctx, sent.Number)
	if errors.Is(err, githost.ErrNotVisible) || err == nil && !sent.is(now) {
		return s.open(ctx, issue, s.newList(issue.Repo))
	}
	if err != nil {
		return err
	}
	return s.update(ctx, repo, *now, issue)
}

// is reports whether an issue is the one that was sent.
func (i SentIssue) is(now *githost.Issue) bool {
	return now.Own && i.Marker != "" && githost.HasMarker(now.Body, i.Marker)
}

// update makes an issue say what it should.
func (s *sender) update(ctx context.Context, repo githost.Issues, now githost.Issue, issue Issue) error {
	stays := now.Closed && githost.HasMarker(now.Body, describe.FaultMarker(issue.Fault))
	if !stays {
		if _, err := repo.Edit(ctx, now.Number, issue.Content); err != nil {
			return err
		}
	}
	s.says(issue, now.Number)
	return nil
}

// close closes an issue that was sent. One that people closed or deleted, and one that is not ours, stays as it is. If
// the repo of a mended workload is not visible, the credential has lost sight of it, and the issue is due again.
func (s *sender) close(ctx context.Context, closing Closing) error {
	forget := func() { s.sent.remove(closing.Workload, closing.Issue.Repo) }
	repo, err := s.issues(closing.Issue.Repo)
	var now *githost.Issue
	if err == nil {
		now, err = repo.Read(ctx, closing.Issue.Number)
	}
	if mended := closing.Workload != "" && !closing.Removed; mended && errors.Is(err, githost.ErrNotVisible) {
		if _, hidden := repo.List(ctx); hidden != nil {
			return hidden
		}
	}
	switch {
	case errors.Is(err, githost.ErrOtherHost), // its block was removed or replaced
		errors.Is(err, githost.ErrNotVisible), err == nil && (now.Closed || !closing.Issue.is(now)):
		s.note(forget)
		return nil
	case err != nil:
		return err
	}
	return s.end(ctx, repo, *now, closing.Removed, forget)
}

// end closes an issue, without the mark of the failure: the same failure opens it again.
func (s *sender) end(ctx context.Context, repo githost.Issues, now githost.Issue, removed bool, closed func()) error {
	content := githost.IssueContent{Title: now.Title, Body: withoutFault(now.Body), Closed: true}
	if _, err := repo.Edit(ctx, now.Number, content); err != nil {
		return err
	}
	s.note(closed)
	return repo.Comment(ctx, now.Number, describe.Closing(s.plan.message.Environment, removed))
}

// check closes the open issues of a repo that belong to the environment and that are neither sent nor due: an apply
// that was killed opened them, or the answer was lost. If a later apply is going to open one of them, its number is
// noted. The repo is checked again if the server does not answer, and not if the credential does not see its issues.
func (s *sender) check(ctx context.Context, l *list) error {
	repo, err := s.issues(l.repo)
	if errors.Is(err, githost.ErrOtherHost) {
		return nil
	}
	var all []githost.Issue
	if err == nil {
		all, err = l.read(ctx)
	}
	for _, one := range all {
		if workload, ok := s.workloadOf(one); ok && !one.Closed && err == nil {
			err = s.checkIssue(ctx, repo, l.repo, workload, one)
		}
	}
	if ctx.Err() != nil || lasts(err) || err != nil && len(all) > 0 {
		s.note(func() { s.sent.Unchecked = append(s.sent.Unchecked, l.repo) })
	}
	return err
}

// workloadOf returns the workload of an issue of the environment, or "" for a list.
func (s *sender) workloadOf(one githost.Issue) (workload string, ok bool) {
	marker, ok := githost.FindIssueMarker(one.Body)
	if !ok || !one.Own || marker.Environment != s.plan.message.Environment || marker.Key != s.plan.message.Key {
		return "", false
	}
	return marker.Workload, true
}

// checkIssue closes an open issue of a repo that is neither sent nor due.
func (s *sender) checkIssue(
	ctx context.Context, repo githost.Issues, url, workload string, one githost.Issue,
) error {
	m := s.plan.message
	inRepo := func(i Issue) bool { return i.Workload == workload && giturl.Same(i.Repo, url) }
	sent, found := s.sent.find(workload, url)
	found = found && giturl.Same(sent.Repo, url)
	switch {
	case found && sent.Number == one.Number, slices.ContainsFunc(s.plan.Closed, func(c Closing) bool {
		return c.Issue.Number == one.Number && giturl.Same(c.Issue.Repo, url)
	}):
		return nil // or it was closed after the list was read
	case !found && slices.ContainsFunc(s.plan.Opened, inRepo):
		return nil // it failed, and is due again
	case !found && slices.ContainsFunc(m.Issues, inRepo):
		marker := githost.IssueMarker(m.Environment, m.Key, workload)
		s.note(func() { s.sent.set(workload, SentIssue{Repo: url, Number: one.Number, Marker: marker}) })
		return nil
	}
	if found || slices.ContainsFunc(m.Issues, func(i Issue) bool { return i.Workload == workload }) { // a second one
		content := githost.IssueContent{Title: one.Title, Body: withoutFault(one.Body), Closed: true}
		_, err := repo.Edit(ctx, one.Number, content)
		return err
	}
	_, known := slices.BinarySearch(m.Workloads, workload)
	return s.end(ctx, repo, one, workload != "" && !known, func() {})
}

// withoutFault returns the body of an issue without the line that identifies the failure.
func withoutFault(body string) string {
	lines := strings.Split(body, "\n")
	start, end, _ := strings.Cut(describe.FaultMarker("\n"), "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
		line = strings.TrimRight(line, " \t\r") // as [githost.HasMarker] reads lines
		return strings.HasPrefix(line, start) && strings.HasSuffix(line, end)
	}), "\n")
}

// serverOf returns the server of a repo.
func serverOf(repo string) string {
	at, err := giturl.Parse(repo)
	if err != nil {
		return repo
	}
	return at.HostPort()
}

// distinct returns the errors without those that repeat the kind of an earlier one of the same host.
func distinct(errs []error) (all []error) {
	seen := map[string]bool{}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	for _, err := range errs {
		key := err.Error()
		if e, ok := errors.AsType[*githost.Error](err); ok {
			key = e.Host + " " + e.Kind.Error()
		}
		if !seen[key] {
			seen[key] = true
			all = append(all, err)
		}
	}
	return all
}
