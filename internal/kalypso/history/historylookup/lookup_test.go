package historylookup_test

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/deployment/rollout"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/historylookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// repos is a server with the repos control-plane and gitops.
type repos struct {
	root   string
	server *gitserver.Server
}

func newRepos(t *testing.T, options ...gitserver.Option) *repos {
	t.Helper()
	r := &repos{root: t.TempDir()}
	for _, name := range []string{"control-plane", "gitops"} {
		gitserver.InitBareAt(t, filepath.Join(r.root, name))
	}
	r.server = gitserver.New(t, r.root, options...)
	return r
}

// file is a file that a commit writes, or removes if content is empty.
type file struct{ path, content string }

// write adds commits to a branch, one each minute, and returns their hashes.
func (r *repos) write(t *testing.T, repo, branch string, commits ...[]file) []string {
	t.Helper()
	var in bytes.Buffer
	for i, files := range commits {
		at := start.Add(time.Duration(i) * time.Minute).Unix()
		fmt.Fprintf(&in, "commit refs/heads/%s\nmark :%d\nauthor Ann <ann@acme.io> 0 +0000\n"+
			"committer Bot <bot@acme.io> %d +0000\ndata 9\nchange %2d\n", branch, i+1, at, i%100)
		for _, f := range files {
			if f.content == "" {
				fmt.Fprintf(&in, "D %s\n", f.path)
			} else {
				fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", f.path, len(f.content), f.content)
			}
		}
	}
	cmd := exec.Command("git", "fast-import", "--quiet", "--force")
	cmd.Dir, cmd.Env, cmd.Stdin = filepath.Join(r.root, repo), gitserver.Env(), &in
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.Fields(gitserver.Git(t, filepath.Join(r.root, repo), "rev-list", "--reverse", "--first-parent", branch))
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// recordAt returns the record of a rendering with the folder large at a path.
func recordAt(at, promoted string, change func(r *record.Record)) file {
	r := record.New("prod", []string{"large"}, promoted, nil, nil)
	if change != nil {
		change(&r)
	}
	return file{at + record.File, string(r.Marshal())}
}

func (r *repos) request(path string) historylookup.Request {
	req := historylookup.Request{GitOps: destination.New(r.server.URL+"/gitops", "prod", path), Since: start,
		Until: start.Add(240 * time.Hour)}
	req.Client, _ = gitremote.NewClient(nil)
	req.ControlPlane.Repo, req.ControlPlane.Branch = r.server.URL+"/control-plane", "main"
	return req
}

// Read gets the history from Git: it reads the record at the path, the folders that the record lists, times and
// authors. A commit whose record can't be parsed is a part of the delivery of the next commit.
func TestRead(t *testing.T) {
	for _, options := range [][]gitserver.Option{nil, {gitserver.WithFilter()}} {
		r := newRepos(t, options...)
		promoted := r.write(t, "control-plane", "main", []file{{"a", "1"}}, []file{{"a", "2"}}, []file{{"a", "3"}})
		waves := func(complete bool) func(*record.Record) {
			return func(r *record.Record) { r.Rollout = &rollout.Progress{TargetTreeHash: "t", Complete: complete} }
		}
		r.write(t, "gitops", "prod",
			[]file{{"README", "x"}},
			[]file{{"c/large/x", "1"}, recordAt("c/", promoted[0], nil)},
			[]file{{"c/large/x", "2"}, {"c/" + record.File, "{"}},
			[]file{{"c/large/x", "3"}, recordAt("c/", promoted[0], waves(false))},
			[]file{{"c/others/x", "1"}, {"large/x", "1"}},
			[]file{{"c/large/x", "4"}, recordAt("c/", promoted[2], waves(true))},
		)
		h, err := historylookup.Read(t.Context(), r.request("c"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range h.Deliveries {
			got = append(got, fmt.Sprintf("%s %s to %s by %s: %v %d %s", d.Kind, d.StartedAt.Format("15:04"),
				d.DeliveredAt.Format("15:04"), d.Author, d.Folders, *d.Commits, d.Reason))
		}
		want := []string{
			"promotion 00:03 to 00:05 by Ann <ann@acme.io>: [large] 2 change  5",
			"first 00:01 to 00:01 by Ann <ann@acme.io>: [large] 0 change  1",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if h.Environment != "prod" || !h.Complete {
			t.Errorf("environment %q, complete %t", h.Environment, h.Complete)
		}
	}
}

// If a newer version of the provider wrote the record at the head, the newest deliveries are unknown, which is an
// error. In an older commit, such a record is treated as any record that can't be parsed.
func TestNewerRecord(t *testing.T) {
	r := newRepos(t)
	promoted := r.write(t, "control-plane", "main", []file{{"a", "1"}})
	ours := []file{{"large/x", "1"}, recordAt("", promoted[0], nil)}
	newer := []file{{"large/x", "2"}, {record.File, `{"version": 99, "environment": {}}`}}
	r.write(t, "gitops", "prod", ours, newer)
	if _, err := historylookup.Read(t.Context(), r.request(".")); !errors.Is(err, record.ErrNewer) {
		t.Errorf("the error is %v", err)
	}
	r.write(t, "gitops", "prod", ours, newer, ours)
	if h, err := historylookup.Read(t.Context(), r.request(".")); err != nil || len(h.Deliveries) != 1 {
		t.Errorf("the deliveries are %v (%v)", h.Deliveries, err)
	}
}

// A branch that does not exist has an empty history. If the control plane can't be read, that is a ControlPlaneError.
func TestMissingBranchAndControlPlane(t *testing.T) {
	r := newRepos(t)
	if h, err := historylookup.Read(t.Context(), r.request(".")); err != nil || len(h.Deliveries) != 0 || !h.Complete {
		t.Errorf("%+v, %v", h, err)
	}
	r.write(t, "gitops", "prod", []file{recordAt("", "", nil)})
	req := r.request(".")
	req.ControlPlane.Repo += "-gone"
	var controlPlane *historylookup.ControlPlaneError
	if _, err := historylookup.Read(t.Context(), req); !errors.As(err, &controlPlane) {
		t.Errorf("error %v", err)
	}
}

// Reading 2,000 deliveries takes at most 20 requests and 10 seconds.
func TestBounds(t *testing.T) {
	slow.Skip(t)
	for name, options := range map[string][]gitserver.Option{"filter": {gitserver.WithFilter()}, "no filter": nil} {
		r := newRepos(t, options...)
		var sources, changes [][]file
		for i := range 2000 {
			sources = append(sources, []file{{"a", fmt.Sprint(i)}})
		}
		promoted := r.write(t, "control-plane", "main", sources...)
		for i, commit := range promoted {
			changes = append(changes, []file{{"large/x", fmt.Sprint(i)}, recordAt("", commit, nil)})
		}
		r.write(t, "gitops", "prod", changes...)
		r.server.ResetLog()
		began := time.Now()
		h, err := historylookup.Read(t.Context(), r.request("."))
		took, requests := time.Since(began), len(r.server.Requests())
		if err != nil || h.Metrics.Deployments != 2000 {
			t.Fatalf("%s: %d deployments, %v", name, h.Metrics.Deployments, err)
		}
		t.Logf("%s: %d requests, %s", name, requests, took)
		if requests > 20 || took > 10*time.Second {
			t.Errorf("%s: %d requests in %s", name, requests, took)
		}
		if lead := h.Deliveries[0].LeadTimeSeconds; lead == nil || *lead != 0 {
			t.Errorf("%s: lead time %v", name, lead)
		}
	}
}
