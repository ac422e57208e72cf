package remote_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/history/historylookup"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestChangedObjects: the message of a commit and the history of the branch name the objects that changed. For a commit
// of people, the history names none.
func TestChangedObjects(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	workload := func(name, path, otherPath string) *fleet.Workload {
		return &fleet.Workload{Meta: fleet.Meta{Name: name}, Targets: []fleet.Target{
			{Name: "x", Environment: "dev", Manifests: map[string]string{"path": path}},
			{Name: "y", Environment: "prod", Manifests: map[string]string{"path": otherPath}},
		}}
	}
	first := b.described("1", 1, nil)
	first.Fleet.Environment = "dev"
	first.Fleet.Templates = []*fleet.Template{{Meta: fleet.Meta{Name: "flux"}, Manifests: []string{"a"}}}
	first.Fleet.Workloads = []*fleet.Workload{workload("app-7", "a", "a"), workload("app-8", "a", "a")}
	s := b.deliver(first, 1)

	second := b.described("1", 1, reread(t, s))
	second.Fleet.Environment = "dev"
	second.Tree = build(t, "dev", "2", usual)
	second.Fleet.Configs[1].Data = map[string]string{"A": "changed\nReviewed-by: x", "B": "new"}
	for i := range 7 {
		second.Fleet.Configs[3].Data[fmt.Sprint("K", i)] = "new"
	}
	second.Fleet.Templates = []*fleet.Template{{Meta: fleet.Meta{Name: "flux"}, Manifests: []string{"b"}}}
	second.Fleet.Workloads = []*fleet.Workload{workload("app-7", "b", "a"), workload("app-8", "a", "b"),
		workload("app-9", "a", "a")}
	want := []string{"config large: A, B", "config stays: K0, K1, K2, K3, K4 and 2 more", "template flux",
		"workload app-7", "workload app-9 (new)"}
	s = b.deliver(second, 1)
	message := gitserver.Git(t, b.repo, "log", "-1", "--format=%B", "dev")
	if !strings.Contains(message, "Render environment dev\n\n"+strings.Join(want, "\n")+"\n\nlarge: +0 -0 ~2\n") {
		t.Errorf("the message is\n%s", message)
	}

	// A host merges the commit, as it merges a pull request.
	merge := strings.TrimSpace(gitserver.Git(t, b.repo, "-c", "user.name=Host", "-c", "user.email=host@acme.io",
		"commit-tree", "dev^{tree}", "-p", "dev~1", "-p", "dev", "-m", "Merge pull request #1"))
	gitserver.Git(t, b.repo, "update-ref", "refs/heads/dev", merge)

	third := b.described("1", 1, reread(t, s))
	third.Tree = build(t, "dev", "3", usual)
	third.Fleet = &fleet.Fleet{Configs: third.Fleet.Configs}
	for i := range 30 {
		third.Fleet.Templates = append(third.Fleet.Templates, &fleet.Template{Meta: fleet.Meta{Name: fmt.Sprint("t", i)}})
	}
	b.deliver(third, 1)
	gitserver.Seed(t, b.repo, "dev", map[string]string{"large/a-x/reconciler.yaml": "by hand"})
	h, err := historylookup.Read(t.Context(), historylookup.Request{Client: b.client, GitOps: third.Destination,
		Since: time.Unix(0, 0), Until: time.Unix(1<<33, 0)})
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for _, d := range h.Deliveries {
		got = append(got, d.Changes)
	}
	if len(got) != 4 || len(got[1]) != 10 || got[1][9] != "and 33 more objects" {
		t.Fatalf("the changes in the history are %q", got)
	}
	got[1] = nil
	if diff := cmp.Diff([][]string{nil, nil, want, nil}, got); diff != "" {
		t.Errorf("changes in the history (-want +got):\n%s", diff)
	}
}
