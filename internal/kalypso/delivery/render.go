package delivery

import (
	"context"

	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/check"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/next"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/past"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/delivery/wish"
	"github.com/terraform-kalypso/terraform-provider-kalypso/internal/kalypso/text/problem"
)

// Render renders the fleet. It reports the problems of the fleet, and what the guardrails forbid.
//
// p and s say what was delivered before, so that placement keeps its decisions. For a create, both are nil.
func Render(
	ctx context.Context, a *wish.Arguments, p *past.Prior, s *past.State, progress next.Progress,
) (*next.Rendered, problem.Problems) {
	r, ps := next.Render(ctx, a, p, s, progress)
	return r, append(ps, check.Tree(ctx, r)...)
}
