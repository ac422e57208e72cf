package pullrequest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	githost "github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/host"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/hosts/gitea"
)

// giteaRepo has the operations that only repos on Gitea have.
type giteaRepo interface {
	CancelMerge(t testing.TB, number int)
	Requests(tokens ...string) []gitea.Request
}

// merges returns the methods of the requests that schedule and cancel merges. A request is repeated while Gitea checks
// the pull request.
func merges(on giteaRepo, since int) (methods []string) {
	for _, r := range on.Requests()[since:] {
		if strings.HasSuffix(r.Path, "/merge") {
			methods = append(methods, r.Method)
		}
	}
	return slices.Compact(methods)
}

// TestHiddenMethod: if the host does not show the method of auto-merge, the one in the state counts.
func TestHiddenMethod(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, hosts.Host{New: hosts.Gitea})
	w.people.Require(t, "main", "ci")
	on, _ := w.people.(giteaRepo)
	const schedule, cancel = http.MethodPost, http.MethodDelete
	for _, step := range []struct {
		name   string
		before func()
		method githost.MergeMethod
		want   []string
	}{
		{"enabled", nil, githost.Squash, []string{schedule}},
		{"as the state knows", nil, githost.Squash, nil},
		{"people disabled auto-merge", func() { on.CancelMerge(t, 1) }, githost.Squash, []string{schedule}},
		{"another method", nil, githost.Merge, []string{cancel, schedule}},
		{"without the state", w.loseState, githost.Merge, []string{cancel, schedule}},
		{"no more", nil, "", []string{cancel}},
		{"people enabled auto-merge", func() { w.people.AutoMerge(t, 1, "merge") }, "", nil},
		{"ours in place of theirs", nil, githost.Squash, []string{cancel, schedule}},
		{"the pull request must not be merged now", func() {
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
