package promotion

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/fleet"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/hosting"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/status"
)

// Check reports errors in the rules themselves. [fleet.Unknown] stands for a text that is not known yet.
func (r Rules) Check() (ps fleet.Problems) {
	report := func(summary, detail string, path ...fleet.Step) {
		ps = append(ps, fleet.Problem{Summary: summary, Detail: detail, Path: path})
	}
	after, own := fleet.Attr("after"), ContextOf(r.Environment)
	for _, g := range r.After {
		at := []fleet.Step{after, fleet.Key(g.Name)}
		switch {
		case fleet.IsUnknown(g.Name) || fleet.IsUnknown(r.Environment):
		case g.Name == r.Environment:
			report("Environment after itself",
				fmt.Sprintf("Environment %q can't come after itself. Name the environment before it.", g.Name), at...)
		case g.Deployed == nil && strings.EqualFold(g.Context, own):
			report("Environment after itself",
				fmt.Sprintf("The context %q is the one of environment %q itself. Name that of the environment before it.",
					g.Context, r.Environment), append(at, fleet.Attr("context"))...)
		}
		if len([]rune(g.Context)) > status.MaxContext {
			report("Invalid context", fmt.Sprintf("A context has at most %d characters.", status.MaxContext),
				append(at, fleet.Attr("context"))...)
		}
	}
	for i, name := range r.Statuses {
		if name == "" {
			report("Invalid status", "The name of a status is empty.", fleet.Attr("statuses"), fleet.Index(i))
		}
	}
	commit := func(hash string, path ...fleet.Step) {
		if fleet.IsUnknown(hash) {
			return
		}
		if err := hosting.CheckCommit(hash); err != nil {
			report("Invalid commit", fmt.Sprintf("%q: %s", hash, fleet.Sentence(err)), path...)
		}
	}
	if r.Pinned != "" {
		commit(r.Pinned, fleet.Attr("pinned_commit"))
	}
	for i, hash := range r.Approved {
		commit(hash, fleet.Attr("approved"), fleet.Index(i))
	}
	for _, hash := range slices.Sorted(maps.Keys(r.Rejected)) {
		at := []fleet.Step{fleet.Attr("rejected"), fleet.Key(hash)}
		commit(hash, at...)
		if r.Rejected[hash] != "" {
			commit(r.Rejected[hash], at...)
		}
	}
	return ps
}
