package rendering_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/acc"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// A null element is an error at its path, in arguments of each type.
func TestNullElements(t *testing.T) {
	t.Parallel()
	given := fleetArguments(gitserver.InitBare(t), "one")
	given["delivery"] = map[string]any{"labels": []any{nil}, "reviewers": []any{nil}}
	given["commit_trailers"] = map[string]any{"Ticket": nil}
	given["sources"] = map[string]any{"repo": nil}
	given["verified"] = map[string]any{"commit": nil}
	p := acc.NewRenderingRun(t)
	applied, ds := p.TryRun(given)
	if applied {
		t.Error("the arguments were applied")
	}
	var found []string
	for _, d := range ds {
		if _, at, _ := strings.Cut(d.Detail, "Attribute: "); d.Summary == "Null element" {
			found = append(found, at)
		}
	}
	slices.Sort(found)
	want := []string{`commit_trailers["Ticket"]`, "delivery.labels[0]", "delivery.reviewers[0]", `sources["repo"]`,
		`verified["commit"]`}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, ds)
	}
}
