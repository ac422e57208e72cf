package corpus_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-log/tflogtest"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// args are arguments of a resource, or of an object in it.
type args = map[string]any

// world contains everything that one story changes: a resource with its arguments, its state in Terraform, and the repo
// that people work on.
type world struct {
	*shard
	*rand.Rand
	t     *testing.T
	seed  uint64
	trace *trace

	repo string           // path of the bare repo
	url  string           // of the repo
	on   *githubfake.Repo // nil if the repo is not on GitHub
	// other is the path of another bare repo to move to, and otherURL its URL. They are empty if the story has only one
	// repo.
	other, otherURL string

	resource protocol.Resource
	args     args
	yaml     []string // the kinds of objects that are in manifests
	// unknown lists the paths of the arguments that are not known before the apply. The parts of a path are separated by
	// dots.
	unknown []string
	// config changes the arguments before each plan, such as from a data source. It may be nil.
	config func(s *protocol.Session)
	// between is called between the plan and the apply, for changes by people. It may be nil.
	between func()
	failed  bool     // the last plan or apply failed
	killed  bool     // the next apply is killed before it saves the state
	reports bool     // clusters report
	verdict string   // the state that the clusters report
	rules   args     // of a promotion
	commits []string // of the control plane
	made    int      // the number of names and values so far, so that each is new
}

// soakTime is the time by which a story advances the clock, so that soaks can end.
const soakTime = time.Hour

// start is the time at the beginning of each story.
var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func (w *world) chance(percent int) bool { return w.IntN(100) < percent }

func pick[T any](w *world, all ...T) T { return all[w.IntN(len(all))] }

// name returns a name that the story has not used yet.
func (w *world) name(prefix string) string {
	w.made++
	return fmt.Sprintf("%s%d", prefix, w.made)
}

// did adds a change of a step to the trace.
func (w *world) did(format string, a ...any) { w.trace.line("- "+format, a...) }

// session starts a provider, as each command of Terraform does.
func (w *world) session() *protocol.Session {
	w.t.Helper()
	config := args{"commit_author": args{"name": "Platform", "email": "platform@acme.io"}}
	if w.on != nil {
		config["github"] = args{"base_url": w.fake.URL, "token": w.fake.Token}
	}
	s, ds := w.schemas.Start(w.t, w.provider, config)
	if ds.HasErrors() {
		w.t.Fatalf("configure the provider: %s", ds)
	}
	return s
}

// step runs a refresh, a plan, and mostly an apply.
func (w *world) step() {
	w.t.Helper()
	w.now = w.now.Add(time.Minute)
	ctx := w.t.Context()
	s := w.session()
	if !w.chance(8) {
		w.note("refresh", s.Refresh(ctx, &w.resource))
	}
	if w.config != nil {
		w.config(s)
	}
	var log bytes.Buffer
	plan, ds := s.Plan(tflogtest.RootLogger(ctx, &log), &w.resource, w.planned())
	w.logged(&log)
	w.note("plan", ds)
	if plan == nil {
		w.trace.state("state", w.resource.State)
		return
	}
	w.trace.plan(plan, w.resource.State)
	switch {
	case !plan.Changes():
		return
	case w.between != nil:
		w.between()
	case w.chance(10):
		return
	}
	w.apply(ctx, plan)
	w.unknown, w.between = nil, nil
}

// logged adds what a plan logged at INFO to the reasons: why the apply writes, or why not.
func (w *world) logged(log io.Reader) {
	w.t.Helper()
	entries, err := tflogtest.MultilineJSONDecode(log)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, entry := range entries {
		message := fmt.Sprint(entry["@message"])
		if entry["@level"] == "info" && strings.Contains(message, ": ") { // progress has no colon
			w.trace.reason("%s", message)
		}
	}
}

// apply applies a plan with another provider than the plan's, as Terraform does.
func (w *world) apply(ctx context.Context, plan *protocol.Plan) {
	w.t.Helper()
	config := w.given()
	if plan.Planned.IsNull() {
		config = nil
	}
	after, ds := w.session().Apply(ctx, plan, config)
	w.note("apply", ds)
	if after == nil {
		return
	}
	if w.killed {
		w.did("the apply is killed before it saves the state")
		w.killed = false
		return
	}
	w.resource = *after
	w.trace.state("state", w.resource.State)
}

// note adds the diagnostics of an operation to the trace.
func (w *world) note(operation string, ds protocol.Diagnostics) {
	w.failed = w.failed || ds.HasErrors()
	if len(ds) > 0 {
		w.trace.line("%s:\n%s", operation, ds)
	}
}

// planned returns the arguments of the plan, of which some are unknown.
func (w *world) planned() args {
	planned := w.given()
	if planned == nil {
		return nil
	}
	for _, path := range w.unknown {
		planned = hide(planned, strings.Split(path, "."))
	}
	return planned
}

// hide returns an object in which the part at a path is unknown, if the object that contains it exists.
func hide(object args, path []string) args {
	next := maps.Clone(object)
	part, isObject := next[path[0]].(args)
	switch {
	case len(path) == 1:
		next[path[0]] = protocol.Unknown
	case isObject:
		next[path[0]] = hide(part, path[1:])
	}
	return next
}

// attribute returns an attribute of the state as a string, or "" if the state has no such text.
func (w *world) attribute(name string) string {
	var all map[string]tftypes.Value
	var text string
	if !w.resource.Exists() || w.resource.State.As(&all) != nil || all[name].IsNull() || !all[name].IsKnown() ||
		all[name].As(&text) != nil {
		return ""
	}
	return text
}

// template returns a bare repo with two branches. Stories copy it, because git init would start a process for each
// story.
func template(t *testing.T) string {
	t.Helper()
	repo := gitserver.InitBare(t)
	gitserver.Seed(t, repo, "dev", map[string]string{"README.md": "hello\n", "apps/a.yaml": "a: 1\n"})
	gitserver.Git(t, repo, "branch", "live", "dev")
	return repo
}

func copyRepo(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// onGit gives the world a repo, and another repo to move to.
func (w *world) onGit(template string) {
	folder := fmt.Sprint(w.seed)
	w.repo, w.other = filepath.Join(w.git.Root, folder, "gitops.git"), filepath.Join(w.git.Root, folder, "other.git")
	copyRepo(w.t, template, w.repo)
	copyRepo(w.t, template, w.other)
	w.url, w.otherURL = w.git.URL+"/"+folder+"/gitops.git", w.git.URL+"/"+folder+"/other.git"
	w.trace.replace(w.git.URL, "https://git.test", strings.TrimPrefix(w.git.URL, "http://"), "git.test")
}

// head returns the commit of a destination's branch, or "" if the branch does not exist.
func (w *world) head(at args) string {
	repo := w.repo
	if at["repo"] != w.url {
		repo = w.other
	}
	branch, _ := at["branch"].(string)
	return gitserver.Branch(repo, branch)
}
