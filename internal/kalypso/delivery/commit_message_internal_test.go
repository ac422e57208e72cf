package delivery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
)

// TestListInMessage: a commit message lists the changed cluster types, and counts those that it leaves out.
func TestListInMessage(t *testing.T) {
	for changed, want := range map[int]string{
		20: "c20: +1 -0 ~0", 21: "and 1 more cluster type", 22: "and 2 more cluster types",
	} {
		t.Run(fmt.Sprint(changed), func(t *testing.T) {
			s := usualSituation()
			entries := ""
			for i := range changed {
				entries += fmt.Sprintf("c%02d/a=1 ", i+1)
			}
			s.desired.Tree, s.branch = rendered(entries), &past.Branch{Head: "head"}
			change, err := PlanChange(s.applied(), nil, s.branch, nil)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(change.CommitMessage()), "\n")
			if got := lines[len(lines)-1]; got != want {
				t.Errorf("the last line is %q, want %q", got, want)
			}
		})
	}
}
