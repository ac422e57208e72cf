package pullrequest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/system/clock"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/giteaserver"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/hostingtest"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

const (
	file   = "value.txt" // the file that the pull request changes
	marker = "<!-- kalypso-rendering: dev -->"
)

func TestMain(m *testing.M) {
	code := m.Run()
	giteaserver.Stop()
	os.Exit(code)
}

// world is a repo on a host, and a rendering of a single file that pull requests deliver to the branch main.
type world struct {
	*testing.T
	which  hosts.Host
	on     *hostingtest.World
	people *hostingtest.Repo
	local  string // folder of the repo, or of a bare clone
	url    string // URL of the repo
	git    *gitremote.Client
	host   githost.Host
	ctx    context.Context

	settings  pullrequest.Settings
	subject   string              // beginning of the title
	value     string              // desired content of the file, which is removed if this is empty
	owners    []string            // reviewers in addition to those of the settings
	promoted  bool                // the change promotes another commit
	known     *pullrequest.Known  // pull request in the state, or nil
	pushed    string              // our last commit in the state
	listed    string              // the head of our branch that the last plan listed
	sleep     func(try int) error // called while a run waits, unless nil
	afterPush func() error        // called before the pull request is opened or edited
}

// newWorld returns a world on GitHub.
func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, hosts.All()[0])
}

func newWorldOn(t *testing.T, host hosts.Host) *world {
	t.Helper()
	w := &world{T: t, which: host, on: host.New(t), ctx: t.Context(), value: "1"}
	w.people = w.on.AddRepo(t)
	w.settings.BranchPrefix = "ours/"
	w.url = w.people.URL
	w.local = w.people.Remote
	if w.remote() {
		w.local = gitserver.InitBare(t)
	}
	gitserver.Seed(t, w.local, "main", map[string]string{"README.md": "hello\n"})
	w.send("main")
	w.people.Protect(t, "main")
	w.as(hostingtest.Writer)
	return w
}

// onEachHost runs a test on each host.
func onEachHost(t *testing.T, test func(*world)) {
	t.Helper()
	hosts.Each(t, hosts.All(), func(t *testing.T, on hosts.Host) { test(newWorldOn(t, on)) })
}

// as makes Git and the host's client use a credential.
func (w *world) as(c hostingtest.Credential) {
	w.Helper()
	w.host = w.on.Host(w, c)
	w.git = hosts.GitClient(w, w.host, w.url)
}

// team returns a team that can review. On hosts without teams, it returns a name that looks like a team's.
func (w *world) team() string {
	return cmp.Or(w.on.Traits.Team, "acme/platform")
}

// fake returns GitHub's fake if the test runs on it, or else nil.
func (w *world) fake() *githubfake.Server {
	fake, _ := w.on.Server.(*githubfake.Server)
	return fake
}

// resetLog forgets the requests so far.
func (w *world) resetLog() {
	if fake := w.fake(); fake != nil {
		fake.ResetLog()
	}
}

// remote reports whether the host's repo is on a server, and not a folder of this machine.
func (w *world) remote() bool { return strings.Contains(w.people.Remote, "://") }

// fetch updates the clone from the host's repo.
func (w *world) fetch() {
	w.Helper()
	if w.remote() {
		gitserver.Git(w, w.local, "fetch", "--quiet", "--prune", "--no-auto-maintenance", w.people.Remote,
			"+refs/heads/*:refs/heads/*")
	}
}

// send pushes a branch of the clone as people do.
func (w *world) send(branch string) {
	w.Helper()
	if w.remote() {
		gitserver.Git(w, w.local, "push", "--quiet", "--force", w.people.Remote, "refs/heads/"+branch)
	}
}

func (w *world) branch() string {
	return pullrequest.BranchName(w.settings.BranchPrefix, marker, "dev")
}

func (w *world) topic() *pullrequest.Topic {
	w.Helper()
	t, err := pullrequest.Open(w.git, w.host, pullrequest.TopicLocation{
		Repo: w.url, Branch: w.branch(), Target: "main", Path: ".", Marker: marker,
	}, w.settings)
	if err != nil {
		w.Fatal(err)
	}
	t.OwnBranch.Contents = content
	t.Sleep = func(ctx context.Context, try int) error {
		if w.sleep != nil {
			if err := w.sleep(try); err != nil {
				return err
			}
		}
		switch isReal := w.on.Clock == nil; {
		case try > maxWaits, isReal && try > maxRealWaits:
			return errTooLong
		case isReal: // it gets the time that the provider gives it
			return clock.Sleep(ctx, clock.Backoff(time.Second, 30*time.Second, try))
		}
		w.on.Pause()
		return ctx.Err()
	}
	return t
}

// maxWaits and maxRealWaits are the numbers of waits after which a run fails, so that no test waits forever: on a real
// host after two minutes.
const maxWaits, maxRealWaits = 100, 8

func content(s *gitbranch.Snapshot) (string, error) {
	if s.Commit.IsZero() {
		return "", nil
	}
	files, err := s.ReadFiles([]string{file})
	return string(files[file]), err
}

// compareOurs compares our branch with the change, as a rendering does. head is the head of the target branch.
func (w *world) compareOurs(
	ctx context.Context, t *pullrequest.Topic, ours *gitbranch.Snapshot, head string,
) (pullrequest.Comparison, error) {
	var c pullrequest.Comparison
	existing, err := content(ours)
	if err == nil {
		c.OwnBranch, err = t.OwnBranch.ReadAlone(ctx, ours, existing, w.pushed, head)
	}
	c.Existing = c.OwnBranch.Head != "" && existing == w.value && (w.value != "" || c.OwnBranch.Unchanged)
	c.Contents = w.value
	if w.listed != "" {
		c.Listed = true
		if c.OwnBranch.Head != w.listed {
			c.Moved = errMoved
		}
	}
	return c, err
}

// change is the change of the file.
type change struct {
	*world
	topic *pullrequest.Topic
	found *githost.PullRequest
}

func (c *change) Begin(_ context.Context, found *githost.PullRequest) (gitbranch.PushOptions, error) {
	c.found = found
	return gitbranch.PushOptions{}, nil
}

func (c *change) Compare(ctx context.Context, target, ours *gitbranch.Snapshot) (pullrequest.Comparison, error) {
	now, err := content(target)
	if err != nil {
		return pullrequest.Comparison{}, err
	}
	compared, err := c.compareOurs(ctx, c.topic, ours, target.Commit.String())
	compared.Needed = now != c.value
	compared.Discard = c.value == "" || c.found != nil && c.found.State != githost.Merged
	return compared, err
}

func (c *change) Commit() *gitbranch.Edit {
	author := gitbranch.Author{Name: "Kalypso", Email: "kalypso@acme.io", When: time.Unix(1700000000, 0)}
	edit := &gitbranch.Edit{Message: c.title() + "\n\nMore.", Author: author}
	edit.Files = map[string][]byte{file: []byte(c.value)}
	if c.value == "" {
		edit.Files, edit.Remove = nil, []string{file}
	}
	return edit
}

func (c *change) Pushed(context.Context) error {
	if c.afterPush == nil {
		return nil
	}
	return c.afterPush()
}

func (c *change) Text(context.Context) pullrequest.Text {
	return pullrequest.Text{Message: c.title() + "\n\nMore.", Body: "It sets " + c.value, Promoted: c.promoted,
		Reviewers: slices.Concat(c.settings.Reviewers, c.owners)}
}

func (w *world) title() string {
	if w.value == "" {
		return "Remove the value"
	}
	return w.subject + "Set " + w.value
}

// run proposes the change, as an apply does, and stores the state.
func (w *world) run() error {
	w.Helper()
	t := w.topic()
	if err := t.Host().CheckSupport(githost.Settings{
		Reviewers: w.settings.Reviewers, Labels: w.settings.Labels, AutoMerge: w.settings.AutoMerge,
	}); err != nil { // a plan checks this
		return err
	}
	result, err := t.Run(w.ctx, w.known, &change{world: w, topic: t})
	if err != nil {
		return err
	}
	w.known, w.pushed, w.listed = nil, "", ""
	if pr := result.PullRequest; pr != nil && pr.State != githost.Merged {
		w.known = &pullrequest.Known{
			Number: pr.Number, Open: pr.State == githost.Open, Head: result.Head, AutoMerge: w.settings.AutoMerge,
			Reviewers: result.Requested,
		}
		w.pushed, w.listed = result.Head, result.Head
	}
	return nil
}

// must proposes the change, and expects no error.
func (w *world) must() {
	w.Helper()
	if err := w.run(); err != nil {
		w.Fatal(err)
	}
}

// propose proposes a value, and expects no error.
func (w *world) propose(value string) {
	w.Helper()
	w.value = value
	w.must()
}

// plan makes the state list the commits that people pushed to our branch.
func (w *world) plan() { w.listed = w.head() }

// loseState removes the state, as if the apply was killed before Terraform stored it.
func (w *world) loseState() { w.known, w.pushed, w.listed = nil, "", "" }

// head returns the head of our branch.
func (w *world) head() string {
	w.Helper()
	w.fetch()
	return gitserver.Rev(w, w.local, w.branch())
}

// push pushes a file to a branch, as people do.
func (w *world) push(branch, path, text string) {
	w.Helper()
	w.fetch()
	gitserver.Seed(w, w.local, branch, map[string]string{path: text})
	w.send(branch)
}

// branchOff creates a branch from main, as people do.
func (w *world) branchOff(name string) {
	w.Helper()
	w.fetch()
	gitserver.Git(w, w.local, "branch", name, "main")
	w.send(name)
}

// pushOurs pushes our commit to main, as people do.
func (w *world) pushOurs() {
	w.Helper()
	gitserver.Git(w, w.local, "update-ref", "refs/heads/main", w.head())
	w.send("main")
}

// deleteBranch deletes a branch, as people do. It waits until the host has closed the branch's pull requests, unless
// the host keeps them open.
func (w *world) deleteBranch(name string) {
	w.Helper()
	w.people.DeleteBranch(w, name)
	w.await("that branch "+name+" is deleted", func() bool {
		return !slices.ContainsFunc(w.people.PullRequests(), func(pr githost.PullRequest) bool {
			return pr.State == githost.Open && (pr.Branch == name || pr.Target == name)
		})
	})
}

// rebase rebases our commit onto a commit of people on top of main, as people do.
func (w *world) rebase() { w.Helper(); w.rebaseOn("main", true) }

// rebaseOn rebases our commit onto a branch, as people do; if theirs is set, onto a new commit of theirs on top of the
// branch.
func (w *world) rebaseOn(branch string, theirs bool) {
	w.Helper()
	w.fetch()
	folder := filepath.Join(w.TempDir(), "tree")
	gitserver.Git(w, w.local, "worktree", "add", "--quiet", "--detach", folder, branch)
	if theirs {
		gitserver.Git(w, folder, "commit", "--quiet", "--allow-empty", "-m", "Theirs")
	}
	gitserver.Git(w, folder, "cherry-pick", w.branch())
	commit := strings.TrimSpace(gitserver.Git(w, folder, "rev-parse", "HEAD"))
	gitserver.Git(w, w.local, "worktree", "remove", "--force", folder)
	gitserver.Git(w, w.local, "update-ref", "refs/heads/"+w.branch(), commit)
	w.send(w.branch())
}

// see returns a text of the repo, of the requests to GitHub since the log was reset, and of the error.
func (w *world) see(err error) string {
	w.Helper()
	w.fetch()
	var lines []string
	for _, p := range w.people.PullRequests() {
		line := fmt.Sprintf("%d %s %q", p.Number, p.State, p.Title)
		if p.Target != "main" {
			line += " to " + p.Target
		}
		if !githost.HasMarker(p.Body, marker) {
			line += " unmarked"
		}
		if p.Draft {
			line += " draft"
		}
		if len(p.Labels) > 0 {
			line += fmt.Sprintf(" labels %v", slices.Sorted(slices.Values(p.Labels)))
		}
		if len(p.Reviewers) > 0 {
			asked := fmt.Sprintf(" asked %v", slices.Sorted(slices.Values(p.Reviewers)))
			line += strings.Replace(asked, w.team(), "the team", 1)
		}
		if p.AutoMerge != "" {
			line += " auto-merge " + string(p.AutoMerge)
		}
		if p.Queue != nil {
			line += map[bool]string{true: " queued", false: " queued by people"}[p.Queue.OwnEntry]
		}
		lines = append(lines, line)
	}
	lines = append(lines, "main: "+w.contains("main"), "ours: "+w.contains(w.branch()))
	if fake := w.fake(); fake != nil {
		lines = append(lines, requestsPrefix+w.requests(fake))
	}
	if err != nil {
		lines = append(lines, "error: "+errorText(err))
	}
	return "\n" + strings.Join(lines, "\n")
}

// requestsPrefix is the beginning of the line with the requests to GitHub.
const requestsPrefix = "host: "

// anyMethod matches a line about auto-merge with its method.
var anyMethod = regexp.MustCompile(`(?m)auto-merge (merge|squash|rebase)$`)

// expect compares the result of a run with the expected result. It waits for what the host does on its own, such as
// auto-merge.
func (w *world) expect(want string, err error) {
	w.Helper()
	if w.fake() == nil {
		lines := strings.Split(want, "\n")
		lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, requestsPrefix) })
		want = strings.Join(lines, "\n")
	}
	if w.on.Traits.HidesMethod {
		want = anyMethod.ReplaceAllString(want, "auto-merge "+string(githost.UnknownMethod))
	}
	var got string
	w.on.Await(func() bool {
		got = w.see(err)
		return got == want || !w.remote()
	})
	if diff := gocmp.Diff(want, got); diff != "" {
		w.Errorf("(-want +got)\n%s", diff)
	}
}

// errorText returns a text for the kind of an error.
func errorText(err error) string {
	var host *githost.Error
	var foreign *pullrequest.ForeignError
	var review *pullrequest.ReviewError
	switch {
	case errors.As(err, &host) && host.Field != "":
		return host.Kind.Error() + " at " + string(host.Field)
	case errors.As(err, &host):
		return host.Kind.Error()
	case errors.As(err, &foreign) && strings.HasPrefix(foreign.Reason, "people pushed"):
		return "people pushed to the branch"
	case errors.As(err, &foreign):
		return "the branch is not ours"
	case errors.As(err, &review):
		return map[bool]string{true: "closed without being merged", false: "not merged yet"}[review.Closed]
	case errors.Is(err, gitremote.ErrRejected):
		return gitremote.ErrRejected.Error()
	case errors.Is(err, gitremote.ErrUnauthorized):
		return gitremote.ErrUnauthorized.Error()
	case errors.Is(err, gitbranch.ErrBranchNotFound):
		return gitbranch.ErrBranchNotFound.Error()
	}
	return err.Error()
}

// contains returns a text of a branch: the value, other files, and how far the branch is ahead of main and behind it. A
// merge of main counts as one commit.
func (w *world) contains(branch string) string {
	w.Helper()
	if gitserver.Rev(w, w.local, branch) == "" {
		return "none"
	}
	tree := gitserver.Tree(w, w.local, branch)
	text := tree[file]
	if text == "" {
		text = "nothing"
	}
	delete(tree, file)
	delete(tree, "README.md")
	for path := range tree {
		text += " " + path
	}
	if branch == "main" || gitserver.Rev(w, w.local, "main") == "" {
		return text
	}
	ahead := strings.Fields(gitserver.Git(w, w.local, "rev-list", "--first-parent", "--left-right", "--count",
		"main..."+branch))
	return fmt.Sprintf("%s, %s ahead, %s behind", text, ahead[1], ahead[0])
}

// requests returns a name for each request to GitHub.
func (w *world) requests(fake *githubfake.Server) string {
	var all []string
	for _, r := range fake.Requests() {
		path := strings.TrimPrefix(r.Path, "/repos/acme/gitops/")
		name := r.Method + " " + path
		switch {
		case path == "pulls" && r.Method == "GET":
			name = "list closed"
			if strings.Contains(r.Query, "state=open") || !strings.Contains(r.Query, "state=") {
				name = "list open"
			}
		case path == "pulls":
			name = "open"
		case strings.HasSuffix(path, "/labels"):
			name = "label"
		case strings.Contains(path, "/labels/"):
			name = "unlabel"
		case strings.HasSuffix(path, "/requested_reviewers"):
			name = "ask"
		case strings.HasSuffix(path, "/reviews"), strings.HasSuffix(path, "/timeline"), strings.HasSuffix(path, "/merge"):
			name = path[strings.LastIndex(path, "/")+1:]
		case r.Method == "GET":
			name = "read"
		case r.Method == "PATCH" && strings.Contains(r.Body, `"closed"`):
			name = "close"
		case r.Method == "PATCH":
			name = "edit"
		case strings.HasSuffix(r.Path, "graphql"):
			_, mutation, _ := strings.Cut(r.Body, "{\\n  ")
			name, _, _ = strings.Cut(mutation, "(")
			if name == "node" {
				name = "queue"
			}
		}
		all = append(all, name)
	}
	return joinRepeats(all)
}

// joinRepeats joins a list. If the list consists of one part several times, the part is written once, with the number
// of times.
func joinRepeats(all []string) string {
	for n := 1; n <= len(all)/2; n++ {
		part := all[:n]
		if len(all)%n == 0 && slices.Equal(all, slices.Concat(slices.Repeat([][]string{part}, len(all)/n)...)) {
			return fmt.Sprintf("%d times %s", len(all)/n, strings.Join(part, ", "))
		}
	}
	return strings.Join(all, ", ")
}

// mergeTarget merges the target into our branch, as GitHub's button does.
func (w *world) mergeTarget() {
	w.Helper()
	w.fetch()
	tree, _, _ := strings.Cut(gitserver.Git(w, w.local, "merge-tree", "--write-tree", w.branch(), "main"), "\n")
	merge := gitserver.Git(w, w.local, "commit-tree", tree, "-m", "Merge", "-p", w.branch(), "-p", "main")
	gitserver.Git(w, w.local, "update-ref", "refs/heads/"+w.branch(), strings.TrimSpace(merge))
	w.send(w.branch())
}

// once returns a function for afterPush that is called only once.
func (w *world) once(do func()) func() error {
	return func() error {
		w.afterPush = nil
		do()
		return nil
	}
}

// await waits until a real host shows something. A fake shows it at once, or never.
func (w *world) await(what string, shows func() bool) {
	w.Helper()
	if w.remote() && !w.on.Await(shows) {
		w.Fatalf("the host never shows %s", what)
	}
}

// awaitState waits until a real host shows a pull request in a state. A fake shows it at once.
func (w *world) awaitState(number int, state githost.PullRequestState) {
	w.Helper()
	w.await(fmt.Sprintf("pull request %d %s", number, state), func() bool {
		return w.people.PullRequests()[number-1].State == state
	})
}

// onSecond returns a function for sleep that calls another function in the second wait.
func (w *world) onSecond(do func()) func(int) error {
	return func(try int) error {
		if try == 2 {
			do()
		}
		return nil
	}
}

// timeUp returns a function for sleep that calls another function in the second wait, and then ends the run's context.
func (w *world) timeUp(do func()) func(int) error {
	var cancel context.CancelFunc
	w.ctx, cancel = context.WithCancel(w.Context())
	return w.onSecond(func() {
		if do != nil {
			do()
		}
		cancel()
	})
}

var (
	errStep    = errors.New("the step of the caller failed")
	errTooLong = errors.New("the run waits too long")
)
