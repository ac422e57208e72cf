package check_test

import (
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/check"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
)

type renaming struct{ was, now, workloads, want string }

// TestRenamedTargets: a target that is gone, and a similar new one on exactly the same cluster types, are a rename.
func TestRenamedTargets(t *testing.T) {
	t.Parallel()
	folders := func(text string) inventory.Folders {
		all := inventory.Folders{}
		for _, folder := range strings.Fields(text) {
			clusterType, names, _ := strings.Cut(folder, "/")
			var f inventory.Folder
			for name := range strings.SplitSeq(names, ",") {
				f.Targets = append(f.Targets, inventory.NewTarget(name, tree.Hash{1}, false))
			}
			all[clusterType] = f
		}
		return all
	}
	for name, tt := range map[string]renaming{
		"a workload": {
			"large/api-test,web-test", "large/api-test,site-test", "api/test site/test", "web-test is now site-test",
		},
		"a target": {"large/web-test", "large/web-uat", "web/uat", "web-test is now web-uat"},
		"on two cluster types": {
			"large/web-test small/web-test", "large/site-test small/site-test", "site/test", "dev-small-web-test",
		},
		"on other cluster types": {"large/web-test", "small/site-test", "site/test", ""},
		"a new workload":         {"large/web-test", "large/site-test,web-test", "site/test web/test", ""},
		"a removed workload":     {"large/site-test,web-test", "large/site-test", "site/test", ""},
		"one for another":        {"large/web-test", "large/mail-prod", "mail/prod", ""},
		"it is not clear which":  {"large/api-test,web-test", "large/site-test", "site/test", ""},
		"a move":                 {"large/web-test", "small/web-test", "web/test", ""},
		"nothing":                {"large/web-test", "large/web-test", "web/test", ""},
	} {
		f := &fleet.Fleet{Environment: "dev"}
		for _, workload := range strings.Fields(tt.workloads) {
			name, target, _ := strings.Cut(workload, "/")
			f.Workloads = append(f.Workloads, &fleet.Workload{
				Meta: fleet.Meta{Name: name}, Targets: []fleet.Target{{Name: target, Environment: "dev"}},
			})
		}
		ps := check.RenamedTargets(f, folders(tt.was), folders(tt.now))
		if (len(ps) > 0) != (tt.want != "") || ps.HasErrors() || len(ps) > 0 && !strings.Contains(ps[0].Detail, tt.want) {
			t.Errorf("%s: %v, want %q", name, ps, tt.want)
		}
	}
}
