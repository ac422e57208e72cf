package owners_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/pullrequest/owners"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// TestReviewersOfChange: an owner is asked for a review if one of the owner's folders changes.
func TestReviewersOfChange(t *testing.T) {
	changes := []inventory.ClusterType{
		{Name: "large", Added: []string{"b"}, Changed: []string{"a"}, Unchanged: []string{"c"}},
		{Name: "small", Removed: []string{"a"}},
		{Name: "same", Unchanged: []string{"a"}},
	}
	workspace := func(target string) string { return map[string]string{"a": "kaizen", "b": "payments"}[target] }
	everyone := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprint("user", i))
		}
		return names
	}
	for name, tt := range map[string]struct {
		owner     owners.Owner
		reviewers []string // reviewers of all changes
		folders   string   // changed folders of the owner
		asked     []string
		tooMany   int
	}{
		"owner of a workspace": {owners.Owner{Workspace: "kaizen", Reviewers: []string{"ann"}}, []string{"bob"},
			"large/a small/a", []string{"bob", "ann"}, 0},
		"owner of a cluster type": {owners.Owner{ClusterTypes: []string{"large"}, Reviewers: []string{"ann"}}, nil,
			"large/a large/b", []string{"ann"}, 0},
		"owner of two cluster types": {owners.Owner{ClusterTypes: []string{"small", "large"}, Reviewers: []string{"ann"}},
			nil,
			"large/a large/b small/a", []string{"ann"}, 0},
		"owner of a workspace on a cluster type": {
			owners.Owner{Workspace: "kaizen", ClusterTypes: []string{"small"}, Reviewers: []string{"ann"}}, nil,
			"small/a", []string{"ann"}, 0},
		"workspace without targets on the cluster type": {
			owners.Owner{Workspace: "payments", ClusterTypes: []string{"small"}, Reviewers: []string{"ann"}},
			[]string{"bob"}, "", []string{"bob"}, 0},
		"workspace without targets": {owners.Owner{Workspace: "other", Reviewers: []string{"ann"}}, nil, "", nil, 0},
		"unchanged cluster type": {owners.Owner{ClusterTypes: []string{"same"}, Reviewers: []string{"ann"}}, nil,
			"", nil, 0},
		"owner who reviews all changes": {owners.Owner{ClusterTypes: []string{"small"}, Reviewers: []string{"Bob", "ann"}},
			[]string{"bob"}, "small/a", []string{"bob", "ann"}, 0},
		"15 different reviewers": {owners.Owner{Workspace: "payments", Reviewers: append(everyone(14), "User3")},
			everyone(15),
			"large/b", everyone(15), 0},
		"more than 15 reviewers": {owners.Owner{Workspace: "payments", Reviewers: []string{"ann"}}, everyone(15), "large/b",
			everyone(15), 16},
	} {
		t.Run(name, func(t *testing.T) {
			reached := owners.Owners{tt.owner}.Reached(changes, workspace)
			var folders string
			for _, o := range reached {
				folders += strings.Join(o.Folders, " ")
			}
			if folders != tt.folders {
				t.Errorf("the owner's folders are %q, want %q", folders, tt.folders)
			}
			asked, tooMany := owners.Asked(tt.reviewers, reached)
			if diff := cmp.Diff(tt.asked, asked); diff != "" || tooMany != tt.tooMany {
				t.Errorf("too many: %d, want %d; asked (-want +got):\n%s", tooMany, tt.tooMany, diff)
			}
		})
	}
}

// TestInput: an invalid owner is an error, and an owner of no folder is a warning.
func TestInput(t *testing.T) {
	f := &fleet.Fleet{
		Environment:   "dev",
		ClusterTypes:  []*fleet.ClusterType{{Meta: fleet.Meta{Name: "large"}}},
		Registrations: []*fleet.WorkloadRegistration{{Meta: fleet.Meta{Name: "app"}, Workspace: "kaizen"}},
	}
	ann := []string{"ann"}
	for name, tt := range map[string]struct {
		owners owners.Owners
		want   []string
	}{
		"valid owners": {owners.Owners{{Workspace: "kaizen", Reviewers: ann}, {ClusterTypes: []string{"large"},
			Reviewers: ann},
			{Workspace: "kaizen", ClusterTypes: []string{"large"}, Reviewers: ann}}, nil},
		"no workspace and no cluster types": {owners.Owners{{Reviewers: ann}},
			[]string{"delivery.owners[0]: Owner without folders"}},
		"no reviewers": {owners.Owners{{Workspace: "kaizen"}},
			[]string{"delivery.owners[0].reviewers: Owner without reviewers"}},
		"invalid reviewer": {owners.Owners{{Workspace: "kaizen", Reviewers: []string{"a b"}}},
			[]string{"delivery.owners[0].reviewers: Invalid reviewer"}},
		"same owner twice": {owners.Owners{{ClusterTypes: []string{"large", "small"}, Reviewers: ann},
			{ClusterTypes: []string{"small", "large"}, Reviewers: []string{"bob"}}},
			[]string{"delivery.owners[1]: Owner given twice", "delivery.owners[0].cluster_types: Owner of no folder",
				"delivery.owners[1].cluster_types: Owner of no folder"}},
		"workspace that does not exist": {owners.Owners{{Workspace: "kaizn", Reviewers: ann}},
			[]string{"delivery.owners[0].workspace: Owner of no folder"}},
		"unknown values": {owners.Owners{{Workspace: unknown.Text, Reviewers: []string{unknown.Text}},
			{Workspace: unknown.Text, ClusterTypes: []string{unknown.Text}, Reviewers: ann}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range append(tt.owners.Validate(), tt.owners.Check(f)...) {
				at := "delivery.owners"
				for _, step := range p.Path[2:] {
					if i, ok := step.(problem.Index); ok {
						at += fmt.Sprintf("[%d]", i)
					} else {
						at += fmt.Sprintf(".%s", step)
					}
				}
				got = append(got, at+": "+p.Summary)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
