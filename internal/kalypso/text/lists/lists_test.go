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

func TestPairs(t *testing.T) {
	t.Parallel()
	var got []string
	for a, b := range lists.Pairs([]string{"a", "c", "d"}, []string{"b", "c"}, func(s *string) string { return *s }) {
		text := func(s *string) string {
			if s == nil {
				return "-"
			}
			return *s
		}
		got = append(got, text(a)+text(b))
	}
	if d := cmp.Diff([]string{"a-", "-b", "cc", "d-"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	var got [][]int
	for run := range lists.Runs([]int{1, 3, 2, 4, 5}, func(n int) int { return n % 2 }) {
		got = append(got, run)
	}
	if d := cmp.Diff([][]int{{1, 3}, {2, 4}, {5}}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
