package delivery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/destination"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/inventory"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// TestSummary: a summary has a line for each cluster type. Lines of cluster types that do not change are the same as in
// the last summary.
func TestSummary(t *testing.T) {
	const changed = "large/a=1 large/b=2 large/d=1 small/c=1"
	// line replaces HASH in a text by the hash that the cluster type's folder has in a tree.
	line := func(text, clusterType, entries string) string {
		return strings.Replace(text, "HASH", existing(entries)[clusterType].Hash.String()[:12], 1)
	}
	large := func(text, entries string) string { return line(text, "large", entries) }
	small := func(text string) string { return line(text, "small", delivered) }
	usual := map[string]string{
		"large": large("+2 -0 ~0, 2 targets, tree HASH", delivered), "small": small("+1 -0 ~0, 1 target, tree HASH"),
	}
	imported := existing(delivered).Summary(nil, nil)
	render := func(entries string) func(*situation) {
		return func(s *situation) { s.desired.Tree = rendered(entries) }
	}
	for name, tt := range map[string]struct {
		with []func(*situation)
		last map[string]string
		want map[string]string
	}{
		"no change": {last: usual, want: usual},
		"change of one cluster type": {with: []func(*situation){render(changed)}, last: usual, want: map[string]string{
			"large": large("+1 -0 ~1, 3 targets, tree HASH", changed), "small": usual["small"],
		}},
		"change with the same numbers as the last one": {
			with: []func(*situation){render("large/a=2 large/b=1 small/c=1")},
			last: map[string]string{"large": large("+0 -0 ~1, 2 targets, tree HASH", delivered), "small": usual["small"]},
			want: map[string]string{
				"large": large("+0 -0 ~1, 2 targets, tree HASH", "large/a=2 large/b=1"), "small": usual["small"],
			},
		},
		"removed and new cluster type": {
			with: []func(*situation){render("large/a=1 large/b=1 tiny/c=1")}, last: usual,
			want: map[string]string{
				"large": usual["large"], "tiny": line("+1 -0 ~0, 1 target, tree HASH", "tiny", "tiny/c=1"),
			},
		},
		"create": {with: []func(*situation){func(s *situation) { s.prior, s.state = nil, nil }}, want: imported},
		"strategy none": {
			with: []func(*situation){render(changed), func(s *situation) {
				s.desired.Strategy, s.desired.Destination = destination.None, destination.Destination{}
				s.state.LastRead = Branch{}
			}},
			last: usual,
			want: map[string]string{"large": large("+1 -0 ~1, 3 targets, tree HASH", changed), "small": usual["small"]},
		},
		"first summary": {with: []func(*situation){render(changed)}, want: map[string]string{
			"large": large("+1 -0 ~1, 3 targets, tree HASH", changed), "small": small("1 target, tree HASH"),
		}},
		"after an import": {
			with: []func(*situation){render(changed)}, last: imported,
			want: map[string]string{
				"large": large("+1 -0 ~1, 3 targets, tree HASH", changed), "small": small("1 target, tree HASH"),
			},
		},
		"private state of another version": {
			with: []func(*situation){render(changed), func(s *situation) { s.state = nil }}, last: usual,
			want: map[string]string{"large": large("3 targets, tree HASH", changed), "small": usual["small"]},
		},
		"state that was recovered from a branch with foreign changes": {
			with: []func(*situation){render(changed), func(s *situation) {
				s.state.Delivered = inventory.Folders{"large": {}, "small": {}}
			}},
			last: usual, want: map[string]string{"large": large("3 targets, tree HASH", changed), "small": usual["small"]},
		},
		"unknown values": {
			with: []func(*situation){render(changed), func(s *situation) {
				s.desired.Tree.Folders[0].Unknown, s.desired.Tree.Unknown = true, true
			}},
			last: usual, want: map[string]string{"large": unknown.Text, "small": usual["small"]},
		},
		"unknown targets": {
			with: []func(*situation){func(s *situation) {
				s.desired.Tree.Folders[0].Undecided, s.desired.Tree.Unknown = true, true
			}},
			last: usual, want: map[string]string{"large": unknown.Text, "small": usual["small"]},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := usualSituation()
			for _, change := range tt.with {
				change(s)
			}
			decision := s.decide(t)
			if diff := cmp.Diff(tt.want, decision.All().Summary(decision.All().Next, tt.last)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if diff := cmp.Diff(map[string]string{
		"large": large("2 targets, tree HASH", delivered), "small": small("1 target, tree HASH"),
	}, imported); diff != "" {
		t.Errorf("import (-want +got):\n%s", diff)
	}
	if got := fmt.Sprint(existing(delivered).Summary(nil, usual)); got != fmt.Sprint(usual) {
		t.Errorf("a refresh of the same tree changes the summary to %s", got)
	}
}
