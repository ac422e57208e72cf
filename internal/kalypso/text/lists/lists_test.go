package lists_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/lists"
)

func TestMap(t *testing.T) {
	t.Parallel()
	if d := cmp.Diff([]string{"3", "1"}, lists.Map([]int{3, 1}, strconv.Itoa)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{}, lists.Map(nil, strconv.Itoa)); d != "" {
		t.Errorf("an empty list (-want +got):\n%s", d)
	}
}
