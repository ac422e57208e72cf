package rendering_test

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitremote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/gitstore"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/githubfake"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/protocol"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// recordedRuns is a kalypso_deployment_record that records what clusters run of a killedRun.
type recordedRuns struct {
	record protocol.Resource
	store  *githubfake.Repo
	past   []history.Run // as last read
}

// records lets the run record what the clusters run, on a branch.
func (r *killedRun) records() {
	r.recordedRuns = &recordedRuns{record: protocol.Resource{Type: "kalypso_deployment_record"},
		store: r.fake.AddRepo(r.T, "acme/history")}
	r.points++ // see killRecord
}

// runRecord refreshes, plans and applies the record of what the clusters run: the head of the branch.
func (r *killedRun) runRecord(ctx context.Context) (changes bool, ds protocol.Diagnostics) {
	r.T.Helper()
	s := r.Start()
	given := map[string]any{
		"deployment": r.deployment(s, true), "store": map[string]any{
			"git": map[string]any{"repo": r.store.URL, "branch": "history"},
		},
	}
	if ds := s.Refresh(r.T.Context(), &r.record); ds.HasErrors() {
		return false, ds
	}
	plan, ds := s.Plan(r.T.Context(), &r.record, given)
	if plan == nil || !plan.Changes() {
		return false, ds
	}
	after, ds := r.Start().Apply(ctx, plan, given)
	if after != nil && !ds.HasErrors() {
		r.record = *after
	}
	return true, ds
}

// killRecord kills the next apply at the second push, which is the one of the record if the rendering changed. The
// server accepts the push, or never gets it.
func (r *killedRun) killRecord(kill func()) (point string) {
	served := r.IntN(2) == 0
	r.fake.Git.Fail(gitserver.Fault{
		Service: "git-receive-pack", Method: http.MethodPost, Skip: 1, Serve: served, BeforeAnswer: kill,
	})
	return fmt.Sprintf("at its second push, served: %t", served)
}

// expectRecorded changes something, and fails the test unless the current runs in the store are then those of the
// targets in the folders of the branch, no two runs of a target on a cluster are at one time, and each run that was
// read before is still there. A plan of a record contacts no store. So if an apply recorded B after A and was killed,
// and the clusters are at A again, the plan is empty, and the next change corrects the store.
func (r *killedRun) expectRecorded() {
	r.T.Helper()
	r.own++
	r.did("the environment's own value is %d", r.own)
	r.settle()
	client, err := gitremote.NewClient(nil)
	if err != nil {
		r.T.Fatal(err)
	}
	author := gitbranch.Author{Name: "K", Email: "k@acme.io"}
	store, err := gitstore.Open(client, "file://"+r.store.Path, "history", "", author)
	if err != nil {
		r.T.Fatal(err)
	}
	read, err := store.Read(r.T.Context(), history.Query{
		Environment: "dev", Until: time.Now().AddDate(1, 0, 0), Limit: 1 << 30,
	})
	if err != nil {
		r.fatalf("the record can't be read: %v", err)
	}
	var want, got []string
	for name := range gitserver.Tree(r.T, r.on.Path, "dev") {
		clusterType, below, ok := strings.Cut(name, "/")
		if target := path.Dir(below); ok && !strings.HasPrefix(name, ".") && target != "." {
			// The cluster type's own files are a target without a name.
			want = append(want, "of-"+clusterType+" "+clusterType+"/", "of-"+clusterType+" "+clusterType+"/"+target)
		}
	}
	ends, kept := map[string]time.Time{}, map[string]history.Run{}
	for _, run := range slices.Backward(read.Runs) { // oldest first
		instance := run.Cluster + " " + run.ClusterType + "/" + run.Target
		if end, met := ends[instance]; met && (end.IsZero() || end.After(run.Since)) {
			r.fatalf("%s has two runs at %s", instance, run.Since)
		}
		ends[instance], kept[instance+run.Since.String()] = run.Until, run
		if run.Until.IsZero() {
			got = append(got, instance)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		r.fatalf("the current runs (-on the branch +recorded):\n%s", diff)
	}
	for _, run := range r.past {
		now := kept[run.Cluster+" "+run.ClusterType+"/"+run.Target+run.Since.String()]
		if run.Until.IsZero() { // it may have ended
			now.Until = time.Time{}
		}
		if diff := cmp.Diff(run, now); diff != "" {
			r.fatalf("the past changed (-before +after):\n%s", diff)
		}
	}
	r.past = read.Runs
}
