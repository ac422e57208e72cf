package remote_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/drift"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/github"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost/httpapi"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// reviewed is a rendering that is delivered by pull request to the branch dev of a repo, with its state in Terraform.
// Most tests use a repo on a fake GitHub.
type reviewed struct {
	*testing.T
	fake    *githubfake.Server
	on      *githubfake.Repo
	remote  remote.Operations
	ctx     context.Context
	desired delivery.Arguments
	value   string // content of all files of the tree
	prior   *delivery.Prior
	state   *delivery.State
	shown   *githost.PullRequest // pull request that the last apply or refresh showed
}

func newReviewed(t *testing.T) *reviewed {
	t.Helper()
	fake := githubfake.New(t)
	on := fake.AddRepo(t, "acme/gitops")
	gitserver.Seed(t, on.Path, "dev", map[string]string{"README.md": "hello\n"})
	client, err := gitremote.NewClient([]gitremote.Credential{{URL: fake.URL, Username: "x", Password: fake.Token}})
	if err != nil {
		t.Fatal(err)
	}
	host, err := github.New(github.Config{Access: httpapi.Access{Token: fake.Token, BaseURL: fake.URL}})
	if err != nil {
		t.Fatal(err)
	}
	r := newReviewedOn(t, client, host, on.URL)
	r.fake, r.on = fake, on
	for _, branch := range []string{"live", "third"} {
		gitserver.Git(t, r.on.Path, "branch", branch, "dev")
	}
	return r
}

// newReviewedOn returns a rendering on the branch dev of the repo at url, which is on host.
func newReviewedOn(t *testing.T, client *gitremote.Client, host githost.Host, url string) *reviewed {
	t.Helper()
	r := &reviewed{T: t, ctx: t.Context(), value: "1"}
	r.remote = remote.Operations{Git: client, Host: func() (githost.Host, error) { return host, nil }}
	r.desired = delivery.Arguments{
		Strategy:    destination.PullRequest,
		Destination: destination.Destination{Repo: url, Branch: "dev", Path: "."},
		Environment: "dev",
		Guardrails:  delivery.Guardrails{MaxRemoved: "100%", AllowEmpty: true},
		OnDrift:     drift.Fail,
		PullRequest: pullrequest.Settings{BranchPrefix: "ours/"},
		Author:      gitbranch.Author{Name: "A", Email: "a@acme.io", When: time.Unix(1700000000, 0)},
	}
	return r
}

// decide returns the decision on the desired rendering. A plan and an apply each decide, as in Terraform.
func (r *reviewed) decide() delivery.Plan {
	r.Helper()
	a := r.desired
	a.Fleet = &fleet.Fleet{}
	t := build(r, "dev", r.value, map[string][]string{"large": {"a"}, "small": {"c"}})
	return delivery.Decide(delivery.NewRendered(&a, t), r.prior, r.state)
}

// refresh refreshes the state. Each plan does so first.
func (r *reviewed) refresh() {
	r.Helper()
	if r.prior == nil {
		return
	}
	found, err := r.remote.Refresh(r.Context(), r.prior, r.state)
	if err != nil {
		r.Fatal(err)
	}
	switch {
	case found == nil:
	case found.Removed:
		r.prior, r.state = nil, nil
	default:
		r.state, r.prior.Commit, r.prior.Delivered = r.reread(found.State), found.Commit, found.Delivered
		r.shown = found.PullRequest
	}
}

// reread encodes and decodes a state, as the next run does.
func (r *reviewed) reread(s *delivery.State) *delivery.State {
	r.Helper()
	if s == nil {
		return nil
	}
	text, err := s.Encode()
	if err != nil {
		r.Fatal(err)
	}
	now, err := delivery.DecodeState(text)
	if err != nil {
		r.Fatal(err)
	}
	return now
}

// plan returns a text of the next plan.
func (r *reviewed) plan() string {
	r.Helper()
	d := r.decide()
	text := "write"
	switch d := d.(type) {
	case *delivery.Keep:
		text = "nothing"
	case *delivery.Rest:
		text = "nothing"
		if d.Prior == nil {
			text = "deliver nothing"
		}
	case *delivery.Withhold:
		text = "withhold"
	case *delivery.RemoveOld:
		text = "remove old"
	case *delivery.Undecided:
		text = "undecided"
	}
	add := func(verb string, places []destination.Destination) {
		for _, at := range places {
			text += ", " + verb + " " + at.Branch
		}
	}
	if old, removes := d.(*delivery.RemoveOld); removes {
		add("removes", old.Removed)
		add("keeps", old.Kept)
	}
	p := d.All()
	add("leaves for now", delivery.EffectsOf(d).Left.Pending)
	for _, s := range p.Drift {
		for _, drift := range s.Drift {
			text += fmt.Sprintf(", drift %q %v", drift.Subject, drift.Paths)
		}
	}
	if p.Stop == nil && p.Args.Strategy == destination.PullRequest && p.State != nil && p.State.Proposal.Closed() != 0 {
		text += fmt.Sprintf(", %d was closed", p.State.Proposal.Closed())
	}
	for _, err := range p.Errors {
		text += ", error " + err.Error()
	}
	return text
}

// applyPlanned applies without a refresh, so that the plan does not contain what happened since the last one.
func (r *reviewed) applyPlanned() error {
	r.Helper()
	r.remote.Claims = &remote.Claims{} // each run has its own claims
	decision := r.decide()
	result, err := r.remote.Apply(r.ctx, decision)
	if err != nil {
		return err
	}
	r.state, r.shown = r.reread(result.State), result.PullRequest
	d := result.Applied
	switch decision.(type) {
	case *delivery.Keep, *delivery.RemoveOld, *delivery.Rest:
		r.prior.PullRequest = d.Args.PullRequest
		return nil
	}
	r.prior = &delivery.Prior{
		Strategy: d.Args.Strategy, Destination: d.Args.Destination, Environment: d.Args.Environment,
		PullRequest: d.Args.PullRequest, Owners: d.Args.Owners,
		TreeHash: d.Folders.TreeHash().String(), TargetTreeHash: d.TargetTreeHash(),
		Commit: result.Commit, Delivered: d.ReachedBy(result.State),
	}
	return nil
}

// apply plans and applies, and expects no error.
func (r *reviewed) apply() {
	r.Helper()
	r.refresh()
	if err := r.applyPlanned(); err != nil {
		r.Fatal(err)
	}
}

// set applies another value.
func (r *reviewed) set(value string) {
	r.Helper()
	r.value = value
	r.apply()
}

// move changes the branch, and applies.
func (r *reviewed) move(branch string) {
	r.Helper()
	r.desired.Destination.Branch = branch
	r.apply()
}

// merge merges the newest pull request, as people do.
func (r *reviewed) merge() { r.Helper(); r.on.Merge(r, len(r.on.PullRequests()), "squash") }

// delivered delivers the rendering: its pull request is merged.
func (r *reviewed) delivered() { r.Helper(); r.apply(); r.merge(); r.refresh() }

// moved delivers the rendering to dev, moves it to live, and leaves the pull request open that removes it from dev.
func (r *reviewed) moved() { r.Helper(); r.delivered(); r.move("live"); r.merge(); r.apply() }

func (r *reviewed) destroy() error {
	r.Helper()
	r.refresh()
	after, _, err := r.remote.Destroy(r.ctx, &r.desired, r.prior, r.state)
	if err != nil {
		r.state = r.reread(after)
		return err
	}
	r.prior, r.state = nil, nil
	return nil
}

// ours returns the branch of the newest pull request.
func (r *reviewed) ours() string {
	all := r.on.PullRequests()
	return all[len(all)-1].Head
}

// push pushes to a branch, as people do.
func (r *reviewed) push(branch, path, text string) {
	r.Helper()
	gitserver.Seed(r, r.on.Path, branch, map[string]string{path: text})
}

// rebase rebases our branch onto dev, as people do.
func (r *reviewed) rebase() {
	r.Helper()
	folder := filepath.Join(r.TempDir(), "tree")
	gitserver.Git(r, r.on.Path, "worktree", "add", "--quiet", folder, r.ours())
	gitserver.Git(r, folder, "rebase", "--quiet", "dev")
	gitserver.Git(r, r.on.Path, "worktree", "remove", "--force", folder)
}

// timeUp makes the next operation reach its timeout when it first reads the pull request with this number.
func (r *reviewed) timeUp(number int) {
	var cancel context.CancelFunc
	r.ctx, cancel = context.WithCancel(r.Context())
	r.Cleanup(cancel)
	r.fake.Before("GET", fmt.Sprintf("/pulls/%d", number), func() bool { cancel(); return true })
}

// see returns a text of the repo, the error and the next plan.
func (r *reviewed) see(err error) string {
	r.Helper()
	var lines []string
	for _, p := range r.on.PullRequests() {
		kind, _, _ := strings.Cut(strings.TrimPrefix(p.Head, "ours/"), "-")
		line := fmt.Sprintf("%d %s: %s to %s", p.Number, p.State, kind, p.Base)
		if len(p.Labels)+len(p.Reviewers) > 0 {
			line += fmt.Sprint(" ", slices.Concat(p.Labels, p.Reviewers))
		}
		if p.AutoMerge != "" {
			line += " auto-merge"
		}
		if p.Draft {
			line += " draft"
		}
		if reason, _, withheld := strings.Cut(p.Body, "<!-- kalypso-withheld -->"); withheld {
			_, reason, _ = strings.Cut(reason, "this reason is gone:")
			line += fmt.Sprintf(" %q", strings.TrimSpace(reason))
		}
		lines = append(lines, line)
	}
	for _, branch := range strings.Fields(gitserver.Git(r, r.on.Path, "branch", "--format=%(refname:short)")) {
		var existing []string
		for path, text := range gitserver.Tree(r, r.on.Path, branch) {
			if folder, ok := strings.CutSuffix(path, "large/a-x/reconciler.yaml"); ok {
				existing = append(existing, folder+text)
			}
		}
		slices.Sort(existing)
		name := branch
		if strings.HasPrefix(branch, "ours/") {
			name = branch[:strings.LastIndex(branch, "-")]
		}
		if len(existing) > 0 || name != branch {
			lines = append(lines, strings.TrimSpace(name+": "+strings.Join(existing, " ")))
		}
	}
	if err != nil {
		text := strings.ReplaceAll(err.Error(), r.fake.URL, "")
		if moved, ok := errors.AsType[*delivery.Refusal](err); ok && moved.Kind == delivery.BranchMoved {
			_, after, _ := strings.Cut(moved.Reason, " on branch ")
			on, _, _ := strings.Cut(after, " of ")
			text = fmt.Sprintf("%s moved: %v", on, moved.Names)
		}
		lines = append(lines, "error: "+text)
	}
	r.refresh()
	plan := "plan: " + r.plan()
	if r.prior != nil && r.prior.Delivered {
		plan += ", delivered"
	}
	return "\n" + strings.Join(append(lines, plan), "\n")
}

// reviewCase is a row of a specification. do is what happens to a rendering that people review. want is the result: all
// pull requests, the rendering's files on each branch, the error, and the next plan.
type reviewCase struct {
	rule string
	do   func(*reviewed) error
	want string
}

// specify runs the rows. Each row has its own repo.
func specify(t *testing.T, rows []reviewCase) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.rule, func(t *testing.T) {
			t.Parallel()
			r := newReviewed(t)
			if diff := cmp.Diff(row.want, r.see(row.do(r))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
