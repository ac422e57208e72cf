package remote_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/record"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/remote"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/git/gitbranch"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/run/slow"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/testing/servers/gitserver"
)

// TestImportOfDeliveries imports a rendering after several deliveries, with foreign commits between them. The imported
// state contains the same deliveries as the state of the applies, so that a revert to one of them is recognized. A
// commit with a record of another environment or with an invalid record is not a delivery.
func TestImportOfDeliveries(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	file := func(text string) map[string]gitserver.File {
		return map[string]gitserver.File{record.File: {Mode: "100644", Content: text}}
	}
	gitserver.SeedFiles(t, b.repo, "dev", "Another environment", file(`{"version": 1, "environment": "qa"}`))
	gitserver.SeedFiles(t, b.repo, "dev", "Removed", map[string]gitserver.File{".kalypso": {}})
	var s *delivery.State
	var heads []string
	for n := range 4 {
		targets := map[string][]string{"large": {"a"}, fmt.Sprint("small-", n): {"b"}}
		o := b.request(fmt.Sprint(n), targets, s)
		o.Adopt, o.Guardrails = true, delivery.Guardrails{MaxRemoved: "100%"}
		o.Promotion.Commit = fmt.Sprint("v", n)
		s = b.deliver(o, 1)
		heads = append(heads, gitserver.Rev(t, b.repo, "dev"))
		gitserver.Seed(t, b.repo, "dev", map[string]string{"apps/x": fmt.Sprint(n)})
		if n == 1 {
			good := strings.TrimSpace(gitserver.Git(t, b.repo, "show", "dev:"+record.File))
			gitserver.SeedFiles(t, b.repo, "dev", "Broken", file("{"))
			gitserver.SeedFiles(t, b.repo, "dev", "Restored", file(good+"\n"))
		}
	}
	imported, err := remote.Import(t.Context(), b.client, s.Destination, "dev")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.EarlierDeliveries, imported.EarlierDeliveries); diff != "" || len(s.EarlierDeliveries) != 3 {
		t.Errorf("earlier deliveries (-after the applies +imported):\n%s", diff)
	}
	for n, head := range heads[:3] {
		gitserver.Git(t, b.repo, "update-ref", "refs/heads/dev", head)
		if now := b.observe(imported); !now.Reverted() {
			t.Errorf("a revert to delivery %d is not recognized", n)
		}
	}
	gitserver.SeedFiles(t, b.repo, "dev", "Mine", map[string]gitserver.File{"large/x": {Mode: "100644", Content: "x"}})
	if b.observe(imported).Reverted() {
		t.Error("a tree of people counts as a delivery")
	}
}

// TestImportOfManyDeliveries: an import reads only the last MaxHistory commits of the branch.
func TestImportOfManyDeliveries(t *testing.T) {
	t.Parallel()
	slow.Skip(t)
	b := newBranch(t)
	var s *delivery.State
	for n := range gitbranch.MaxHistory + 5 {
		o := b.request("1", usual, s)
		o.Promotion.Commit = fmt.Sprint("v", n)
		s = b.deliver(o, 1)
	}
	imported, err := remote.Import(t.Context(), b.client, s.Destination, "dev")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.EarlierDeliveries[:gitbranch.MaxHistory-1], imported.EarlierDeliveries); diff != "" {
		t.Errorf("earlier deliveries (-after the applies +imported):\n%s", diff)
	}
}
