package pullrequest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/giteaserver"
)

// merges returns the methods of the requests that schedule or cancel a merge. The same method in a row is returned
// once, since a request is repeated while Gitea checks the pull request.
func merges(on *giteaserver.Repo, since int) (methods []string) {
	for _, r := range on.Requests()[since:] {
		if strings.HasSuffix(r.Path, "/merge") {
			methods = append(methods, r.Method)
		}
	}
	return slices.Compact(methods)
}

// TestHiddenMethod: Gitea does not show the merge method of auto-merge. So the method in the state is compared with the
// settings.
func TestHiddenMethod(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, hosts.Host{New: hosts.Gitea})
	w.people.Require("main", "ci")
	on, _ := w.on.Server.(*giteaserver.Repo)
	const schedule, cancel = http.MethodPost, http.MethodDelete
	for _, step := range []struct {
		name   string
		before func()
		method githost.MergeMethod
		want   []string
	}{
		{"first apply", nil, githost.Squash, []string{schedule}},
		{"same method", nil, githost.Squash, nil},
		{"people disabled auto-merge", func() { on.CancelMerge(t, 1) }, githost.Squash, []string{schedule}},
		{"another method", nil, githost.Merge, []string{cancel, schedule}},
		{"lost state", w.loseState, githost.Merge, []string{cancel, schedule}},
		{"auto-merge no longer configured", nil, "", []string{cancel}},
		{"people enabled auto-merge", func() { w.people.AutoMerge(t, 1, "merge") }, "", nil},
		{"auto-merge configured, enabled by people", nil, githost.Squash, []string{cancel, schedule}},
		{"pull request that is withheld, and then not any more", func() {
			at := len(on.Requests())
			if _, err := w.topic().Withhold(w.ctx, w.known, "Wait."); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{cancel}, merges(on, at)); diff != "" {
				t.Errorf("withheld (-want +got):\n%s", diff)
			}
		}, githost.Squash, []string{schedule}},
	} {
		if step.before != nil {
			step.before()
		}
		at := len(on.Requests())
		w.settings.AutoMerge = step.method
		w.propose(step.name)
		if diff := cmp.Diff(step.want, merges(on, at)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}
