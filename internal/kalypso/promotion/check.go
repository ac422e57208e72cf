package promotion

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/githost"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/promotion/status"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/unknown"
)

// Check reports errors in the rules themselves. [unknown.Text] stands for a text that is not known yet.
func (r Rules) Check() (ps problem.Problems) {
	report := func(summary, detail string, path ...problem.Step) {
		ps = append(ps, problem.Problem{Summary: summary, Detail: detail, Path: path})
	}
	after, own := problem.Attr("after"), ContextOf(r.Environment)
	for _, g := range r.Gates {
		at := []problem.Step{after, problem.Key(g.Name)}
		switch {
		case unknown.Is(g.Name) || unknown.Is(r.Environment):
		case g.Name == r.Environment:
			report("Environment is its own predecessor",
				fmt.Sprintf("Environment %q can't come after itself. Name the environment before it.", g.Name), at...)
		case g.Deployed == nil && strings.EqualFold(g.Context, own):
			report("Environment is its own predecessor",
				fmt.Sprintf("The context %q belongs to environment %q itself. Name the context of the environment before it.",
					g.Context, r.Environment), append(at, problem.Attr("context"))...)
		}
		if len([]rune(g.Context)) > status.MaxContext {
			report("Invalid context", fmt.Sprintf("A context has at most %d characters.", status.MaxContext),
				append(at, problem.Attr("context"))...)
		}
	}
	commit := func(hash string, path ...problem.Step) {
		if unknown.Is(hash) {
			return
		}
		if err := githost.CheckCommit(hash); err != nil {
			report("Invalid commit", fmt.Sprintf("%q: %s", hash, problem.Sentence(err)), path...)
		}
	}
	if r.Pinned != "" {
		commit(r.Pinned, problem.Attr("pinned_commit"))
	}
	for i, hash := range r.Approved {
		commit(hash, problem.Attr("approved"), problem.Index(i))
	}
	for _, hash := range slices.Sorted(maps.Keys(r.Rejected)) {
		at := []problem.Step{problem.Attr("rejected"), problem.Key(hash)}
		commit(hash, at...)
		if r.Rejected[hash] != "" {
			commit(r.Rejected[hash], at...)
		}
	}
	return ps
}
