package describe_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/describe"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/render/tree"
)

// TestListInMessage: a commit message lists the changed cluster types, and counts those that it leaves out.
func TestListInMessage(t *testing.T) {
	for changed, want := range map[int]string{
		20: "c20: +1 -0 ~0", 21: "and 1 more cluster type", 22: "and 2 more cluster types",
	} {
		t.Run(fmt.Sprint(changed), func(t *testing.T) {
			change := &delivery.Change{
				Comparison: delivery.Comparison{
					Next:   &delivery.NextTree{Args: &delivery.Arguments{Environment: "dev"}},
					Branch: &delivery.Branch{Head: "head"},
				},
				Wanted: inventory.Folders{},
			}
			for i := range changed {
				change.Wanted[fmt.Sprintf("c%02d", i+1)] = inventory.Folder{
					Hash: tree.Hash{1}, Known: inventory.Whole, Targets: []inventory.Target{{Name: "a", Hash: inventory.ShortHash{1}}},
				}
			}
			lines := strings.Split(strings.TrimSpace(describe.CommitMessage(change)), "\n")
			if got := lines[len(lines)-1]; got != want {
				t.Errorf("the last line is %q, want %q", got, want)
			}
		})
	}
}
