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
	giturl "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/url"
	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
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

	mu   sync.Mutex
	sent Sent
	errs []error
}

// Send carries out a plan. It returns the feedback so far, and the errors, at most one of each kind for a host. What
// failed is due again. It takes at most [MaxTime].
func (p *Plan) Send(ctx context.Context, hosts githost.Host) (Sent, []error) {
	ctx, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	s := &sender{plan: p, hosts: hosts}
	s.sent.Statuses, s.sent.Issues = maps.Clone(p.sent.Statuses), maps.Clone(p.sent.Issues)
	servers := map[string]*work{}
	at := func(repo string) *work {
		server := serverOf(repo)
		if servers[server] == nil {
			servers[server] = &work{}
		}
		return servers[server]
	}
	for _, status := range p.Statuses {
		to := at(status.Repo)
		to.statuses = append(to.statuses, status)
	}
	moved := map[string]Closing{}
	for _, closing := range p.Closed {
		s.sent.Issues[closing.Workload] = closing.Issue
		if slices.ContainsFunc(p.Opened, func(i Issue) bool { return i.Workload == closing.Workload }) {
			moved[closing.Workload] = closing // to another repo
			continue
		}
		at(closing.Issue.Repo).addIssue(func(ctx context.Context) error { return s.close(ctx, closing) })
	}
	for _, issue := range p.Edited {
		at(issue.Repo).addIssue(func(ctx context.Context) error { return s.edit(ctx, issue) })
	}
	listed := map[string]func() ([]githost.Issue, error){}
	for _, issue := range p.Opened {
		key := giturl.Key(issue.Repo)
		if listed[key] == nil {
			listed[key] = sync.OnceValues(func() ([]githost.Issue, error) {
				repo, err := s.issues(issue.Repo)
				if err != nil {
					return nil, err
				}
				return repo.List(ctx)
			})
		}
		at(issue.Repo).addIssue(func(ctx context.Context) error {
			if closing, moves := moved[issue.Workload]; moves {
				if err := s.close(ctx, closing); err != nil {
					return err
				}
			}
			return s.open(ctx, issue, listed[key])
		})
	}
	var group sync.WaitGroup
	for _, w := range servers {
		group.Go(func() { s.onServer(ctx, w) })
	}
	group.Wait()
	if _, open := s.sent.Issues[""]; open {
		s.sent.Listed = p.listed
	}
	return s.sent, distinct(s.errs)
}

// work contains the requests to one server.
type work struct {
	statuses []Status
	issues   []func(context.Context) error
}

func (w *work) addIssue(do func(context.Context) error) { w.issues = append(w.issues, do) }

// onServer sends to one server: first statuses, then issues, one after the other. It stops once the server does not
// answer, or does not accept the credential: the other requests would fail in the same way.
func (s *sender) onServer(ctx context.Context, w *work) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	try := func(err error) {
		if err == nil || ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return
		}
		s.note(func() { s.errs = append(s.errs, err) })
		for _, kind := range []error{githost.ErrUnavailable, githost.ErrRateLimited, githost.ErrUnauthenticated} {
			if errors.Is(err, kind) {
				stop()
			}
		}
	}
	parallel.Limited(len(w.statuses), maxConcurrent, func(i int) {
		if ctx.Err() == nil {
			try(s.set(ctx, w.statuses[i]))
		}
	})
	for _, do := range w.issues {
		if ctx.Err() == nil {
			try(do(ctx))
		}
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
	s.note(func() { s.sent.Issues[issue.Workload] = SentIssue{issue.Repo, number, issue.text()} })
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

// open opens an issue, or continues with the one that has its marker. One that people closed stays closed if the
// failure is the same.
func (s *sender) open(ctx context.Context, issue Issue, list func() ([]githost.Issue, error)) error {
	repo, err := s.issues(issue.Repo)
	if err != nil {
		return err
	}
	all, err := list()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(one githost.Issue) bool { return githost.HasMarker(one.Body, issue.Marker) })
	if i >= 0 {
		return s.update(ctx, repo, all[i], issue)
	}
	opened, err := repo.Open(ctx, issue.Content)
	if opened != nil {
		s.says(issue, opened.Number)
	}
	return err
}

// edit edits an issue. A deleted one is opened again. An issue without a marker is another one: the repo was created
// anew.
func (s *sender) edit(ctx context.Context, issue Issue) error {
	repo, err := s.issues(issue.Repo)
	if err != nil {
		return err
	}
	now, err := repo.Read(ctx, s.plan.sent.Issues[issue.Workload].Number)
	if errors.Is(err, githost.ErrNotVisible) || err == nil && !githost.HasIssueMarker(now.Body) {
		return s.open(ctx, issue, func() ([]githost.Issue, error) { return repo.List(ctx) })
	}
	if err != nil {
		return err
	}
	return s.update(ctx, repo, *now, issue)
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

// close closes an issue, without the mark of the failure: the same failure opens it again. One that people closed or
// deleted, and one without a marker, stays as it is. If the repo of a mended workload is not visible, the credential
// has lost sight of it, and the issue is due again.
func (s *sender) close(ctx context.Context, closing Closing) error {
	forget := func() { delete(s.sent.Issues, closing.Workload) }
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
		errors.Is(err, githost.ErrNotVisible), err == nil && (now.Closed || !githost.HasIssueMarker(now.Body)):
		s.note(forget)
		return nil
	case err != nil:
		return err
	}
	content := githost.IssueContent{Title: now.Title, Body: withoutFault(now.Body), Closed: true}
	if _, err = repo.Edit(ctx, now.Number, content); err != nil {
		return err
	}
	s.note(forget)
	return repo.Comment(ctx, now.Number, describe.Closing(s.plan.environment, closing.Removed))
}

// withoutFault returns the body of an issue without the line that identifies the failure.
func withoutFault(body string) string {
	lines := strings.Split(body, "\n")
	start, end, _ := strings.Cut(describe.FaultMarker("\n"), "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
		line = strings.TrimRight(line, "\r ")
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
